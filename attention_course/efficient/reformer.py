"""LSH attention: tokens that point the same way fall into the same bucket, and buckets attend to themselves.

Kitaev et al. 2020, arXiv:2001.04451. Queries and keys are one projection, a token's key being its query of length 1,
so that "a query finds its largest keys" becomes "a token finds its neighbours". Each round hashes anew, sorts the
tokens by bucket, cuts them into chunks, and lets a chunk see itself and the one before. The rounds are joined in
proportion to the sums of exponentials that each has seen; a pair that meets in several rounds counts once for each
(the paper's correction for that is left out, as it costs as much as the attention).

Nothing is read from the future where `causal`, but what is seen depends on it: later tokens move the edges of chunks,
so that a token may lose an earlier one that it would have seen without them. The outputs of a causal language model on
hashing attention are therefore not quite what they would be if it wrote token by token.
(The paper also hides other buckets: then nothing is lost until a bucket is longer than a chunk. Here tokens of two
buckets that meet in a chunk may see each other.)

Lesson: `chapters/approximations.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from attention_course.attention import masked_softmax
from attention_course.efficient.inputs import hide, validate_self_attention, validate_weightless
from attention_course.masks import causal_mask
from attention_course.mechanism import Mechanism
from attention_course.support.autocast import in_float32, wide
from attention_course.support.validation import validate_whole_number

GROUP = 64  # chunks whose scores are held at once
SELF = -1e5  # a token's score with itself: the last resort of one that finds nobody else


def lsh_attention(
    query: Tensor,
    value: Tensor,
    buckets: Tensor,
    bucket_size: int,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
) -> tuple[Tensor, Tensor]:
    """The definition, with the scores of all pairs: each sees those that it meets, and each time that it meets them.

    Args:
        query: `(batch, heads, tokens, d_head)`.
        value: `(batch, heads, tokens, d_v)`.
        buckets: Integers `(n_rounds, batch, heads, tokens)`.
        bucket_size: Tokens in a chunk.
        mask: Boolean, `(batch, 1, 1, tokens)`; `True` = may be seen.
        causal: Whether a token sees earlier ones only (and itself where there are none).
    """
    n_tokens = query.size(-2)
    if mask is not None:  # hidden tokens stand behind all others, and are zeros whatever they are
        query, buckets = hide(query, mask), buckets.masked_fill(~mask.squeeze(-2), n_tokens)
    chunk = buckets.argsort(dim=-1, stable=True).argsort(-1) // bucket_size  # (n_rounds, batch, heads, tokens)
    hops = (chunk[..., :, None] - chunk[..., None, :]) % -(-n_tokens // bucket_size)  # round the circle of chunks
    meets = hops <= 1  # (n_rounds, batch, heads, tokens, tokens)
    if mask is not None:
        meets = meets & mask
    if causal:
        meets = meets & causal_mask(n_tokens, device=query.device)
    scores = query @ F.normalize(query, dim=-1).transpose(-2, -1) * query.size(-1) ** -0.5
    scores = scores.masked_fill(torch.eye(n_tokens, dtype=torch.bool, device=query.device), SELF)
    times = meets.sum(0, dtype=scores.dtype)  # a pair that meets twice is twice as likely
    weights = masked_softmax(scores + times.log(), times > 0)
    return weights @ value, weights


class LSHAttention(Mechanism):
    """Attention among tokens whose queries point in similar directions.

    Hidden tokens stand behind all others. The one exception to what causal attention owes: which earlier tokens are
    seen depends on the later ones.

    Args:
        bucket_size: Tokens in a chunk, and in a bucket on average; even-numbered buckets are made of them.
        n_rounds: Independent hashings.
        causal: Whether a token sees earlier ones only (and itself where there are none).
        generator: Source of the random directions (on the CPU), which each call draws anew; PyTorch's own if left out.
            Leave it out under `torch.utils.checkpoint`, which computes a second time what PyTorch's own drew, and with
            another generator would differentiate another hashing.

    Raises:
        ValueError: If `bucket_size` or `n_rounds` is no whole number of 1 or more.
    """

    shared_query_key = True
    caches = False

    def __init__(
        self,
        bucket_size: int = 64,
        n_rounds: int = 4,
        *,
        causal: bool = False,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        validate_whole_number("bucket_size", bucket_size, at_least=1)
        validate_whole_number("n_rounds", n_rounds, at_least=1)
        self.bucket_size, self.n_rounds, self.causal, self.generator = bucket_size, n_rounds, causal, generator

    def redraw(self) -> None:
        """Draw from here on what no copy draws: a generator is replaced, by one that PyTorch's own one seeds."""
        if self.generator is not None:
            self.generator = torch.Generator().manual_seed(int(torch.randint(2**63 - 1, ())))

    def extra_repr(self) -> str:
        leak = ": which earlier tokens are seen depends on later ones" if self.causal else ""
        return f"bucket_size={self.bucket_size}, n_rounds={self.n_rounds}, causal={self.causal}{leak}"

    @in_float32
    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `lsh_attention` on `buckets` of each round; returns `(output, None)`.

        Raises:
            ValueError: If weights, dropout, keys that are not the queries or a mask that differs from query to
                query are given.
        """
        validate_weightless(query, key, value, mask, dropout=dropout, need_weights=need_weights)
        validate_self_attention(query, key)
        if key is not query and not torch.equal(key, query):
            raise ValueError("key must be the query: LSH attention has one projection for both")
        if value.numel() == 0:
            return value.clone(), None
        query, values = hide(wide(query), mask), hide(wide(value), mask)
        rounds = [self._round(query, values, mask) for _ in range(self.n_rounds)]
        shares = torch.stack([log_sum for _, log_sum in rounds]).softmax(0)
        output = sum(share * output for share, (output, _) in zip(shares, rounds, strict=True))
        return output.to(value.dtype), None

    def buckets(self, query: Tensor) -> Tensor:
        """The bucket of each token under new random directions: integers `(batch, heads, tokens)`."""
        n_buckets = max(2 * round(query.size(-2) / self.bucket_size / 2), 1)
        if n_buckets == 1:
            return torch.zeros(query.shape[:-1], dtype=torch.long, device=query.device)
        directions = torch.randn(query.size(1), query.size(-1), n_buckets // 2, generator=self.generator)
        turned = query.detach() @ directions.to(query)
        # Each direction and its opposite is a bucket: the largest product in size, and its sign.
        nearest = turned.abs().argmax(-1, keepdim=True)
        return (nearest + n_buckets // 2 * (turned.gather(-1, nearest) < 0)).squeeze(-1)

    def _round(self, query, value, mask):
        """One hashing's output `(batch, heads, tokens, d_v)` and logarithm of the sum of exponentials `(..., 1)`."""
        n_tokens, size = query.size(-2), self.bucket_size
        buckets = self.buckets(query)
        if mask is not None:  # hidden tokens stand behind all others
            visible = mask.expand(*query.shape[:2], 1, n_tokens).squeeze(2)
            buckets = buckets.masked_fill(~visible, n_tokens)
        order = buckets.argsort(dim=-1, stable=True).flatten(0, 1)  # within a bucket, by position
        place = F.pad(order, (0, -n_tokens % size), value=n_tokens)  # n_tokens stands for filler
        # The last chunk stands in front of the first, whose predecessor it is, unless that is the chunk itself.
        last = place[:, -size:]
        place = torch.cat([last if place.size(1) > size else torch.full_like(last, n_tokens), place], dim=1)
        sequence = torch.arange(len(place), device=place.device).unsqueeze(1)  # all sequences and heads in one line
        pick = (sequence * n_tokens + place.clamp(max=n_tokens - 1)).flatten()
        queries, values = (tokens.flatten(0, 2).index_select(0, pick) for tokens in (query, value))
        hidden = place.flatten() == n_tokens
        if mask is not None:
            hidden = hidden | ~visible.flatten()[pick]
        output, log_sum = self._chunks(queries, values, place.flatten(), hidden)
        rank = sequence * place.size(1) + size + order.argsort(-1)  # where each token went
        return tuple(each.index_select(0, rank.flatten()).view(*query.shape[:3], -1) for each in (output, log_sum))

    def _chunks(self, query, value, place, hidden):
        """Each chunk of tokens in a line, `(n, d)`, on itself and the chunk before; zeros for the first chunk."""
        size = self.bucket_size
        key = F.normalize(query, dim=-1) * query.size(-1) ** -0.5
        bounded = self.causal or hidden.any()
        own = [tokens.unflatten(0, (-1, size))[1:].split(GROUP) for tokens in (query, place)]
        pairs = [tokens.unfold(0, 2 * size, size).split(GROUP) for tokens in (key, value, place, hidden)]  # no copy
        outputs, log_sums = [value.new_zeros(size, value.size(-1))], [value.new_zeros(size, 1)]
        for queries, query_place, keys, values, key_place, is_hidden in zip(*own, *pairs, strict=True):
            scores = queries @ keys  # (chunks, size, 2 * size)
            scores.diagonal(size, 1, 2).fill_(SELF)
            if bounded:
                unseen = is_hidden.unsqueeze(1)
                if self.causal:
                    unseen = unseen | (query_place.unsqueeze(2) < key_place.unsqueeze(1))
                scores = scores.masked_fill_(unseen, torch.finfo(scores.dtype).min)
            weights = scores.softmax(-1)
            # log-sum = score - log weight whichever key is taken; the largest weight is far from 0.
            log_sums.append((scores.amax(-1, keepdim=True) - weights.amax(-1, keepdim=True).log()).flatten(0, 1))
            if bounded:
                weights = weights.masked_fill(unseen, 0.0)
            outputs.append((weights @ values.transpose(1, 2)).flatten(0, 1))
        return torch.cat(outputs), torch.cat(log_sums)
