"""Top-k attention: each query reads the few keys that a small indexer, which looks at all of them, has chosen for it.

DeepSeek-AI 2025, arXiv:2512.02556 (DeepSeek sparse attention).

Lesson: `chapters/states.ipynb`.
"""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from attention_course.attention import scaled_dot_product_attention
from attention_course.efficient.indexer import Indexer, WithLoss, choose, index_loss, index_scores
from attention_course.kv_cache import KVCache, undone_on_error
from attention_course.masks import causal_mask
from attention_course.mechanism import AttentionLayer
from attention_course.support.validation import validate_mask, validate_whole_number

NUMBERS = 2**20  # in a block of queries: of its scores with all keys, or of the keys and values it has chosen


def top_k_attention(
    query: Tensor, key: Tensor, value: Tensor, scores: Tensor, mask: Tensor | None = None, *, k: int
) -> tuple[Tensor, Tensor]:
    """The definition: exact attention to the `k` visible keys with the highest scores; of equal scores, the first keys.

    `scores`, and the mask when it is expanded, are `(batch, 1, n_queries, n_keys)`: the heads share one choice.
    """
    visible = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    order = scores.masked_fill(~visible, -torch.inf).argsort(dim=-1, descending=True, stable=True)
    chosen = torch.zeros_like(visible).scatter(-1, order[..., :k], True)
    return scaled_dot_product_attention(query, key, value, chosen & visible)


class TopKAttention(AttentionLayer):
    """A drop-in for `MultiHeadAttention` whose queries read `k` keys each, the same keys for all heads.

    Where no more than `k` keys are visible it is dense attention. The indexer still looks at every key: its time grows
    with the square of the number of tokens, only at fewer products a pair. Keys whose scores differ by no more than
    rounding may be chosen one for the other.

    In training, the backward pass of the output starts that of the indexer's loss as well: of `index_loss` over the
    chosen keys, a mean over the queries. So a plain training loop trains both; one that multiplies its loss, as for
    float16 or for a mean over several backward passes, sets `loss_scale` to the same number. This gradient reaches the
    indexer's matrices alone, which get no other: the output does not depend on them but for jumps, where another key is
    chosen. (The report trains the indexer of a finished model first, on dense attention's weights, and then both on the
    chosen keys, as happens here from the start.)

    Args:
        d_model: Width of the tokens.
        n_heads: Number of heads; divides `d_model`.
        k: How many keys a query reads.
        n_index_heads: Number of the indexer's heads.
        d_index: Width of the indexer's queries and keys.

    Attributes:
        loss_scale: What the indexer's loss is multiplied by; 1 at first.

    Raises:
        ValueError: If `n_heads` does not divide `d_model`, or one of the others is no whole number of 1 or more.
    """

    def __init__(self, d_model: int, n_heads: int, k: int, *, n_index_heads: int = 2, d_index: int = 16):
        super().__init__(d_model, n_heads)
        validate_whole_number("k", k, at_least=1)
        self.k = k
        self.loss_scale = 1.0
        self.query_proj = nn.Linear(d_model, d_model, bias=False)
        self.key_proj = nn.Linear(d_model, d_model, bias=False)
        self.value_proj = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.indexer = Indexer(d_model, n_index_heads, d_index)

    def redraw(self) -> None:
        """Draw new weights for the projections, and for the indexer's."""
        super().redraw()
        self.indexer.redraw()

    def cache(self) -> "TopKCache":
        """An empty cache for this layer."""
        return TopKCache()

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
        cache: KVCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """As `MultiHeadAttention`; weights of keys that are not chosen are 0.

        Raises:
            TypeError: As `MultiHeadAttention`.
            ValueError: As `MultiHeadAttention`; if the mask differs from head to head, or `causal` queries are more
                than the keys.
        """
        query, key, value = self.complete(query, key, value)
        q = self.query_proj(query)
        rows = torch.cat([self.key_proj(key), self.value_proj(value)], dim=-1).unsqueeze(1)  # read together
        index_q, index_weight = self.indexer.queries(query)
        index_k = self.indexer.keys(key)
        learn = self.training and torch.is_grad_enabled()
        with undone_on_error(cache):
            if cache is not None:
                rows, index_k = cache.append(rows, index_k)
            pieces = []
            for block, visible in self._blocks(q, rows, mask, causal):
                asked = index_q[:, :, block], index_weight[:, :, block]
                with torch.no_grad():
                    scores = index_scores(*asked, index_k[..., : visible.size(-1), :])
                chosen = choose(scores, visible, self.k)
                # The backward pass looks the keys up anew, so that no more than one block's are held at once.
                given = q[:, block], rows, *asked, index_k, *chosen, learn, need_weights
                pieces.append(checkpoint(self._attend, *given, use_reentrant=False))
        heads, weights, losses = zip(*pieces, strict=True)
        output = self.out_proj(torch.cat(heads, dim=1))
        if learn:
            output = WithLoss.apply(output, self.loss_scale * sum(losses) / max(1, query.shape[:2].numel()))
        return output, torch.cat(weights, dim=2) if need_weights else None

    def _blocks(self, query: Tensor, rows: Tensor, mask: Tensor | None, causal: bool) -> Iterator[tuple[slice, Tensor]]:
        """Which queries come next, and which keys they may see, `(batch, queries, keys)`, to the last that any sees."""
        batch, n_queries, n_keys = *query.shape[:2], rows.size(2)
        if causal and n_keys < n_queries:
            raise ValueError(f"key must have at least as many tokens as query, {n_queries}, got {n_keys}")
        mask = query.new_ones(1, dtype=torch.bool) if mask is None else mask
        validate_mask(mask, (batch, self.n_heads, n_queries, n_keys))
        if mask.dim() > 2 and mask.size(-3) > 1:
            raise ValueError(f"mask must be the same for all heads, which share one choice, got {tuple(mask.shape)}")
        mask = mask.expand(batch, 1, n_queries, n_keys)[:, 0]
        size = max(1, NUMBERS // max(1, batch * max(self.indexer.n_heads * n_keys, self.k * rows.size(-1))))
        for start in range(0, max(1, n_queries), size):
            end = min(start + size, n_queries)
            visible = mask[:, start:end]
            if causal:
                n_seen = n_keys - n_queries + end
                visible = visible[..., :n_seen] & causal_mask(end - start, n_seen, device=mask.device)
            yield slice(start, end), visible

    def _attend(self, query, rows, index_query, index_weight, index_key, place, visible, learn, need_weights):
        """Heads `(batch, queries, d_model)`, weights of all keys if needed, and the indexer's loss if it learns."""
        found = lookup(rows, place).unflatten(-1, (2, self.n_heads, -1)).flatten(0, 1)
        k, v = found.permute(2, 0, 3, 1, 4)  # (batch * queries, n_heads, k, d_head)
        q = query.reshape(-1, self.n_heads, 1, self.d_head)  # each with keys of its own
        seen = visible.flatten(0, 1)
        heads, weights = scaled_dot_product_attention(q, k, v, seen[:, None, None], need_weights=learn or need_weights)
        loss = None
        if learn:
            asked = (each.transpose(1, 2).flatten(0, 1).unsqueeze(-2) for each in (index_query, index_weight))
            found = lookup(index_key, place).flatten(0, 1).masked_fill(~seen.unsqueeze(-1), 0.0)
            loss = index_loss(index_scores(*asked, found.unsqueeze(1)).squeeze(1), seen, weights.squeeze(2))
        if need_weights:
            weights = weights.squeeze(2).unflatten(0, place.shape[:2]).transpose(1, 2)  # (batch, n_heads, queries, k)
            nothing = weights.new_zeros(*weights.shape[:3], rows.size(2))
            weights = nothing.scatter(-1, place.unsqueeze(1).expand_as(weights), weights)
        return heads.reshape(query.shape), weights, loss

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, n_heads={self.n_heads}, k={self.k}"


def lookup(tokens: Tensor, place: Tensor) -> Tensor:
    """Of keys `(batch, 1, n_keys, features)` those at `(batch, n_queries, k)`: `(batch, n_queries, k, features)`."""
    if tokens.is_contiguous():  # a plain list of rows, from which reading is several times as fast
        first = tokens.size(2) * torch.arange(tokens.size(0), device=place.device)[:, None, None]
        return F.embedding(first + place, tokens.flatten(0, 2))
    index = place.flatten(1).unsqueeze(-1).expand(-1, -1, tokens.size(-1))
    return tokens.squeeze(1).gather(1, index).unflatten(1, place.shape[1:])


class TopKCache(KVCache):
    """The keys and values of all tokens, those of all heads in one row, and the indexer's keys beside them.

    It grows with every token, and by more than a `KVCache` of keys and values alone: less is read of it, not held.

    As `key` it has the rows, `(batch, 1, n_tokens, 2 * d_model)`, and as `value` the indexer's keys,
    `(batch, 1, n_tokens, d_index)`.
    """
