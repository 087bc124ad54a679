import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention_course.classifiers import AttentionPooling, Classifier, FirstTokenPooling, MeanPooling
from attention_course.embeddings import ImagePatches
from attention_course.positions import SinusoidalPositions

LENGTHS = torch.tensor([6, 4, 1])
MASK = torch.arange(6) < LENGTHS[:, None]
TOKENS = torch.randn(3, 6, 8, generator=torch.Generator().manual_seed(0))
SYMBOLS = torch.randint(11, (3, 6), generator=torch.Generator().manual_seed(1))
POOLINGS = {"mean": MeanPooling, "cls": FirstTokenPooling, "attention": AttentionPooling}


def classifier(pooling, **options):
    torch.manual_seed(0)
    return Classifier(nn.Embedding(11, 16), 3, 16, 2, 2, pooling=pooling, **options).eval()


def test_the_mean_is_over_real_tokens():
    pooled, weights = MeanPooling()(TOKENS, MASK)
    expected = torch.stack([tokens[:length].mean(0) for tokens, length in zip(TOKENS, LENGTHS, strict=True)])
    torch.testing.assert_close(pooled, expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3))
    torch.testing.assert_close(MeanPooling()(TOKENS)[0], TOKENS.mean(1))


def test_attention_pooling_is_one_learned_query():
    torch.manual_seed(0)
    pooling = AttentionPooling(8)
    pooled, weights = pooling(TOKENS, MASK)
    query = pooling.score.weight.expand(3, 1, 8)  # its bias moves all scores alike, which softmax does not see
    expected = F.scaled_dot_product_attention(query, TOKENS, TOKENS, MASK.unsqueeze(1), scale=1.0)
    torch.testing.assert_close(pooled, expected.squeeze(1))
    assert (weights[~MASK] == 0).all()


def test_a_sequence_of_nothing_but_padding_pools_to_zeros():
    nothing = torch.zeros(3, 6, dtype=torch.bool)
    for pooling in (MeanPooling(), AttentionPooling(8)):
        assert (pooling(TOKENS, nothing)[0] == 0).all()


def test_the_first_token_speaks_for_all():
    pooled, weights = FirstTokenPooling()(TOKENS)
    assert torch.equal(pooled, TOKENS[:, 0])
    assert torch.equal(weights, torch.eye(6)[:1].expand(3, 6))


@pytest.mark.parametrize("pooling", POOLINGS)
@torch.no_grad()
def test_padding_has_no_vote(pooling):
    model = classifier(pooling)
    logits, weights = model(SYMBOLS, MASK, need_weights=True)
    for row, length in enumerate(LENGTHS):
        torch.testing.assert_close(logits[row : row + 1], model(SYMBOLS[row : row + 1, :length])[0], atol=1e-5, rtol=0)
    extra = pooling == "cls"
    assert [w.shape for w in weights.blocks] == [(3, 2, 6 + extra, 6 + extra)] * 2
    assert (weights.pooling[:, extra:][~MASK] == 0).all()


@pytest.mark.parametrize("pooling", POOLINGS)
@torch.no_grad()
def test_without_positions_order_does_not_matter(pooling):
    shuffled = SYMBOLS[:, torch.randperm(6, generator=torch.Generator().manual_seed(2))]
    torch.testing.assert_close(classifier(pooling)(SYMBOLS)[0], classifier(pooling)(shuffled)[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("pooling", POOLINGS)
@torch.no_grad()
def test_positions_are_added_to_the_tokens(pooling):
    positions = SinusoidalPositions(16)
    plain, placed = classifier(pooling), classifier(pooling, positions=positions)
    plain.embed, embed = nn.Identity(), placed.embed
    torch.testing.assert_close(placed(SYMBOLS)[0], plain(positions(embed(SYMBOLS)))[0])
    assert not torch.allclose(placed(SYMBOLS)[0], plain(embed(SYMBOLS))[0], atol=1e-3)


@torch.no_grad()
def test_images_pass_through_it():
    model = Classifier(ImagePatches(2, 16), 10, 16, 2, 1, pooling="cls").eval()
    logits, weights = model(torch.rand(5, 8, 8), need_weights=True)
    assert logits.shape == (5, 10) and weights.blocks[0].shape == (5, 2, 17, 17)


@pytest.mark.parametrize(("pooling", "kind"), POOLINGS.items())
def test_a_name_chooses_its_pooling(pooling, kind):
    assert isinstance(classifier(pooling).pooling, kind)


def test_an_unknown_pooling_is_named():
    with pytest.raises(ValueError, match="pooling must be 'mean', 'cls' or 'attention', got 'max'"):
        Classifier(nn.Embedding(11, 16), 3, 16, 2, 1, pooling="max")
