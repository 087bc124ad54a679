"""The pictures of one distribution and of a beam show the probabilities that loops in float64 find."""

import itertools
import math

import pytest
import torch
from reading import drawn, parse, texts

from attention_course import diagrams

VOCABULARY = "abcdefghijkl"


def softmax(logits: list[float], temperature: float = 1.0) -> list[float]:
    exponentials = [math.exp(logit / temperature) for logit in logits]
    return [e / sum(exponentials) for e in exponentials]


def expected_rows(logits: list[float], k: int, p: float) -> dict[str, list[float]]:
    order = sorted(range(len(logits)), key=lambda i: -logits[i])
    plain = softmax(logits)
    nucleus, total = [], 0.0
    for i in order:
        if total >= p:
            break
        nucleus.append(i)
        total += plain[i]

    def only(kept):
        return [plain[i] / sum(plain[j] for j in kept) if i in kept else 0.0 for i in range(len(logits))]

    rows = {
        "as they are": plain,
        "temperature 0.5": softmax(logits, 0.5),
        "temperature 2": softmax(logits, 2.0),
        f"top-k, k = {k}": only(order[:k]),
        f"top-p, p = {p:g}": only(nucleus),
    }
    return {name: [row[i] for i in order[:8]] + [sum(row[i] for i in order[8:])] for name, row in rows.items()}


@pytest.mark.parametrize(("k", "p"), [(3, 0.6), (5, 0.9), (1, 0.05)])
def test_each_row_is_its_distribution(k, p):
    logits = 2 * torch.randn(12, generator=torch.Generator().manual_seed(k))
    picture = diagrams.cut_distribution(logits, VOCABULARY, "abc", k=k, p=p)
    tables = drawn(picture)
    rows = expected_rows(logits.double().tolist(), k, p)
    assert list(tables) == list(rows)
    for name, row in rows.items():
        assert tables[name][0] == pytest.approx(row, rel=2e-3, abs=1e-6), name
    likeliest = [VOCABULARY[i] for i in logits.argsort(descending=True)[:8].tolist()]
    assert texts(picture)[11:20] == [*likeliest, "others"]


def test_what_a_cut_keeps_is_framed():
    logits = torch.tensor([4.0, 3.0, 2.0, 1.0, *[0.0] * 8])
    picture = diagrams.cut_distribution(logits, VOCABULARY, "abc", k=3, p=0.5)
    plain = softmax(logits.tolist())
    assert plain[0] > 0.5  # so that the first symbol crosses p by itself
    frames = [part for part in parse(picture).iter() if part.get("class") == "course-frame"]
    widths = [float(frame.get("width")) - 2 for frame in frames]
    assert widths == [3 * 38, 1 * 38]


def made_up(text):
    """Logits of the symbols a to d after a text, in which a likely beginning leads nowhere."""
    return torch.tensor({"": [2.0, 1.7, 0.0, -1.0], "b": [-2.0, 3.0, 0.5, 0.0]}.get(text[1:], [0.3, 0.2, 0.1, 0.0]))


def probability(written):
    return math.prod(
        softmax(made_up("x" + written[:n]).tolist())["abcd".index(symbol)] for n, symbol in enumerate(written)
    )


def framed_numbers(picture):
    """What stands in the framed cells: the corners of both are the same, up to the frame's margin."""
    corners = {
        (float(part.get("x")) + 1, float(part.get("y")) + 1)
        for part in parse(picture).iter()
        if part.get("class") == "course-frame"
    }
    cells = [part for part in parse(picture).iter() if part.get("data-value")]
    return [float(c.get("data-value")) for c in cells if (float(c.get("x")), float(c.get("y"))) in corners]


def test_a_beam_looks_at_these_beginnings_and_keeps_the_likeliest():
    picture = diagrams.beam_tree(made_up, "abcd", "x", n_symbols=3)
    looked_at = {name: table.item() for name, table in drawn(picture).items()}
    assert list(looked_at)[:6] == ["a", "b", "aa", "ab", "bb", "bc"]
    assert looked_at == pytest.approx({written: probability(written) for written in looked_at}, rel=2e-3)
    kept = []
    for n in (1, 2, 3):
        kept += sorted((p for written, p in looked_at.items() if len(written) == n), reverse=True)[:2]
    assert sorted(framed_numbers(picture)) == pytest.approx(sorted(kept))


def test_the_ends_of_the_beam_and_of_greedy_decoding_are_named():
    picture = diagrams.beam_tree(made_up, "abcd", "x", n_symbols=2)
    assert probability("bb") == max(probability("".join(pair)) for pair in itertools.product("abcd", repeat=2))
    written = texts(picture)
    assert [written[written.index(name) - 2] for name in ("likeliest", "greedy")] == ["bb", "aa"]


def test_what_greedy_decoding_writes_is_not_named_where_the_beam_dropped_it():
    def next_logits(text):
        rare = {"": [1.0, 0.9, -9.0, -9.0], "b": [-9.0, 1.1, 1.0, -9.0], "bc": [9.0, 0.0, 0.0, 0.0]}
        return torch.tensor(rare.get(text[1:], [0.3, 0.2, 0.1, 0.0]))

    # After symbol 2 only bb and bc are kept; greedy decoding is at aa by then.
    written = texts(diagrams.beam_tree(next_logits, "abcd", "x", n_symbols=3))
    assert written[written.index("likeliest") - 2] == "bca"
    assert "greedy" not in written
