"""Watch an attention at work: the two products of queries with keys, and of weights with values."""

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = {"bmm", "mm", "baddbmm"}


class Watch(TorchDispatchMode):
    """Keep the products whose shapes say that they make scores, or blend values.

    Args:
        n_queries: How many queries are asked with; a number that nothing else in the call is.
        n_keys: How many keys are asked.
        change_blend: What to make of a blend before the attention goes on with it.

    Attributes:
        scores: Products `(..., n_queries, n_keys)` with their two factors, in order.
        blends: Products of weights `(..., n_queries, n_keys)` and values with their two factors.
    """

    def __init__(self, n_queries: int, n_keys: int, change_blend: Callable[[Tensor], Tensor] | None = None):
        super().__init__()
        self.n_queries, self.n_keys, self.change_blend = n_queries, n_keys, change_blend
        self.scores, self.blends = [], []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function.__name__.split(".")[0] not in PRODUCTS:
            return result
        left, right = args[-2:]
        if left.shape[-2:] == (self.n_queries, self.n_keys) and right.size(-2) == self.n_keys:
            self.blends.append((left.clone(), right.clone()))
            return result if self.change_blend is None else self.change_blend(result)
        if result.shape[-2:] == (self.n_queries, self.n_keys):
            self.scores.append((left.clone(), right.clone()))
        return result


@contextlib.contextmanager
def watched(*arguments, **options) -> Iterator[Watch]:
    """Watch what happens inside, with PyTorch's own attention taken apart into its products."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH), torch.no_grad(), Watch(*arguments, **options) as watch:
            yield watch
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
