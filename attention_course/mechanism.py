"""What a layer and a model ask of the attention that is plugged into them."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

from torch import Tensor, nn

from attention_course.grouped import repeat_heads
from attention_course.masks import causal_mask


class Mechanism(nn.Module):
    """Attention that plugs into `MultiHeadAttention` and all that is built on it.

    A mechanism computes, on `(batch, heads, tokens, d_head)`,

        output, weights = mechanism(query, key, value, mask, dropout=0.0, need_weights=False)

    where `weights` is `None` unless they are asked for, and says here what else a layer has to know. A plain function
    of that form is a mechanism too, by `as_mechanism`: one with these defaults.

    Attributes:
        causal: Whether it hides the future itself. A model then makes no causal mask.
        caches: Whether the queries may be fewer than the keys, and the newest of their tokens, as in decoding with a
            cache.
        shared_query_key: Whether keys must be the queries. A layer then makes one projection for both.
    """

    causal = False
    caches = True
    shared_query_key = False

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        dropout: float = 0.0,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """What a layer calls: the mechanism, without the future if `causal`, and with as many key heads as query heads.

        Args:
            query: `(batch, n_heads, n_queries, d_head)`.
            key: `(batch, n_kv_heads, n_keys, d_head)`; neighbouring query heads share a head where there are fewer.
            value: `(batch, n_kv_heads, n_keys, d_head)`.
            mask: As the mechanism takes it.
            causal: Whether later keys are hidden, besides those that the mask hides, as by `causal_mask`.
            dropout: Probability of dropping a weight.
            need_weights: Whether to return the weights.
        """
        if causal and not self.causal:
            future_hidden = causal_mask(query.size(-2), key.size(-2), device=query.device)
            mask = future_hidden if mask is None else mask & future_hidden
        if key.size(1) < query.size(1):
            key, value = repeat_heads(key, query.size(1)), repeat_heads(value, query.size(1))
        return self(query, key, value, mask, dropout=dropout, need_weights=need_weights)

    def redraw(self) -> None:
        """Draw anew whatever the mechanism itself draws at random; most draw nothing."""

    def fresh(self) -> "Mechanism":
        """The same for another layer: what it learns and what it draws at random are that layer's own."""
        other = deepcopy(self)
        for module in other.modules():
            if isinstance(module, Mechanism):
                module.redraw()
        return other


class FunctionMechanism(Mechanism):
    """A function as a mechanism: it sees what the mask allows, and keeps nothing.

    Args:
        function: `function(query, key, value, mask, *, dropout, need_weights)`.
    """

    def __init__(self, function: Callable):
        super().__init__()
        self.function = function

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False) -> tuple[Tensor, Tensor | None]:
        """What the function returns."""
        return self.function(query, key, value, mask, dropout=dropout, need_weights=need_weights)

    def extra_repr(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))


def as_mechanism(attention: Callable) -> Mechanism:
    """A mechanism as it is; a function as a `FunctionMechanism`.

    Raises:
        TypeError: If it cannot be called.
        ValueError: If it is a function made causal by `functools.partial`: nobody could know that it hides the future.
    """
    if isinstance(attention, Mechanism):
        return attention
    if not callable(attention):
        raise TypeError(f"attention must be a Mechanism or a function, got {attention!r}")
    if isinstance(attention, partial) and attention.keywords.get("causal"):
        raise ValueError(
            "attention must not be a function made causal by partial, because a model could not know that it hides the "
            f"future: give a Mechanism, such as FlashAttention(causal=True), got {attention!r}"
        )
    return FunctionMechanism(attention)


def fresh(attention: Callable | None) -> Callable | None:
    """The attention for another layer: a mechanism's `fresh`; functions keep nothing that layers could share."""
    return attention.fresh() if isinstance(attention, Mechanism) else attention
