"""The pictures of masks show what the masks and PyTorch say."""

import torch
import torch.nn.functional as F
from reading import close, drawn, texts

from attention_course import causal_mask, diagrams, padding_mask, prefix_mask, sliding_window_mask

WORDS = ["a", "cup", "of", "tea", "pad", "pad"]
PADDING = padding_mask(torch.tensor([4]), 6)[0, 0].expand(6, 6)


def test_three_masks_are_drawn_as_they_are():
    shown = {"causal": causal_mask(6), "padding": PADDING, "window": sliding_window_mask(6, 1)}
    picture = diagrams.masks([(name, f"hides by {name}", mask) for name, mask in shown.items()], WORDS)
    cells = drawn(picture)
    assert list(cells) == list(shown)
    assert all(close(cells[name], mask) for name, mask in shown.items())
    written = texts(picture)
    assert [written.count(word) for word in ("cup", "pad", "causal", "hides by window")] == [4, 8, 1, 1]


def test_combinations_stand_beside_what_they_combine():
    first = (torch.arange(6) < 2).expand(6, 6)
    picture = diagrams.combined(
        [
            ("causal", causal_mask(6), "&", "real", PADDING, "both", causal_mask(6) & PADDING),
            ("causal", causal_mask(6), "|", "first two", first, "prefix", prefix_mask(6, 2)),
        ]
    )
    cells = drawn(picture)
    assert close(cells["1: causal"], causal_mask(6)) and close(cells["2: causal"], causal_mask(6))
    assert close(cells["1: real"], PADDING) and close(cells["2: first two"], first)
    assert close(cells["1: both"], causal_mask(6) & PADDING) and close(cells["2: prefix"], prefix_mask(6, 2))
    written = texts(picture)
    assert [written.count(sign) for sign in ("&", "|", "=")] == [1, 1, 2]
    assert "causal or first two gives prefix." in picture.alt


def test_fewer_queries_are_the_last_ones():
    picture = diagrams.one_mask(causal_mask(2, 5), "two ask")
    assert close(drawn(picture)["mask"], causal_mask(2, 5))
    written = texts(picture)
    assert [written.count(place) for place in "12345"] == [1, 1, 1, 2, 2]
    assert "two ask" in written


def test_both_corners_show_the_weights_of_pytorch():
    query, key, value = torch.zeros(3, 4), torch.zeros(5, 4), torch.eye(5)
    by_flag = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    by_corner = F.scaled_dot_product_attention(query, key, value, attn_mask=causal_mask(3, 5))
    picture = diagrams.corners(by_flag, by_corner)
    cells = drawn(picture)
    assert close(cells["top left"], by_flag) and close(cells["bottom right"], by_corner)
    written = texts(picture)
    assert "nobody sees the last 2 keys" in picture.alt and not by_flag[:, -2:].any()
    assert [written.count(word) for word in ("token 2", "token 3", "token 5", "kept", "new")] == [0, 1, 1, 2, 2]


def test_influence_of_the_future_is_negative():
    influence = torch.rand(5, 5, generator=torch.Generator().manual_seed(0))
    picture = diagrams.reaches({name: influence * scale for scale, name in enumerate("abcd", 1)})
    cells = torch.tensor(drawn(picture)["b"])
    assert "colours compare within a row; weak ones are lifted" in texts(picture)
    share = (influence / influence.amax(1, keepdim=True)).sqrt().double()
    assert torch.allclose(cells.tril(), share.tril(), atol=1e-3)
    assert torch.allclose(cells.triu(1), -share.triu(1), atol=1e-3) and (cells.triu(1) < 0).any()
    influence[2] = 0  # a prediction that reacts to nothing
    cells = drawn(diagrams.reaches(dict.fromkeys("abcd", influence)))["a"]
    assert not cells[2].any() and close(cells[1], torch.tensor(drawn(picture)["a"][1]))


def test_a_row_of_nan_is_said_and_not_drawn():
    table = {
        "fill": {"float32": torch.full((4,), torch.nan), "float16": torch.full((4,), 0.25).half()},
        "fill 0": {"float32": torch.zeros(4), "float16": torch.zeros(4).half()},
        "nn.Multihead-\nAttention": {"float32": torch.tensor([0.5, 0.375, 0.125, 0]), "float16": torch.zeros(4).half()},
    }
    picture = diagrams.empty_rows(table)
    cells = drawn(picture)
    layer = "nn.MultiheadAttention"
    filled = ["fill, float16", "fill 0, float32", "fill 0, float16"]
    assert [name for name in cells if name.startswith("fill")] == filled
    assert close(cells[f"{layer}, float32"], torch.tensor([[0.5, 0.375, 0.125, 0]]))
    assert close(cells["fill, float16"], torch.full((1, 4), 0.25)) and not cells["fill 0, float32"].any()
    written = texts(picture)
    assert [written.count(word) for word in ("NaN", ".25", "0", "fill 0")] == [1, 4, 13, 1]
    assert written.index("Attention") == written.index("nn.Multihead-") + 1
    assert "fill: float32 NaN, float16 0.25 each." in picture.alt
    assert f"fill 0: float32 zeros, float16 zeros. {layer}: float32 0.50, 0.38, 0.12, 0.00, float16" in picture.alt
