"""The pictures of circuits show the weights and the scores they are given."""

import numpy as np
import torch
from reading import SVG, drawn, parse, texts

from attention_course import diagrams
from attention_course.course import recorded

NAMES = list("abcdefabc")
PERIOD = 6


def weights(seed):
    torch.manual_seed(seed)
    hidden = torch.ones(9, 9, dtype=torch.bool).triu(1)
    return (3 * torch.randn(9, 9)).masked_fill(hidden, -torch.inf).softmax(-1)


def lines(picture):
    """Of each line its thickness, and for both ends over which token and how far down they are."""
    found = []
    for line in parse(picture).iter(f"{SVG}path"):
        if line.get("data-value"):
            ends = [tuple(map(float, point.split())) for point in line.get("d")[1:].split("L")]
            found.append((float(line.get("data-value")), *((int((x - 6) / 52), y) for x, y in ends)))  # 9 in 468
    return found


def test_lines_are_the_weights_of_the_first_head_and_of_the_last_query_of_the_second():
    """And each leads from the token that asks to the one that is looked at, from the edge of a box to another's."""
    previous, induction = weights(0), weights(1)
    shown = lines(diagrams.induction_circuit(NAMES, previous, induction, PERIOD, "d", 0.9))
    places = [((key, 294), (query, 210), previous[query, key]) for query in range(9) for key in range(9)]
    places += [((key, 182), (8, 98), induction[8, key]) for key in range(9)]
    expected = [(weight.item(), start, end) for start, end, weight in places if weight > 0.04]
    assert [ends for _, *ends in shown] == [ends for _, *ends in expected]
    assert np.allclose([thickness for thickness, *_ in shown], [weight for weight, *_ in expected], atol=1e-4)


def test_the_two_weights_of_the_circuit_and_what_the_model_says_are_written():
    previous, induction = weights(0), weights(1)
    written = texts(diagrams.induction_circuit(NAMES, previous, induction, PERIOD, "d", 0.9))
    assert f"block 1, previous-token head: {previous[3, 2]:.0%}" in written  # d, noted: c
    assert f"block 2, induction head: {induction[8, 3]:.0%}" in written  # the last c looks at d
    assert "next: d, 90%" in written


def test_the_recorded_circuit_finds_the_letter_behind_the_earlier_copy():
    shown = recorded.load("circuits")["shown"]
    answer = len(shown["symbols"]) - shown["period"]
    assert shown["said"] == shown["symbols"][answer]
    assert np.argmax(shown["induction"][-1]) == answer
    assert np.argmax(shown["previous"][answer]) == answer - 1


def test_grids_are_the_scores_of_blocks_and_heads():
    scores = {name: torch.rand(3, 4) for name in ("one", "two", "three")}
    cells = drawn(diagrams.head_scores(scores, "Three scores. Of twelve heads."))
    assert cells.keys() == scores.keys()
    assert all(np.allclose(cells[name], table, atol=1e-3) for name, table in scores.items())


def test_the_parts_of_a_score_are_drawn_as_given():
    shares = torch.randn(3, 3)
    cells = drawn(diagrams.score_paths(shares, ["symbol", "place", "head 1"], "Nine parts. Of a score."))
    assert np.allclose(cells["parts of the score"], shares, atol=1e-3)


def test_a_patch_shows_both_sequences_the_place_and_what_the_model_says():
    says = {"clean": 0.98, "corrupted": 0.03, "patched": 0.5}
    for place, anchor in ((1, "start"), (7, "end")):
        picture = diagrams.patched(NAMES, list("abxdefabc"), place, "block 1, head 2", says, 0.25)
        written = texts(picture)
        assert written[1:10] == NAMES and written[11:20] == list("abxdefabc")
        assert {"98%", "3%", "50%", "comes back: 25%"} <= set(written)
        boxes = [box for box in parse(picture).iter(f"{SVG}rect") if box.get("class").startswith("course-tone")]
        over = [(int((float(box.get("x")) - 90) / (384 / 9)), box.get("class")[12:]) for box in boxes[:4]]
        assert over == sorted([(place, "query"), (2, "key")]) * 2
        assert np.allclose([float(box.get("width")) for box in boxes[4:]], [294, 9, 150])
        (label,) = [text for text in parse(picture).iter(f"{SVG}text") if "".join(text.itertext()) == "block 1, head 2"]
        assert label.get("text-anchor") == anchor  # so that it stays inside


def test_what_comes_back_is_drawn_as_given():
    shares = torch.rand(3, 4)
    picture = diagrams.came_back(shares, ["one", "two", "three"], list("abcd"), "Twelve shares. Of an answer.")
    assert np.allclose(drawn(picture)["comes back"], shares, atol=1e-3)
