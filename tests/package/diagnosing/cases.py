"""What the collected bugs are handed over in, and what many layers share, right and wrong ones."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn


@dataclass
class Case:
    """A bug: `make()` builds the callable, `finding` is what to say of it first, `report` where on GitHub it is told.

    `told` holds what nobody can tell from the callable alone, such as what a mask was meant to say.
    """

    name: str
    make: Callable[[], Callable]
    finding: str
    report: str
    told: dict


class Cases(list):
    """The bugs of a file. Each stands below what is said of it; of a class there is a layer of four heads."""

    def bug(self, name, finding, report, **told):
        """As `Case`; a decorator."""

        def collected(written):
            make = (lambda: written(32, 4)) if isinstance(written, type) else (lambda: written)
            self.append(Case(name, make, finding, report, told))
            return written

        return collected


class Heads(nn.Module):
    """Projections, splitting into heads and joining them."""

    def __init__(self, d_model=32, n_heads=4):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d_model, d_model) for _ in range(4))

    def split(self, query, key=None, value=None):
        """Queries, keys and values, `(batch, heads, n, d_head)`; of one sequence unless there are more."""
        key = query if key is None else key
        value = key if value is None else value
        parts = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        return tuple(part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in parts)

    def join(self, heads):
        return self.o_proj(heads.transpose(1, 2).flatten(2))


class FusedHeads(Heads):
    """One projection for queries, keys and values."""

    def __init__(self, d_model=32, n_heads=4):
        super().__init__(d_model, n_heads)
        del self.q_proj, self.k_proj, self.v_proj
        self.qkv_proj = nn.Linear(d_model, 3 * d_model)

    def split(self, x):
        return self.qkv_proj(x).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
