"""The pictures of methods show the scores they are given."""

import numpy as np
from reading import drawn, strengths, texts

from attention_course import diagrams


def test_each_row_is_a_methods_scores_in_shares_of_its_largest():
    scores = {"weights": [0.1, 0.4, 0.2], "gradient": [30.0, 0.0, 60.0]}
    picture = diagrams.methods(scores, ["pen", "crown", "ship"], [False, True, True])
    assert np.allclose(drawn(picture)["scores"], [[0.25, 1, 0.5], [0.5, 0, 1]])
    written = texts(picture)
    assert written.count("2 of 2") == 1 and written.count("1 of 2") == 1
    assert "crown and ship" in picture.alt and "weights 2, gradient 1" in picture.alt
    assert picture.svg.count("course-frame") == 2


def test_a_method_that_scores_nothing_has_an_empty_row():
    picture = diagrams.methods({"weights": [0.5, 1.0], "gradient": [0.0, 0.0]}, ["pen", "ship"], [False, True])
    assert drawn(picture)["scores"].tolist() == [[0.5, 1], [0, 0]]
    assert strengths(picture, "scores")[2:].tolist() == [0, 0]


def test_shares_are_drawn_by_their_median_and_written_with_the_extremes():
    shares = {"one": {"rollout": [0.5, 0.9, 1.0], "flow": [0.25]}, "two": {"rollout": [0.0, 0.1], "flow": []}}
    shares["three"] = {"rollout": [0.701, 0.702], "flow": [0.2]}
    picture = diagrams.found("Equal coins", shares)
    assert np.allclose(drawn(picture)["found"], [[0.9, 0.05, 0.7015], [0.25, 0, 0.2]])
    assert {"90%", "50–100%", "5%", "0–10%", "25%", "all ≈ 0", "one", "two", "Equal coins"} <= set(texts(picture))
    assert texts(picture).count("70%") == 2  # the median, and a range that is one number
    assert "rollout 90% (50–100%), flow 25%." in picture.alt
    assert "flow has scores near 0 only." in picture.alt
