"""T5's buckets against the code of the `transformers` package, and its bias against a loop."""

import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention as TheirT5Attention

from attention_course.t5_bias import T5Attention, t5_bucket


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("n_buckets", "max_distance"), [(32, 128), (10, 16), (8, 20)])
def test_buckets_are_those_of_transformers(bidirectional, n_buckets, max_distance):
    offset = torch.arange(-300, 301)
    options = {"bidirectional": bidirectional, "num_buckets": n_buckets, "max_distance": max_distance}
    theirs = TheirT5Attention._relative_position_bucket(offset, **options)
    ours = t5_bucket(offset, n_buckets=n_buckets, max_distance=max_distance, bidirectional=bidirectional)
    assert torch.equal(ours, theirs)
    if not bidirectional:  # of two directions, bucket n_buckets / 2 would be a later key at distance 0
        assert ours.unique().tolist() == list(range(n_buckets))


def test_the_numbers_of_t5_are_the_defaults():
    offset = torch.arange(-300, 301)
    assert torch.equal(t5_bucket(offset), TheirT5Attention._relative_position_bucket(offset))
    torch.manual_seed(0)
    default, told = T5Attention(2), T5Attention(2, n_buckets=32, max_distance=128, bidirectional=True)
    told.load_state_dict(default.state_dict())
    query, key, value = torch.randn(1, 2, 1, 4), torch.randn(1, 2, 300, 4), torch.randn(1, 2, 300, 4)
    assert torch.equal(default(query, key, value)[0], told(query, key, value)[0])


def test_the_bias_of_each_pair_is_the_number_of_its_bucket():
    torch.manual_seed(0)
    attention = T5Attention(2, n_buckets=8, max_distance=16)
    query, key, value = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 20, 4), torch.randn(1, 2, 20, 4)
    scores = torch.zeros(2, 3, 20)
    for head in range(2):
        for i in range(3):
            for j in range(20):
                bucket = t5_bucket(torch.tensor(j - (17 + i)), n_buckets=8, max_distance=16)
                scores[head, i, j] = query[0, head, i] @ key[0, head, j] / 2 + attention.embedding.weight[bucket, head]
    torch.testing.assert_close(attention(query, key, value, need_weights=True)[1][0], scores.softmax(-1))


def test_another_layer_draws_its_own_numbers():
    attention = T5Attention(4)
    assert not torch.equal(attention.fresh().embedding.weight, attention.embedding.weight)
