"""What the picture of the spread shows are the scores and weights of its queries and keys."""

import numpy as np
import pytest
import torch
from reading import drawn

from attention_course import diagrams


def test_scores_and_weights_are_those_of_each_width():
    generator = torch.Generator().manual_seed(0)
    widths = (4, 9)
    queries = [torch.randn(width, generator=generator) for width in widths]
    keys = [torch.randn(3, width, generator=generator) for width in widths]
    tables = drawn(diagrams.score_spread(queries, keys))
    for width, query, key in zip(widths, queries, keys, strict=True):
        products = torch.tensor([torch.dot(query, row) for row in key])
        for prefix, scores in (("", products), ("divided ", products / width**0.5)):
            assert tables[f"{prefix}scores, d_k = {width}"][0] == pytest.approx(scores.tolist(), rel=1e-3)
            assert tables[f"{prefix}weights, d_k = {width}"][0] == pytest.approx(scores.softmax(0).tolist(), rel=1e-3)


def test_the_table_has_the_mean_of_the_seeds_at_its_place():
    runs = [
        {"width": width, "scaled": scaled, "rate": rate, "steps": 300, "seed": seed}
        | {"accuracy": width / 100 + rate / 10 + scaled / 2 + seed / 50}
        for rate in (0.5, 0.1)
        for width in (16, 8)
        for scaled in (False, True)
        for seed in (0, 1)
    ]
    longer = [run | {"steps": 1200, "accuracy": 0.0} for run in runs]
    tables = drawn(diagrams.rate_table(runs + longer))
    assert tables["without the scale"] == pytest.approx(np.array([[0.10, 0.14], [0.18, 0.22]]), abs=1e-6)
    assert tables["with the scale"] == pytest.approx(np.array([[0.60, 0.64], [0.68, 0.72]]), abs=1e-6)
