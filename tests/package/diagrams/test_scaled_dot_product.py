"""What the pictures of the lookup show is what PyTorch computes."""

import pytest
import torch
import torch.nn.functional as F
from reading import close, drawn, parse

from attention_course import diagrams

GENERATOR = torch.Generator().manual_seed(0)
QUERY, KEY, VALUE = (torch.randn(n, 2, generator=GENERATOR) for n in (2, 3, 3))
NAMES = {"query_name": "you", "key_names": "abc", "features": "xy", "contents": "uv"}


def test_one_lookup_is_drawn_as_pytorch_computes_it():
    picture = diagrams.scaled_dot_product(QUERY[0], KEY, VALUE, **NAMES)
    tables = drawn(picture)
    products = torch.tensor([torch.dot(QUERY[0], key) for key in KEY])
    assert close(tables["products"], products)
    assert close(tables["scores"], products / 2**0.5)
    assert close(tables["weights"], (products / 2**0.5).softmax(0))
    assert close(tables["output"], F.scaled_dot_product_attention(QUERY[:1], KEY, VALUE))
    assert all(close(tables[name], given) for name, given in (("query", QUERY[0]), ("keys", KEY), ("values", VALUE)))


def test_the_lines_are_as_thick_as_the_weights():
    picture = diagrams.scaled_dot_product(QUERY[0], KEY, VALUE, **NAMES)
    lines = [float(part.get("data-value")) for part in parse(picture).iter() if part.get("class") == "course-weight"]
    assert lines == pytest.approx(drawn(picture)["weights"][:, 0].tolist(), abs=1e-3)


@pytest.mark.parametrize(
    ("step", "last"), [(0, "values"), (1, "products"), (2, "scores"), (3, "weights"), (4, "output")]
)
def test_each_step_shows_one_thing_more(step, last):
    names = ["query", "keys", "values", "products", "scores", "weights", "output"]
    picture = diagrams.scaled_dot_product(QUERY[0], KEY, VALUE, **NAMES, step=step)
    assert list(drawn(picture)) == names[: names.index(last) + 1]
    outlines = [part for part in parse(picture).iter() if part.get("class") == "course-tone-plain" and part.get("rx")]
    assert len(outlines) == len(names) - names.index(last) - 1  # room for the things to come


def test_the_words_tell_no_more_than_the_step_shows():
    told = ("has two numbers", "compared with the query: dot products", "square root", "softmax", "are the output")
    for step in range(5):
        alt = diagrams.scaled_dot_product(QUERY[0], KEY, VALUE, **NAMES, step=step).alt
        assert [words in alt for words in told] == [place <= step for place in range(5)]


def test_the_matrices_are_those_of_both_lookups():
    tables = drawn(diagrams.attention_matrices(QUERY, KEY, VALUE, query_names="ab", key_names="cde"))
    scores = QUERY @ KEY.T / 2**0.5
    assert close(tables["scores"], scores) and close(tables["weights"], scores.softmax(1))
    assert close(tables["Q"], QUERY) and close(tables["V"], VALUE) and close(tables["K transposed"], KEY.T)
    assert close(tables["output"], F.scaled_dot_product_attention(QUERY, KEY, VALUE))


def test_one_softmax_runs_over_the_keys_and_one_over_the_queries():
    tables = drawn(diagrams.softmax_directions(QUERY @ KEY.T, query_names="ab", key_names="cde"))
    assert tables["over the keys"].sum(1) == pytest.approx(1, abs=1e-3)
    assert tables["over the queries"].sum(0) == pytest.approx(1, abs=1e-3)
    assert close(tables["over the keys"], (QUERY @ KEY.T).softmax(1))
    assert close(tables["over the queries"], (QUERY @ KEY.T).softmax(0))
    assert close(tables["row sums, over the queries"], (QUERY @ KEY.T).softmax(0).sum(1))
