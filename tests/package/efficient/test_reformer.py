import pytest
import torch
import torch.nn.functional as F
from refusing import refuses
from seeding import seeded

from attention_course import causal_mask, padding_mask
from attention_course.efficient.reformer import SELF, LSHAttention
from attention_course.transformer import Encoder


def inputs(n_tokens, seed=0):
    query, value = torch.randn(2, 2, 3, n_tokens, 8, generator=seeded(seed), dtype=torch.float64)
    return query, value


def reference(query, value, mask):
    """Dense attention with keys of length 1, in which a token's score with itself is the last resort."""
    scores = query @ F.normalize(query, dim=-1).transpose(-2, -1) * query.size(-1) ** -0.5
    scores = scores.masked_fill(torch.eye(query.size(-2), dtype=torch.bool), SELF)
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)
    return weights.masked_fill(~mask, 0.0) @ value


class OneBucket(LSHAttention):
    def buckets(self, query):
        return torch.zeros(query.shape[:-1], dtype=torch.long)


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize(("n_tokens", "bucket_size"), [(1, 64), (7, 8), (64, 64), (64, 32), (60, 32)])
@torch.no_grad()
def test_where_all_tokens_meet_it_is_dense_attention(causal, n_tokens, bucket_size):
    query, value = inputs(n_tokens)
    mask = padding_mask(torch.tensor([n_tokens, (n_tokens + 1) // 2]))
    seen = mask & causal_mask(n_tokens) if causal else mask & torch.ones(n_tokens, n_tokens, dtype=torch.bool)
    query = query.where(mask.transpose(-2, -1), 0.0)  # hidden tokens ask as zeros would
    output, _ = OneBucket(bucket_size, 2, causal=causal)(query, query, value, mask)
    torch.testing.assert_close(output, reference(query, value, seen))


def test_each_layer_hashes_by_a_generator_of_its_own():
    torch.manual_seed(0)
    encoder = Encoder(32, 2, 3, attention=LSHAttention(4, 1, generator=seeded(5)))
    layers = [module for module in encoder.modules() if isinstance(module, LSHAttention)]
    query = torch.randn(1, 2, 64, 16)
    first, second, third = (layer.buckets(query) for layer in layers)
    assert not torch.equal(first, second) and not torch.equal(second, third) and not torch.equal(first, third)


def test_a_given_generator_is_drawn_from_and_left_alone_by_fresh():
    query = torch.randn(1, 2, 64, 16)
    attention = LSHAttention(4, 1, generator=seeded(5))
    attention.fresh().buckets(query)
    assert torch.equal(attention.buckets(query), LSHAttention(4, 1, generator=seeded(5)).buckets(query))


def test_causal_hashing_says_that_it_leaks():
    assert "depends on later ones" in repr(LSHAttention(causal=True))
    assert repr(LSHAttention()) == "LSHAttention(bucket_size=64, n_rounds=4, causal=False)"


class GivenBuckets(LSHAttention):
    def __init__(self, bucket_size, rounds):
        super().__init__(bucket_size, len(rounds))
        self.rounds = iter(rounds)

    def buckets(self, query):
        return next(self.rounds)


@torch.no_grad()
def test_rounds_count_by_their_sums_of_exponentials():
    query, value = inputs(24)
    rounds = torch.randint(6, (3, 2, 3, 24), generator=seeded(1))
    scores = 3 * query @ F.normalize(query, dim=-1).transpose(-2, -1) * 3 * 8**-0.5
    scores = scores.masked_fill(torch.eye(24, dtype=torch.bool), SELF)
    total = weight = 0
    for buckets in rounds:
        chunk = buckets.argsort(dim=-1, stable=True).argsort(-1) // 4
        own, other = chunk.unsqueeze(-1), chunk.unsqueeze(-2)
        exponentials = scores.exp() * ((own == other) | ((own - 1) % 6 == other))
        total, weight = total + exponentials @ value, weight + exponentials.sum(-1, keepdim=True)
    output, _ = GivenBuckets(4, rounds)(9 * query, 9 * query, value)
    torch.testing.assert_close(output, total / weight)


@torch.no_grad()
def test_buckets_are_balanced_and_neighbours_share_them():
    generator = seeded()
    centres = F.normalize(torch.randn(1, 1, 512, 32, generator=generator), dim=-1)
    near = F.normalize(centres + 0.02 * torch.randn(centres.shape, generator=generator), dim=-1)
    attention = LSHAttention(64, generator=seeded())
    together = attention.buckets(torch.cat([centres, near], dim=2))  # 1,024 tokens: 16 buckets
    assert together.max() < 16 and together.flatten().bincount(minlength=16).min() > 20
    first, second = together.split(512, dim=2)
    assert (first == second).float().mean() > 0.8
    assert (first == second.roll(1, dims=2)).float().mean() < 0.2


@torch.no_grad()
def test_the_error_falls_with_rounds_where_tokens_form_clusters():
    generator = seeded()
    centres = 6 * F.normalize(torch.randn(1, 1, 32, 16, generator=generator), dim=-1)
    query = centres.repeat_interleave(32, dim=2) + 0.3 * torch.randn(1, 1, 1024, 16, generator=generator)
    query, value = query * 16**0.5, torch.randn(1, 1, 1024, 16, generator=generator)
    expected = reference(query, value, torch.ones(1024, 1024, dtype=torch.bool))

    def error(n_rounds):
        runs = [LSHAttention(64, n_rounds, generator=seeded(seed))(query, query, value)[0] for seed in range(3)]
        return sum((run - expected).norm() / expected.norm() for run in runs) / 3

    errors = [error(n_rounds) for n_rounds in (1, 4, 16)]
    assert errors[0] > errors[1] > errors[2]


test_bad_input_is_named = refuses(
    ("bucket_size must be a whole number, 1 or more, got 0", lambda: LSHAttention(0)),
    ("n_rounds must be a whole number, 1 or more, got nan", lambda: LSHAttention(4, float("nan"))),
    ("key must be the query", lambda: LSHAttention()(inputs(5)[0], inputs(5, seed=1)[0], inputs(5)[1])),
)
