"""A window with sinks: each token sees itself, the few before it, and the first tokens of all.

Xiao et al. 2023, arXiv:2309.17453. Softmax hands out all of its weight, and trained models put what they have no use
for on the first tokens, the sinks. Such a model fails when its window leaves them behind; here they stay in sight.

Lesson: `chapters/states.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.attention import scaled_dot_product_attention
from attention_course.efficient.inputs import validate_self_attention, validate_weightless
from attention_course.efficient.longformer import LongformerAttention
from attention_course.kv_cache import KVCache, undone_on_error
from attention_course.mechanism import AttentionLayer
from attention_course.support.validation import validate_mask, validate_whole_number


def sink_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, window: int, n_sinks: int
) -> tuple[Tensor, Tensor]:
    """The definition: exact attention under a mask of all pairs."""
    place = torch.arange(query.size(-2), device=query.device)
    distance = place[:, None] - place  # (n_tokens, n_tokens)
    seen = (distance >= 0) & ((distance <= window) | (place < n_sinks))
    return scaled_dot_product_attention(query, key, value, seen if mask is None else seen & mask)


class SinkAttention(AttentionLayer):
    """A causal layer in time proportional to the number of tokens, whose cache stops growing.

    The future is hidden whether a call says `causal` or not.

    Keys have no positions but those that the tokens bring along, so it does not matter how the cache numbers what it
    holds. (It does where keys are turned by their positions, as in the paper's models: there these are counted within
    the cache and not in the text, which the paper calls crucial.)

    Args:
        d_model: Width of the tokens.
        n_heads: Number of heads; divides `d_model`.
        window: Largest distance, in positions, as for `LongformerAttention`: a token sees itself and `window` others.
        n_sinks: This many leading tokens are seen by all that come after them; the paper finds that four suffice.

    Raises:
        ValueError: If `n_heads` does not divide `d_model`, `window` is no whole number of 1 or more, or `n_sinks` none
            of 0 or more.
    """

    def __init__(self, d_model: int, n_heads: int, window: int, *, n_sinks: int = 4):
        super().__init__(d_model, n_heads)
        validate_whole_number("n_sinks", n_sinks, at_least=0)
        self.band = LongformerAttention(window, n_global=n_sinks, causal=True)
        self.query_proj = nn.Linear(d_model, d_model, bias=False)
        self.key_proj = nn.Linear(d_model, d_model, bias=False)
        self.value_proj = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def cache(self) -> "SinkCache":
        """An empty cache for this layer."""
        return SinkCache(self.band.window, self.band.n_global)

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
        cache: "SinkCache | None" = None,
    ) -> tuple[Tensor, None]:
        """As `MultiHeadAttention` under `sink_attention`; returns `(output, None)`.

        Args:
            query: `(batch, n_tokens, d_model)`.
            key: Of the same tokens; the query if left out.
            value: Of the same tokens; the key if left out.
            mask: Boolean, the same for all queries, as `padding_mask` makes it; it counts all tokens so far, those too
                that the cache has dropped. Hidden tokens keep their places.
            causal: Either way the future is hidden.
            need_weights: Must be `False`.
            cache: From `cache`. This call's tokens are added to it.

        Raises:
            TypeError: If the mask is not boolean, or the cache is another layer's, or holds another dtype.
            ValueError: If a shape does not fit, keys are of other tokens, or weights or a mask that differs from query
                to query are given. The cache then holds what it held before.
        """
        query, key, value = self.complete(query, key, value)
        validate_self_attention(query, key)
        fits = isinstance(cache, SinkCache) and (cache.window, cache.n_sinks) == (self.band.window, self.band.n_global)
        if cache is not None and not fits:
            raise TypeError(f"cache must come from this layer's cache(), {self.cache()}, got {cache}")
        q, k, v = (
            projection(tokens).unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)
            for projection, tokens in ((self.query_proj, query), (self.key_proj, key), (self.value_proj, value))
        )
        with undone_on_error(cache):
            n_seen = k.size(-2)
            if cache is not None:
                k, v = cache.append(k, v)
                n_seen = len(cache)
            if mask is not None:
                validate_mask(mask, (*q.shape[:-1], n_seen))
                mask = self._of_those_held(mask, n_seen, k.size(-2))
            validate_weightless(q, k, v, mask, dropout=0.0, need_weights=need_weights)
            heads = self._attend(q, k, v, mask)
        return self.out_proj(heads.transpose(1, 2).flatten(-2)), None

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """What the newest tokens see of themselves and of those held."""
        n_held = key.size(-2) - query.size(-2)
        if query.size(-2) == 1:  # which sees all that is held
            return scaled_dot_product_attention(query, key, value, mask, need_weights=False)[0]
        query = F.pad(query, (0, 0, n_held, 0))  # the band is for as many queries as keys: those held ask with zeros
        return self.band(query, key, value, mask)[0][..., n_held:, :]

    def _of_those_held(self, mask: Tensor, n_seen: int, n_keys: int) -> Tensor:
        """The columns of the sinks and of the newest tokens, of a mask of all tokens seen so far."""
        if n_seen == n_keys:
            return mask
        mask = mask.expand(*mask.shape[:-1], n_seen)
        n_sinks = self.band.n_global
        return torch.cat([mask[..., :n_sinks], mask[..., n_seen - n_keys + n_sinks :]], dim=-1)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, n_heads={self.n_heads}"


class SinkCache(KVCache):
    """Keys and values of the first `n_sinks` tokens and of the newest `window`, in order.

    They are all that the next token may see, besides itself: however many tokens are added, the bytes do not grow.
    """

    def __init__(self, window: int, n_sinks: int):
        super().__init__()
        self.window, self.n_sinks = window, n_sinks
        self._n_seen = 0

    def __len__(self) -> int:
        """Number of tokens seen so far, those too that are no longer held."""
        return self._n_seen

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the newest tokens' keys and values; return those held before, and behind them the newest.

        Raises:
            TypeError: As `KVCache`.
            ValueError: As `KVCache`.
        """
        key_and_value = super().append(key, value)
        self._n_seen += key.size(-2)
        if self._n_tokens > self.n_sinks + self.window:
            self._key, self._value = (
                torch.cat([each[..., : self.n_sinks, :], each[..., -self.window :, :]], dim=-2)
                for each in key_and_value
            )
            self._n_tokens = self.n_sinks + self.window
        return key_and_value

    def __repr__(self) -> str:
        return f"SinkCache(window={self.window}, n_sinks={self.n_sinks})"
