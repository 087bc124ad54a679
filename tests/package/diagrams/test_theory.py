"""The pictures of heads set by hand show the numbers of the run."""

import numpy as np
import torch
from reading import drawn, texts

from attention_course import diagrams, scaled_dot_product_attention


def lookup(title, n_queries, n_keys, features):
    query, key = torch.randn(n_queries, 3), torch.randn(n_keys, 3)
    answers, weights = scaled_dot_product_attention(query, key, torch.rand(n_keys, len(features)))
    return diagrams.Lookup(title, weights, f"answer of {title}", answers, features)


def test_weights_and_answers_are_those_of_the_run():
    torch.manual_seed(0)
    made = [lookup("first", 4, 3, "xy"), lookup("second", 4, 3, ["share"])]
    cells = drawn(diagrams.by_hand("abcd", "efg", *made))
    assert len(cells) == 4
    for head in made:
        assert np.allclose(cells[head.title], head.weights, atol=1e-3)
        assert np.allclose(cells[head.answer], head.answers, atol=1e-3)


def test_queries_keys_features_and_titles_are_written():
    torch.manual_seed(0)
    made = lookup("copy the letter before", 2, 3, "xy")
    written = texts(diagrams.by_hand("ab", "efg", made))
    assert written.count("copy the letter before") == written.count("answer of copy the letter before") == 1
    assert all(written.count(name) == 1 for name in "abefgxy")


def test_words_say_whom_each_query_looks_at():
    weights = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]])
    picture = diagrams.by_hand("ab", "efg", diagrams.Lookup("map", weights, "answer", weights, "xyz"))
    assert "a in place 1 at e in place 1; b in place 2 at e in place 1 and g in place 3." in picture.alt
