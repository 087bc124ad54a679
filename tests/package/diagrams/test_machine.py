import pytest
import torch
from reading import SVG, close, drawn, parse, texts

from attention_course import diagrams
from attention_course.diagrams.machine import PARTS, SHOWN, STEPS
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

VOCABULARY = " abcdefg"


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return CausalLanguageModel(len(VOCABULARY), 16, 2, 3, attention=RotaryAttention())


def test_the_numbers_are_those_of_the_run(model):
    symbols = torch.tensor([[VOCABULARY.index(character) for character in "bad cab"]])
    seen = {}
    hooks = [
        block.register_forward_hook(lambda _, given, made, at=at: seen.update({at: made[0][0]}))
        for at, block in enumerate(model.blocks)
    ]
    with torch.no_grad():
        logits, weights = model(symbols, need_weights=True)
    for hook in hooks:
        hook.remove()
    picture = diagrams.machine(model, VOCABULARY, "bad cab")
    found = drawn(picture)
    assert close(found["embedding"], model.embedding(symbols)[0, :, :SHOWN].T)
    assert close(found["network"], seen[0][:, :SHOWN].T) and close(found["blocks"], seen[2][:, :SHOWN].T)
    likely, order = logits[0, -1].softmax(-1).topk(4)
    assert close(found["probabilities"], likely[None])
    lines = [float(path.get("data-value")) for path in parse(picture).iter(f"{SVG}path") if path.get("data-value")]
    assert lines == pytest.approx(weights[0][0, :, -1].mean(0).tolist(), abs=1e-3)
    written = VOCABULARY[order[0]].replace(" ", "\N{OPEN BOX}")
    assert texts(picture)[:8] == ["b", "a", "d", "\N{OPEN BOX}", "c", "a", "b", written]


def test_each_step_adds_to_the_one_before(model):
    sizes = [len(list(parse(diagrams.machine(model, VOCABULARY, "a bad", step)).iter())) for step in STEPS]
    assert sizes == sorted(set(sizes))


def test_every_part_is_named_from_the_first_step_on(model):
    """And drawn bold once it is there."""
    named = [what.format(2) for _, what, _ in PARTS.values()]
    for step, n_bold in (("text", 0), ("network", 3), ("written", 5)):
        picture = diagrams.machine(model, VOCABULARY, "a bad", step)
        bold = [text.text for text in parse(picture).iter(f"{SVG}text") if text.get("font-weight")]
        assert set(named) <= set(texts(picture)) and [name for name in bold if name in named] == named[:n_bold]


@pytest.mark.parametrize(
    ("options", "said"), [({"text": "a bad cab"}, "text must have 1 to 8"), ({"until": "end"}, "until must be one of")]
)
def test_what_cannot_be_drawn_is_refused(model, options, said):
    with pytest.raises(ValueError, match=said):
        diagrams.machine(model, VOCABULARY, **{"text": "a"} | options)
