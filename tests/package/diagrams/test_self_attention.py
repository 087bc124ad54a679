"""The picture of one token shows the arithmetic that it was drawn from."""

import numpy as np
import pytest
import torch
from reading import SVG, drawn, parse, texts

from attention_course import diagrams

NAMES = ["river", "the", "bank"]
FEATURES = ["asks", "water", "money"]
PARTS = {
    "tokens": ["tokens"],
    "query": ["W_Q", "query"],
    "keys": ["W_K", "keys"],
    "scores": ["scores"],
    "weights": ["weights"],
    "answer": ["W_V", "values", "answer"],
    "sum": ["before", "after"],
}


@pytest.fixture
def run():
    generator = torch.Generator().manual_seed(0)
    matrices = [torch.randn(3, width, generator=generator, dtype=torch.float64) for width in (2, 2, 3)]
    return torch.randn(3, 3, generator=generator, dtype=torch.float64), matrices


@pytest.mark.parametrize("asking", [0, 2])
def test_every_number_is_that_of_the_layer(run, asking):
    tokens, matrices = run
    W_Q, W_K, W_V = (matrix.numpy() for matrix in matrices)
    X = tokens.numpy()
    scores = np.array([(X[asking] @ W_Q) @ (row @ W_K) for row in X]) / np.sqrt(2)
    weights = np.exp(scores) / np.exp(scores).sum()
    answer = torch.nn.functional.scaled_dot_product_attention(*(tokens @ matrix for matrix in matrices))[asking]
    expected = {"tokens": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V, "query": [X[asking] @ W_Q], "keys": X @ W_K}
    expected |= {"values": X @ W_V, "scores": scores[:, None], "weights": weights[:, None]}
    expected |= {"answer": answer.numpy()[None], "before": X[asking][None], "after": (answer + tokens[asking])[None]}
    shown = drawn(diagrams.one_token(tokens, matrices, NAMES, FEATURES, asking=asking))
    assert set(shown) == set(expected)
    for name, values in expected.items():
        assert shown[name].shape == np.shape(values), name
        assert np.allclose(shown[name], values, rtol=1e-3, atol=1e-6), name


def test_a_part_follows_the_other(run):
    there = set()
    for part, names in PARTS.items():
        there |= set(names)
        picture = diagrams.one_token(*run, NAMES, FEATURES, asking=2, until=part)
        assert set(drawn(picture)) == there
    told = [text for text in texts(picture) if "bank " in text]
    assert told == ["bank finds", "+ bank came as", "= bank leaves as"]
    assert [text for text in texts(picture) if text in FEATURES] == FEATURES * 2  # of the tokens, and of the values
    assert "bank" in parse(picture).find(f"{SVG}desc").text


def sides(element):
    return [float(element.get(side)) for side in ("x", "y", "width", "height")]


def test_the_query_comes_from_one_row_and_keys_and_values_from_all(run):
    """One row goes to W_Q; all three go to a box, from which W_K and W_V are reached."""
    elements = parse(diagrams.one_token(*run, NAMES, FEATURES, asking=2))
    grids = {group.get("data-tensor"): sides(group.findall(f"{SVG}rect")[-1]) for group in elements.iter(f"{SVG}g")}
    paths = [path.get("d") for path in elements.iter(f"{SVG}path") if path.get("stroke")]
    arrows = [[tuple(map(float, point.split())) for point in path[1:].split("L")] for path in paths]
    starts = {name: [way[0] for way in arrows if way[-1] == (x + w / 2, y)] for name, (x, y, w, _) in grids.items()}
    x, y, width, height = next(sides(box) for box in elements.iter(f"{SVG}rect") if box.get("rx") == "6")
    _, top, _, tall = grids["tokens"]
    rows = [top + (row + 0.5) * tall / 3 for row in range(3)]
    assert sorted(way[0][1] for way in arrows if way[-1][0] == x) == rows
    assert [start[1] for start in starts["W_Q"]] == [rows[2]]
    assert starts["W_K"] == [(x + width / 2, y + height)]
    assert starts["W_V"] == [(x + width, y + height / 2)]


def test_in_the_plane_arrows_lead_from_a_word_to_where_it_leaves():
    places = {"river": (3, 0), "loan": (0, 2), "bank": (1, 1.5)}
    ends = {"river": (2.36, -0.36), "loan": (-0.5, 1.25)}
    picture = diagrams.in_the_plane(places, "bank", ends, FEATURES[1:])
    dots = [sides(box) for box in parse(picture).iter(f"{SVG}rect") if box.get("rx") == "6"]
    river, loan, bank = ((x + width / 2, y + height / 2) for x, y, width, height in dots)
    unit = (river[0] - loan[0]) / 3
    assert loan[1] == river[1] - 2 * unit

    def place(x, y):
        return pytest.approx((loan[0] + unit * x, river[1] - unit * y))

    assert bank == place(*places["bank"])
    lines = [path.get("d") for path in parse(picture).iter(f"{SVG}path") if path.get("stroke")]
    arrows = [[tuple(map(float, point.split())) for point in line[1:].split("L")] for line in lines[2:]]  # behind axes
    assert arrows == [[bank, place(*end)] for end in ends.values()]
    assert {"beside river", "beside loan", *places, *FEATURES[1:]} < set(texts(picture))


@pytest.mark.parametrize("words", [["a", "b", "c"], ["the", "bank", "by", "the", "river", "was", "steep"]])
def test_the_first_word_reaches_the_last_by_one_arrow_or_through_every_state(words):
    n = len(words)
    picture = diagrams.paths(words)
    lines = [path.get("d") for path in parse(picture).iter(f"{SVG}path") if path.get("stroke")]
    assert len(lines) == n + (n - 1) + n  # words into states, states into states, words into the answer
    assert [text for text in texts(picture) if text in words] == [*words, *words]
    assert f"recurrent network: {n - 1} steps, one after the other" in texts(picture)
