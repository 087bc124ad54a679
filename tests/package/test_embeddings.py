import torch
from refusing import refuses

from attention_course.embeddings import FeatureTokens, ImagePatches


def test_patches_are_squares_of_the_image_row_by_row():
    images = torch.rand(2, 4, 6, generator=torch.Generator().manual_seed(0))
    embed = ImagePatches(2, 4)
    torch.nn.init.eye_(embed.proj.weight)
    torch.nn.init.zeros_(embed.proj.bias)
    tokens = embed(images)
    squares = [images[:, top : top + 2, left : left + 2].flatten(1) for top in (0, 2) for left in (0, 2, 4)]
    torch.testing.assert_close(tokens, torch.stack(squares, dim=1))


def test_a_feature_is_its_number_times_a_direction_plus_a_place():
    torch.manual_seed(0)
    embed = FeatureTokens(3, 8)
    features = torch.randn(2, 3)
    expected = torch.einsum("bf,fd->bfd", features, embed.direction) + embed.place
    torch.testing.assert_close(embed(features), expected)


def test_directions_and_places_begin_with_lengths_of_about_one():
    torch.manual_seed(0)
    embed = FeatureTokens(50, 64)
    for vectors in (embed.direction, embed.place):
        assert (vectors.norm(dim=-1) - 1).abs().max() < 0.5


test_bad_input_is_named = refuses(
    ("both sides multiples of 3, got \\(2, 8, 9\\)", lambda: ImagePatches(3, 4)(torch.zeros(2, 8, 9))),
    ("images must have shape", lambda: ImagePatches(2, 4)(torch.zeros(2, 1, 8, 8))),
    ("features must have shape \\(batch, 4\\), got \\(2, 3\\)", lambda: FeatureTokens(4, 8)(torch.zeros(2, 3))),
)
