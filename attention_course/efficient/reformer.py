"""LSH attention: tokens that point the same way fall into the same bucket, and buckets attend to themselves.

Kitaev et al. 2020, arXiv:2001.04451. Queries and keys are one projection, a token's key being its query of length 1,
so that "a query finds its largest keys" becomes "a token finds its neighbours". Each round hashes anew, sorts the
tokens by bucket, cuts them into chunks, and lets a chunk see itself and the one before. The rounds are joined in
proportion to the sums of exponentials that each has seen; a pair that meets in several rounds counts once for each
(the paper's correction for that is left out, as it costs as much as the attention).
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.efficient.inputs import check, check_self_attention

GROUP = 8  # chunks whose scores are held at once
SELF = -1e5  # a token's score with itself: the last resort of one that finds nobody else


class LSHAttention(nn.Module):
    """Attention among tokens whose queries point in similar directions.

    Args:
        bucket_size: Tokens in a chunk, and in a bucket on average; even-numbered buckets are made of them.
        n_rounds: Independent hashings.
        causal: Whether a token sees earlier ones only (and itself where there are none).
        generator: Source of the random directions (on the CPU), which each call draws anew.

    Raises:
        ValueError: If `bucket_size` or `n_rounds` is below 1.
    """

    def __init__(
        self,
        bucket_size: int = 64,
        n_rounds: int = 4,
        *,
        causal: bool = False,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        if bucket_size < 1 or n_rounds < 1:
            raise ValueError(f"bucket_size and n_rounds must be 1 or more, got {bucket_size} and {n_rounds}")
        self.bucket_size, self.n_rounds, self.causal, self.generator = bucket_size, n_rounds, causal, generator

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(batch, heads, tokens, d_head)`; returns `(output, None)`.

        Raises:
            ValueError: If weights, dropout, keys that are not the queries or a mask that differs from query to
                query are given.
        """
        check(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        check_self_attention(query, key)
        if key is not query and not torch.equal(key, query):
            raise ValueError("key must be the query: LSH attention has one projection for both")
        rounds = [self._round(query, value, mask) for _ in range(self.n_rounds)]
        outputs, log_sums = (torch.stack(each) for each in zip(*rounds, strict=True))
        return (log_sums.softmax(0) * outputs).sum(0), None

    def buckets(self, query: Tensor) -> Tensor:
        """The bucket of each token under new random directions: integers `(batch, heads, tokens)`."""
        n_buckets = max(2 * round(query.size(-2) / self.bucket_size / 2), 1)
        if n_buckets == 1:
            return torch.zeros(query.shape[:-1], dtype=torch.long, device=query.device)
        directions = torch.randn(query.size(1), query.size(-1), n_buckets // 2, generator=self.generator)
        turned = query.detach() @ directions.to(query)
        return torch.cat([turned, -turned], dim=-1).argmax(-1)

    def _round(self, query, value, mask):
        """One hashing's output `(batch, heads, tokens, d_v)` and logarithm of the sum of exponentials `(..., 1)`."""
        n_tokens, size = query.size(-2), self.bucket_size
        order = self.buckets(query).argsort(dim=-1, stable=True)  # within a bucket, by position
        filler = -n_tokens % size

        def chunked(tokens):
            picked = tokens.gather(2, order.unsqueeze(-1).expand(-1, -1, -1, tokens.size(-1)))
            return F.pad(picked, (0, 0, 0, filler)).unflatten(2, (-1, size))  # (batch, heads, chunks, size, features)

        place = F.pad(order, (0, filler), value=n_tokens).unflatten(2, (-1, size))  # n_tokens stands for filler
        real = self._is_real(place, mask, n_tokens)
        queries, values = chunked(query), chunked(value)
        keys = F.normalize(queries, dim=-1)
        if queries.size(2) > 1:
            keys, values, key_place, real = (
                torch.cat([tokens.roll(1, dims=2), tokens], dim=3) for tokens in (keys, values, place, real)
            )
        else:
            key_place = place
        groups = zip(
            *(tokens.split(GROUP, dim=2) for tokens in (queries, keys, values, place, key_place, real)), strict=True
        )
        outputs, log_sums = zip(*(self._attend(*group) for group in groups), strict=True)
        back = order.argsort(-1).unsqueeze(-1)  # where each token went
        output, log_sum = (torch.cat(parts, dim=2).flatten(2, 3) for parts in (outputs, log_sums))
        return output.gather(2, back.expand(-1, -1, -1, value.size(-1))), log_sum.gather(2, back)

    def _attend(self, query, key, value, place, key_place, real):
        """Each chunk's queries on its keys, `place` telling where in the sequence both stand."""
        scores = query @ key.transpose(-2, -1) * query.size(-1) ** -0.5
        scores = scores.masked_fill(place.unsqueeze(-1) == key_place.unsqueeze(-2), SELF)
        allowed = real.unsqueeze(-2)
        if self.causal:
            allowed = allowed & (place.unsqueeze(-1) >= key_place.unsqueeze(-2))
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        log_sum = scores.logsumexp(-1, keepdim=True)
        weights = (scores - log_sum).exp().masked_fill(~allowed, 0.0)
        return weights @ value, log_sum

    @staticmethod
    def _is_real(place: Tensor, mask: Tensor | None, n_tokens: int) -> Tensor:
        """Which of the sorted tokens are neither filler nor hidden by the mask."""
        if mask is None:
            return place < n_tokens
        seen = mask.squeeze(-2).expand(*place.shape[:2], n_tokens)
        return F.pad(seen, (0, 1), value=False).gather(2, place.flatten(2)).view_as(place)
