"""What a layer and a model ask of the attention that is plugged into them."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial

from torch import Tensor, nn

from attention_course.grouped import repeat_heads
from attention_course.kv_cache import KVCache
from attention_course.masks import hide_future


class Pluggable(nn.Module):
    """A part of which each layer of a model gets its own."""

    def redraw(self) -> None:
        """Draw anew whatever the part itself draws at random; most draw nothing."""

    def fresh(self) -> "Pluggable":
        """The same for another layer: what it learns and what it draws at random are that layer's own."""
        other = deepcopy(self)
        for module in other.modules():
            if isinstance(module, Pluggable):
                module.redraw()
        return other


class Mechanism(Pluggable):
    """Attention that plugs into `MultiHeadAttention` and all that is built on it.

    A mechanism computes, on `(batch, heads, tokens, d_head)`,

        output, weights = mechanism(query, key, value, mask, dropout=0.0, need_weights=False)

    where `weights` is `None` unless they are asked for, and says here what else a layer has to know. A plain function
    of that form is a mechanism too, by `as_mechanism`: one with these defaults. Under `torch.autocast` the output has
    the dtype that this asks for; `autocast.in_float32` is for mechanisms that add up over tokens themselves.

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
            mask = hide_future(mask, query, key)
        key, value = (repeat_heads(tokens, query.size(1)) for tokens in (key, value))
        return self(query, key, value, mask, dropout=dropout, need_weights=need_weights)


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
        TypeError: If it cannot be called, or is a class, or a whole layer.
        ValueError: If it is a function made causal by `functools.partial`: nobody could know that it hides the future.
    """
    if isinstance(attention, Mechanism):
        return attention
    if not callable(attention) or isinstance(attention, type | AttentionLayer):
        raise TypeError(f"attention must be a Mechanism or a function, not a class or a whole layer, got {attention!r}")
    if isinstance(attention, partial) and attention.keywords.get("causal"):
        raise ValueError(
            "attention must not be a function made causal by partial, because a model could not know that it hides the "
            f"future: give a Mechanism, such as FlashAttention(causal=True), got {attention!r}"
        )
    return FunctionMechanism(attention)


class AttentionLayer(Pluggable):
    """The attention of a block, with its projections: `MultiHeadAttention`, or a layer that stands in for it.

    A block calls `layer(tokens, mask=mask, causal=causal, need_weights=need_weights, cache=cache)`, with the meaning
    that `MultiHeadAttention.forward` gives these.

    Args:
        d_model: Width of the tokens.
        n_heads: Number of query heads; divides `d_model`.

    Raises:
        ValueError: If it does not.
    """

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads must divide d_model = {d_model}, got {n_heads}")
        self.d_model, self.n_heads = d_model, n_heads
        self.d_head = d_model // n_heads

    def redraw(self) -> None:
        """Draw new weights for the projections."""
        for module in self.children():
            if isinstance(module, nn.Linear):
                module.reset_parameters()

    def cache(self) -> KVCache:
        """An empty cache for this layer, for one decoding: of keys and values, where the layer keeps nothing else."""
        return KVCache()

    def complete(self, query: Tensor, key: Tensor | None, value: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """The tokens of a call: where the key is left out it is the query, where the value is left out the key.

        Raises:
            ValueError: If `value` comes without `key`, or tokens are not `(batch, tokens, d_model)` or do not fit
                together.
        """
        if key is None and value is not None:
            raise ValueError("value came without key: give both, or key alone")
        key = query if key is None else key
        value = key if value is None else value
        for name, tokens in (("query", query), ("key", key), ("value", value)):
            if tokens.dim() != 3 or tokens.size(-1) != self.d_model:
                raise ValueError(f"{name} must have shape (batch, tokens, {self.d_model}), got {tuple(tokens.shape)}")
        if key.size(1) != value.size(1):
            raise ValueError(f"key and value must have the same n_keys, got {key.size(1)} and {value.size(1)}")
        if not query.size(0) == key.size(0) == value.size(0):
            batches = f"{query.size(0)}, {key.size(0)} and {value.size(0)}"
            raise ValueError(f"query, key and value must have the same batch size, got {batches}")
        return query, key, value


def fresh(attention: Pluggable | Callable | None) -> Pluggable | Callable | None:
    """The attention for another layer: its `fresh`; of another module a copy, which begins with the same weights.

    A function keeps nothing that layers could share, and is taken as it is.
    """
    if isinstance(attention, Pluggable):
        return attention.fresh()
    return deepcopy(attention) if isinstance(attention, nn.Module) else attention
