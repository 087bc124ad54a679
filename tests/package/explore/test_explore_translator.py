"""What `explore_model` hands to the browser of a translator, and what it refuses."""

import pytest
import torch
from test_explore_model import in_node

from attention_course.attention import MultiHeadAttention
from attention_course.embeddings import ImagePatches
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore import explore_model
from attention_course.explore.explorer import VIEWS
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import LearnedPositions, RotaryAttention
from attention_course.support import float16_weights

WORDS = ["<pad>", ".", "a", "b<", "c&d"]


def make(n_symbols=5, **options) -> EncoderDecoder:
    torch.manual_seed(0)
    return EncoderDecoder(n_symbols, 8, 2, 3, **options)


def test_what_the_browser_is_given():
    model = make(pad=0)
    data = explore_model(
        model, WORDS, "b< a.", alt="A translator.", examples=["a"], limit=7, source_words=["a", "b<", "."]
    ).values["data"]
    sizes = {"blocks": 3, "heads": 2, "keyHeads": 2, "headWidth": 4, "base": 10_000.0, "epsilon": 1e-5, "start": 5}
    assert data["sizes"] == sizes
    once = {name: value for name, value in model.state_dict().items() if name != "embed_source.weight"}  # is shared
    packed = float16_weights.pack_matrices(once)
    assert {"weights": data["checkpoint"], "shapes": data["shapes"]} == packed
    assert ["embedding.weight", 6, 8] in data["shapes"]
    assert (data["text"], data["examples"], data["limit"], data["end"]) == ("b< a.", ["a"], 7, ".")
    assert data["vocabulary"] == WORDS and data["words"] == ["a", "b<", "."]
    assert explore_model(model, WORDS, "a", alt="A translator.").values["data"]["words"] == WORDS[1:]
    twice = explore_model(model, WORDS, "a", alt="A translator.", source_words=["b<", "a", "b<"])
    assert twice.values["data"]["words"] == ["b<", "a"]
    assert explore_model(make(), WORDS, "a", alt="A translator.").values["data"]["words"] == WORDS


def test_the_first_state_is_the_translation_and_its_mean_map():
    """Words as text, the greedy translation up to its end, and a map of as many rows and columns."""
    model = make(pad=0)
    for bias, n_words in ((0.0, 6), (30.0, 1)):  # the second writes the end at once
        with torch.no_grad():
            model.lm_head.bias[1] = bias
        first = explore_model(model, WORDS, "c&d b<.", alt="A translator.", limit=6).first_state
        symbols = model.generate(torch.tensor([[4, 3, 1]]), 6)[0].tolist()
        written = [WORDS[symbol] for symbol in symbols][:n_words]
        assert n_words == 1 or 1 not in symbols
        told = " ".join(written).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        assert f"“c&amp;d b&lt; .” is translated as “{told}”." in first
        assert first.count("<text") == n_words + 3 + 3  # and the legend's


def test_what_the_browser_cannot_compute_is_refused():
    image = EncoderDecoder(5, 8, 2, 1, embed_source=ImagePatches(2, 8))
    learned, grouped, rotary = make(), make(), make()
    learned.positions = LearnedPositions(9, 8)
    grouped.decoder.blocks[1].cross_attention = torch.nn.Identity()
    rotary.encoder.blocks[0].attention = MultiHeadAttention(8, 2, attention=RotaryAttention())
    for model, said in [
        (image, "read symbols, got embed_source ImagePatches"),
        (learned, "sinusoidal positions, got LearnedPositions"),
        (make(norm_first=False), "pre-norm"),
        (grouped, "MultiHeadAttention"),
        (rotary, "dot-product attention"),
    ]:
        with pytest.raises(TypeError, match=said):
            explore_model(model, WORDS, "a", alt="A translator.")


def test_arguments_of_the_other_kind_are_refused():
    language_model = CausalLanguageModel(5, 8, 2, 1, attention=RotaryAttention())
    with pytest.raises(TypeError, match="unmasked must be None"):
        explore_model(make(), WORDS, "a", alt="A translator.", unmasked=language_model)
    with pytest.raises(TypeError, match="source_words must be None"):
        explore_model(language_model, "abcde", "a", alt="A model.", source_words=["a"])


@pytest.mark.parametrize(
    ("message", "vocabulary"),
    [
        ("5 different words, got 4", WORDS[:4]),
        ("5 different words, got 4", [*WORDS[:4], "a"]),
        ("without spaces", [*WORDS[:4], "a b"]),
        ("without spaces", [*WORDS[:4], ""]),
        ("without spaces and without", [*WORDS[:4], "e.g."]),
        ("end must be in vocabulary", ["<pad>", "!", *WORDS[2:]]),
    ],
)
def test_words_that_do_not_fit_are_refused(message, vocabulary):
    with pytest.raises(ValueError, match=message):
        explore_model(make(pad=0), vocabulary, "a", alt="A translator.")


@pytest.mark.parametrize(
    ("message", "text", "options"),
    [
        *(("^text must be 1 to 3 words that may be typed", text, {}) for text in ("", "a a a .", "a e", "c&d")),
        (r"^examples\[1\] must be 1 to 3 words that may be typed, got '<pad>'", "a", {"examples": ["a", "<pad>"]}),
        ("source_words must be in vocabulary, and no padding, got {'e'}", "a", {"source_words": ["a", "a", "e"]}),
        ("source_words must be in vocabulary, and no padding, got {'<pad>'}", "a", {"source_words": ["a", "<pad>"]}),
    ],
)
def test_sentences_that_do_not_fit_are_refused(message, text, options):
    with pytest.raises(ValueError, match=message):
        explore_model(make(pad=0), WORDS, text, **{"limit": 3, "alt": "A translator.", "source_words": "a."} | options)


def test_probabilities_are_told_in_words(tmp_path):
    """In percent, to three digits; what is below a hundred-millionth, as that."""
    shares = {1: "100%", 0.98612: "98.6%", 0.5: "50%", 0.001: "0.1%", 0.00034: "0.034%", 1.04e-6: "0.000104%"}
    shares |= {1e-8: "0.000001%", 1e-13: "less than 0.000001%"}
    told = in_node(f"{list(shares)}.map(tellRate)", VIEWS / "live" / "omissions.js", tmp_path)
    assert told == list(shares.values())


def test_what_has_hardly_any_weight_is_not_told_as_seen(tmp_path):
    """Below a half of a hundredth; the largest is always told."""
    rows = [[0.3, 0.004, 0.0051, 0.691], [0, 0, 1], [0.001, 0.002]]
    told = in_node(f"{rows}.map((row) => mostSeen(row, 3))", VIEWS / "live" / "numbers.js", tmp_path)
    assert told == [[3, 0, 2], [2], [1]]


def test_what_is_not_zero_is_not_told_as_zero(tmp_path):
    told = in_node("[0.5, 0.00051, 0.00049].map(tellShare)", VIEWS / "live" / "instead.js", tmp_path)
    assert told == ["50.0%", "0.1%", "<0.1%"]
