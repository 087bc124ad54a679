"""The attention explorer on weights that a model hands over, and on many layers: what it takes, refuses and sends."""

import base64
import json
import re

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from own_models import PIECES, WORDS, attentions_of_bert, attentions_of_gpt2, weights_of_pytorch

from attention_course.explore import explore_attention

PRECISION = 1 / 8190


def explore(weights=None, **options):
    return explore_attention(weights=weights, **{"alt": "maps", **options})


def data_of(explorer):
    return json.loads(BeautifulSoup(explorer._repr_html_(), "html.parser").script.string)["values"]["data"]


def sent(explorer) -> np.ndarray:
    """The weights that travel, unpacked by another way than the view's: 24 bits at a time, the low half first."""
    data = data_of(explorer)
    (model,) = data["models"]
    assert model["numbers"]["dtype"] == "uint12"
    packed = base64.b64decode(model["numbers"]["bytes"])
    words = [int.from_bytes(packed[start : start + 3], "little") for start in range(0, len(packed), 3)]
    flat = np.array([step for word in words for step in (word % 4096, word // 4096)]) / 4095
    shape = (model["layers"], model["heads"], len(data["queries"]), len(data["keys"]))
    return flat[: np.prod(shape)].reshape(shape)


def random_weights(*shape, spread=3.0):
    return (torch.randn(*shape, generator=torch.Generator().manual_seed(0)) * spread).softmax(-1)


@pytest.mark.parametrize("shape", [(5, 5), (3, 5, 7), (2, 3, 5, 7), (1, 1, 1, 1), (2, 1, 3, 3)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_weights_arrive_to_the_stated_precision(shape, dtype):
    weights = random_weights(*shape).to(dtype)
    expected = weights.double().reshape((1,) * (4 - len(shape)) + shape)
    np.testing.assert_allclose(sent(explore(weights)), expected, rtol=0, atol=PRECISION)


@pytest.mark.parametrize(
    ("make", "tokens"), [(attentions_of_bert, WORDS), (attentions_of_gpt2, PIECES)], ids=["BERT", "GPT-2 in bfloat16"]
)
def test_attentions_of_transformers_are_taken_as_they_come(make, tokens):
    pytest.importorskip("transformers")
    attentions = make()
    assert attentions[0].requires_grad and attentions[0].ndim == 4
    explorer = explore(attentions, tokens=tokens)
    expected = torch.stack(attentions)[:, 0].detach().double()
    np.testing.assert_allclose(sent(explorer), expected, rtol=0, atol=PRECISION)
    assert data_of(explorer)["keys"] == tokens


@pytest.mark.parametrize("batch", [True, False])
def test_weights_of_pytorchs_layer_are_taken_as_they_come(batch):
    weights = weights_of_pytorch(batch)
    np.testing.assert_allclose(sent(explore(weights)), weights.detach().reshape(1, 4, 5, 5), rtol=0, atol=PRECISION)


def test_a_query_that_may_attend_to_nothing_has_a_row_of_zeros():
    weights = random_weights(1, 3, 3)
    weights[0, 1] = 0
    assert (sent(explore(weights))[0, 0, 1] == 0).all()


def test_weights_of_bfloat16_that_were_cast_since_are_no_less_right():
    """Rounding moves a row's sum by up to 1/256, and the dtype does not tell any more."""
    weights = torch.tensor([0.7512, 0.2488]).bfloat16().float()
    assert abs(weights.sum() - 1) > 9e-4
    explore([[w.item() for w in weights]], keys="ab")


def layer_of_pytorch(*shape, **options):
    """All that PyTorch's layer returns: its output, and its weights."""
    x = torch.randn(*shape)
    return torch.nn.MultiheadAttention(8, 2, **options)(x, x, x, average_attn_weights=False)


def test_lists_are_taken():
    """Of rows, of arrays, and of tensors that are part of a graph, which NumPy itself refuses."""
    rows = random_weights(2, 3, 3).double().numpy()
    maps = [torch.tensor(each, requires_grad=True) for each in rows]
    for given in ([list(rows) for rows in rows], [list(map(list, rows)) for rows in rows], list(rows), maps):
        np.testing.assert_allclose(sent(explore(given))[0], rows, rtol=0, atol=PRECISION)


@pytest.mark.parametrize(
    ("shape", "options"), [((1, 3, 8), {"batch_first": True}), ((3, 1, 8), {}), ((3, 8), {}), ((3, 2, 8), {})]
)
def test_output_and_weights_of_a_layer_are_told_apart(shape, options):
    with pytest.raises(ValueError, match=r"PyTorch returns output and weights: give the second, as weights=\.\.\."):
        explore(layer_of_pytorch(*shape, **options))


MAPS = random_weights(4, 4, 4)
BATCH = MAPS[None]
LAYERS = torch.ones(2, 1, 1, 1)


@pytest.mark.parametrize(
    ("message", "weights", "options"),
    [
        ("got 4 that do not; that of layer 1, head 4.*columns do: are queries", [*MAPS[:3], MAPS[3].T], {}),
        ("sums to 0.7 .*cut off, is there a sink beside the keys", 0.7 * MAPS, {}),
        ("rows that sum to 1.*is a dropout on", torch.nn.functional.dropout(MAPS[:1], 0.5), {}),
        ("must not be negative, got -0.5: are they scores", [[-0.5, 1.5]], {}),
        ("finite, got 2 values that are not .whole rows: is every key", [[np.nan] * 2, [1.0, 0.0]], {}),
        ("finite, got 1 values that are not$", [[np.nan, 1.0]], {}),
        (r"got \(3, 1, 4, 4, 4\) \(with a batch\?.*weights\[:, 0\]", torch.stack([BATCH] * 3), {}),
        ("got None for layer 2: where only some.*if layer is not None", (MAPS, None), {}),
        ('got none at all: .*attn_implementation="eager"', (), {}),  # what transformers 5 gives without it
        ('got None: .*attn_implementation="eager"', (None, None), {}),  # and transformers 4
        (r"got a tuple of them for each \(generate\(\) .* on the whole text\)", ((BATCH, BATCH), (BATCH, BATCH)), {}),
        (r"same shape .* \(cross-attention has other keys.*with keys=\.\.\.\)", (BATCH, BATCH[..., :3]), {}),
        (r"got \(1, 1, 1\) in the first and \(2, 1, 1\) in layer 2", (torch.ones(1, 1, 1), torch.ones(2, 1, 1)), {}),
        (r"weights\[0\] must be of one text.*got a batch of 3: choose one", (torch.ones(3, 1, 1, 1),), {}),
        (r"tokens must .*got shape \(1, 4\): of a batch give tokens\[0\]", MAPS, {"tokens": torch.ones(1, 4)}),
        (r"tokens must have 4 labels, got 14 \(the characters", MAPS, {"tokens": "four short now"}),
        (r"query must .*0..127, got 150 \(only the first 128 of 200 tokens", torch.eye(200), {"query": 150}),
        ("mask, length and temperature must be left out.*temperature=2", MAPS, {"temperature": 2}),
        ("mask, length and temperature must be left out.*mask='causal'", MAPS, {"mask": "causal"}),
        ("mask, length and temperature must be left out.*length=1", MAPS, {"length": 1}),
        ("layer must be a whole number in 1..2, got 3", LAYERS, {"layer": 3}),
        ("head must be a whole number in 1..1, got 0", LAYERS, {"head": 0}),
    ],
)
def test_bad_weights_are_named(message, weights, options):
    with pytest.raises(ValueError, match=message):
        explore(weights, **options)


def test_scores_and_weights_are_not_both_taken():
    with pytest.raises(TypeError, match="either scores or weights must be given, got both"):
        explore_attention([[2.0]], weights=[[2.0]], alt="maps")


def test_weights_that_were_never_kept_are_told_how_to_keep_them():
    """`output.attentions` without the flag, and the second output of PyTorch's layer with need_weights=False."""
    layer = torch.nn.MultiheadAttention(8, 2)
    nothing = layer(*[torch.randn(3, 8)] * 3, need_weights=False)[1]
    told = r'got neither: .*attn_implementation="eager".*output_attentions=True.*nn.MultiheadAttention.*need_weights'
    with pytest.raises(TypeError, match=told):
        explore(nothing)


@pytest.mark.parametrize("mask", [0, -torch.inf])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_weights_in_the_place_of_scores_are_refused(mask, dtype):
    """Their softmax would be drawn, nearly uniform: of a decoder or not, all heads or one."""
    above = torch.ones(5, 5).triu(1) > 0
    scores = 3 * torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(0))
    weights = scores.masked_fill(above, mask).softmax(-1).to(dtype)
    for given in (weights, weights[0], (weights, weights)):
        with pytest.raises(ValueError, match=r"scores must be raw scores.*rows that all sum to 1.*weights=\.\.\."):
            explore_attention(given, "abcde", alt="maps")


@pytest.mark.parametrize(
    "scores",
    [
        torch.tensor([[0.2, 0.8], [0.5, 0.6]]),
        torch.tensor([[-0.2, 1.2], [0.5, 0.5]]),
        torch.ones(3, 1),
        torch.zeros(2, 2),
        random_weights(3, 3).log(),
    ],
    ids=["one row of another sum", "a negative score", "a single key", "zeros", "logarithms of weights"],
)
def test_scores_that_are_not_weights_are_taken(scores):
    explore_attention(scores, keys=range(scores.size(1)), alt="maps")


def names(explorer):
    return [control.name for control in explorer.controls]


def test_weights_have_no_temperature_and_no_mask():
    assert names(explore(random_weights(2, 3, 4, 4))) == ["layer", "head"]
    assert names(explore(random_weights(4, 4))) == []
    assert [names(explore(random_weights(n, n))) for n in (20, 21)] == [[], ["faint"]]
    box, view = explore(random_weights(21, 21)).widget.children
    assert (box.description, box.value, view.faint) == ("show faint weights", False, False)
    scores = torch.randn(2, 3, 4, 4)
    assert names(explore_attention(scores, alt="maps")) == ["temperature", "layer", "head", "mask"]


@pytest.mark.parametrize("causal", [False, True])
def test_near_even_weights_start_in_stronger_colours(causal):
    """Half of the rows have no weight of 1/5: drawn as they are, the maps would look blank."""
    scores = 0.1 * torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    blind = torch.ones(64, 64).triu(1).bool()
    even = scores.masked_fill(blind, -torch.inf).softmax(-1) if causal else scores.softmax(-1)
    sharp = 0.7 * torch.eye(64) + 0.3 * even
    pictures = {}
    for weights, faint in ((even, True), (sharp, False)):
        explorer = explore(weights)
        box = next(child for child in explorer.widget.children if child.description == "show faint weights")
        assert (box.value, explorer.widget.children[-1].faint) == (faint, faint)
        pictures[faint] = explorer.first_state
    assert "middle: 0.25" in pictures[True] and "middle" not in pictures[False]
    # The picture without a script: the shade of the square root, to the nearest of 8 or 20.
    shades = {float(shade) for shade in re.findall(r'stroke-opacity="([\d.]+)" d=', pictures[True])}
    levels = 20 if even.numel() <= 2**16 else 8
    drawn = np.unique(np.rint(even.sqrt().numpy() * levels))
    assert sorted(shades) == pytest.approx([level / levels for level in drawn if level])


CUT = "; what a row gives to later keys is not shown"


def test_what_is_too_large_is_cut_and_says_so():
    """Twelve layers of twelve heads hold 64 tokens; fewer maps hold more, more maps fewer; never more than 128."""
    explorer = explore(random_weights(12, 12, 80, 80), tokens=[f"t{i}" for i in range(80)])
    np.testing.assert_allclose(sent(explorer), random_weights(12, 12, 80, 80)[..., :64, :64], rtol=0, atol=PRECISION)
    data = data_of(explorer)
    assert data["keys"][-1] == "t63" and data["models"][0]["note"] == f"only the first 64 of 80 tokens{CUT}"
    assert "only the first 64 of 80 tokens" in explorer.first_state
    for shape, note in {
        (12, 12, 64, 64): "",
        (1, 1, 128, 128): "",
        (1, 1, 200, 3): "only the first 128 of 200 queries",
        (1, 1, 3, 200): f"only the first 128 of 200 keys{CUT}",
        (24, 16, 50, 50): f"only the first 39 of 50 tokens{CUT}",
    }.items():
        assert data_of(explore(random_weights(*shape)))["models"][0]["note"] == note


def test_scores_that_are_cut_keep_the_mask_where_it_was():
    """Of 200 keys the last of four queries sees the last, which is not drawn; weights are those among the rest."""
    scores = torch.zeros(4, 200)
    scores[:, 127] = 20  # each query would look at the last key that is drawn
    drawn = {}
    for mask in ("none", "causal", "sliding window"):
        explorer = explore_attention(scores, range(4), keys=range(200), mask=mask, alt="Four ask.")
        data = data_of(explorer)
        assert data["models"][0]["note"] == "only the first 128 of 200 keys; weights are those among these keys alone"
        assert (data["cut"], data["offset"], len(data["keys"])) == (True, 196, 128)
        drawn[mask] = [path["d"] for path in BeautifulSoup(explorer.first_state, "html.parser").find_all("path")]
    assert drawn["none"] == drawn["causal"] != [] and drawn["sliding window"] == []
    data = data_of(explore_attention(torch.zeros(2, 3), "ab", keys="cde", alt="Two ask."))
    assert (data["cut"], data["offset"]) == (False, 1)


@pytest.mark.parametrize("spread", [1, 3, 6])
def test_a_page_with_twelve_times_twelve_maps_stays_below_a_megabyte_and_a_half(spread):
    assert len(explore(random_weights(12, 12, 64, 64, spread=spread))._repr_html_()) < 1_500_000


LEGEND = ["rows are queries, columns are keys", "weight 0", "1"]


def test_the_first_state_is_what_was_asked_for():
    """All maps with their names, or one with its name and its tokens: weights of a half, and of one, in twentieths."""
    weights = torch.full((2, 2, 2, 2), 0.5)
    weights[1, 0] = torch.eye(2)
    drawing = BeautifulSoup(explore(weights, tokens="ab").first_state, "html.parser")
    named = [f"layer {layer}, head {head}" for layer in (1, 2) for head in (1, 2)]
    assert [text.string for text in drawing.find_all("text")] == [*named, *LEGEND]
    assert [path["stroke-opacity"] for path in drawing.find_all("path")] == ["0.5", "0.5", "1", "0.5"]
    one = BeautifulSoup(explore(weights, tokens="ab", layer=2, head=1).first_state, "html.parser")
    assert [text.string for text in one.find_all("text")] == ["a", "b", "a", "b", "layer 2, head 1", *LEGEND]
    assert [(path["stroke-opacity"], path["d"]) for path in one.find_all("path")] == [("1", "m0 0h1m0 1h1")]


def test_weak_weights_are_drawn_however_many_maps_there_are():
    """To the nearest twentieth, or to the nearest eighth where there are more than 65,536 cells."""
    for shape, shade in (((12, 12, 12, 12), "0.1"), ((24, 24, 12, 12), "0.125"), ((3, 12, 20, 20), "0.05")):
        drawing = BeautifulSoup(explore(torch.ones(shape) / shape[-1]).first_state, "html.parser")
        assert [path["stroke-opacity"] for path in drawing.find_all("path")] == [shade] * shape[0] * shape[1]
