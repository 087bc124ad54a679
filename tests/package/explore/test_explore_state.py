"""The explorer of a state as Python makes it: what it refuses, what it starts with, and what it hands to a browser."""

import json
import re

import pytest
import torch
from bs4 import BeautifulSoup
from refusing import refuses

from attention_course.explore import explore_state
from attention_course.explore.state import read_state
from attention_course.explore.state_picture import find_answer

NAMES = ["Ann", "Ben", "Cem", "Dan", "Eva"]
# Of length 1, and overlapping by a half or not at all: in float64 nothing that is computed of them is rounded.
KEYS = torch.tensor([[1, 1, 1, 1], [1, 1, -1, -1], [2, 0, 0, 0], [1, -1, 1, -1], [1, 1, 1, -1]]) / 2
PAIRS = [("Ann", "C"), ("Ben", "A"), ("Cem", "B"), ("Ann", "A"), ("Dan", "C"), ("Ann", "B"), ("Eva", "A")]


def state(keys=KEYS, pairs=PAIRS, names=NAMES, letters="ABC", **options):
    return explore_state(names, keys, pairs, letters, **{"alt": "Pairs in a state.", **options})


def page(explorer):
    return BeautifulSoup(explorer._repr_html_(), "html.parser")


def payload(explorer):
    return json.loads(page(explorer).script.string)


def by_hand(keys, pairs, n_letters, delta, kept):
    """The definition as one would write it down, in plain numbers."""
    width = keys.size(1)
    matrix = [[0.0] * n_letters for _ in range(width)]
    for name, letter in pairs:
        key = keys[name].tolist()
        matrix = [[kept * value for value in row] for row in matrix]
        for j in range(n_letters):
            found = sum(key[i] * matrix[i][j] for i in range(width)) if delta else 0
            new = (j == letter) - found
            for i in range(width):
                matrix[i][j] += key[i] * new
    return torch.tensor(matrix, dtype=torch.float64)


test_bad_input_is_named = refuses(
    (r"names must be 1 to 12 different words .* got \['Ann', 'Ann'\]", lambda: state(names=["Ann", "Ann"])),
    (r"names must be .* of at most 4 characters", lambda: state(names=["Annabel", *NAMES[1:]])),
    (r"letters must be 2 to 6 different words", lambda: state(letters="ABCDEFG")),
    (r"letters must be", lambda: state(letters=[1, 2])),
    (r"letters must be 2 to 6 different words of one character", lambda: state(letters=["A", "BC"])),
    (r"keys must have shape \(5, d_k\), .* got \(4, 4\)", lambda: state(KEYS[:4])),
    (r"keys must have shape .* d_k at most 12, got \(5, 13\)", lambda: state(torch.ones(5, 13))),
    (r"keys must have rows of length 1, got lengths \[2.0, ", lambda: state(KEYS * 2)),
    (r"keys must have rows of length 1, got lengths \[nan, ", lambda: state(KEYS * float("nan"))),
    (r"pairs must be 1 to 24 pairs, got 0", lambda: state(pairs=[])),
    (r"pairs must be 1 to 24 pairs, got 28", lambda: state(pairs=PAIRS * 4)),
    (r"pairs must be of a name .* got \('Fei', 'A'\)", lambda: state(pairs=[("Fei", "A")])),
    (r"pairs must be of a name .* got \('Ann', 'D'\)", lambda: state(pairs=[("Ann", "D")])),
    (r"pairs must be of a name .* got \('Ann',\)", lambda: state(pairs=[("Ann",)])),
    (r"written must be a whole number in 1..7 \(the pairs\), got 0", lambda: state(written=0)),
    (r"written must be .* got 8", lambda: state(written=8)),
    (r"kept must be one of 0.5, 0.55, .* 1, got 0.73", lambda: state(kept=0.73)),
)


@pytest.mark.parametrize("delta", [False, True])
@pytest.mark.parametrize("kept", [0.5, 1.0])
def test_the_first_state_is_computed_by_the_definition(delta, kept):
    pairs = [(NAMES.index(name), "ABC".index(letter)) for name, letter in PAIRS]
    for written in range(1, len(pairs) + 1):
        found, readings = read_state(KEYS.double(), pairs[:written], 3, delta=delta, kept=kept)
        expected = by_hand(KEYS, pairs[:written], 3, delta, kept)
        assert torch.equal(found, expected)
        assert torch.equal(readings, KEYS.double() @ expected)


def test_the_first_state_shows_numbers_answers_and_how_many_are_right():
    """Orthogonal keys: adding, Ann reads both her letters alike, and the delta rule has only the later one."""
    pairs = [("Ann", "C"), ("Ben", "A"), ("Ann", "B"), ("Dan", "C")]
    keys = torch.eye(4)[[0, 1, 2, 3, 3]]
    for delta, letters, answer, right in ((False, "011", "✗ tie", "1 of 2"), (True, "010", "✓ B", "2 of 2")):
        drawing = page(state(keys, pairs, delta=delta, written=3)).svg
        texts = [text.string for text in drawing.find_all("text")]
        assert texts[:4] == ["Ann → C", "Ben → A", "Ann → B", "Dan → C"]
        ann = texts.index("Ann")
        assert texts[ann + 1 : ann + 4] == [digit if digit == "0" else "1.00" for digit in letters]
        assert texts[-3:] == [answer, "✓ A", f"Right: {right}"]
        assert "Dan" in texts and texts.index("Eva") == texts.index("Dan") + 1  # nothing is read by who was not written
        struck = [text.string for text in drawing.find_all("text", attrs={"text-decoration": "line-through"})]
        assert struck == ["Ann → C"]
        boxes = drawing.find_all("rect", attrs={"rx": True})
        assert [box.get("stroke-dasharray") for box in boxes] == [None, None, None, "3"]
        assert [box.get("stroke-width") for box in boxes] == [None, None, "2", None]
    assert drawing["role"] == "img" and drawing["aria-label"] == "Pairs in a state."


def test_a_negative_number_has_a_sign_and_another_colour():
    drawing = page(state(torch.tensor([[-1.0, 0.0]] * 5), PAIRS[:1])).svg
    (text,) = [text for text in drawing.find_all("text") if text.string == "−1.00"]
    assert text.find_previous("rect")["fill"] == "#D55E00"


def test_the_largest_number_is_the_answer_unless_there_are_two():
    assert find_answer([0.1, -0.5, 0.3]) == 2
    assert find_answer([0.3, 0.3 + 1e-12, 0.1]) is None
    assert find_answer([0.3, 0.3 + 1e-6, 0.1]) == 1


def test_a_browser_is_given_the_keys_to_the_last_bit_and_where_to_start():
    keys = torch.nn.functional.normalize(torch.randn(5, 4), dim=-1).requires_grad_()
    values = payload(state(keys, delta=True, kept=0.8, written=3))["values"]
    assert torch.equal(torch.tensor(values["data"]["keys"], dtype=torch.float64), keys.detach().double())
    assert values["data"]["pairs"] == [[0, 2], [1, 0], [2, 1], [0, 0], [3, 2], [0, 1], [4, 0]]
    assert (values["rule"], values["data"]["shares"][values["kept"]], values["written"]) == (1, 0.8, 3)
    values = payload(state())["values"]
    assert (values["rule"], values["data"]["shares"][values["kept"]], values["written"]) == (0, 1, 7)


def test_no_word_is_ever_html():
    names, letters = ["<i>", "&lt;", *NAMES[2:]], ["<", "&", "C"]
    explorer = state(pairs=[("<i>", "<"), ("&lt;", "&")], names=names, letters=letters, alt="</script><b>")
    assert len(page(explorer).find_all("script")) == 1
    assert page(explorer).find_all(["img", "i", "b"]) == []
    assert {text.string for text in page(explorer).find_all("text")} >= {"<i> → <", "&lt; → &", "<"}
    attributes = {name for tag in page(explorer).find_all(True) for name in tag.attrs}
    assert not [name for name in attributes if name == "style" or re.match("on", name)]


def test_it_is_offered_as_widgets_and_saved_as_files(tmp_path):
    explorer = state(delta=True, kept=0.9)
    assert "text/html" in explorer._repr_mimebundle_()[0]
    *controls, view = explorer.widget.children
    assert [control.description for control in controls] == ["rule", "kept", "written"]
    assert (controls[0].index, controls[1].value, controls[2].value) == (1, "0.9", "7 of 7")
    assert (view.rule, view.kept, view.written) == (1, 8, 7)
    explorer.save(tmp_path / "state.svg")
    assert "Ann → C" in (tmp_path / "state.svg").read_text()
    explorer.save(tmp_path / "state.html")
    assert 'data-view="state"' in (tmp_path / "state.html").read_text()
