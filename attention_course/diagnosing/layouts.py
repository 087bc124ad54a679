"""Where batch, heads and tokens stand in a tensor: the ways that are tried."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor


class Layout(NamedTuple):
    """One way; `put` and `take` lead from `(batch, heads, n, d)` to it and back."""

    name: str
    put: Callable[[Tensor], Tensor]
    take: Callable[[Tensor], Tensor]
    batch: bool
    heads: bool

    @property
    def dim(self) -> int:
        """How many dimensions its tensors have."""
        return self.name.count(",") + 1


LAYOUTS = (
    Layout("(batch, heads, n, d)", lambda x: x, lambda x: x, True, True),
    Layout("(batch, n, d)", lambda x: x[:, 0], lambda x: x[:, None], True, False),
    Layout("(batch, n, heads, d)", lambda x: x.transpose(1, 2), lambda x: x.transpose(1, 2), True, True),
    Layout("(n, batch, d)", lambda x: x[:, 0].transpose(0, 1), lambda x: x.transpose(0, 1)[:, None], True, False),
    Layout("(n, d)", lambda x: x[0, 0], lambda x: x[None, None], False, False),
)
