import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from refusing import refuses

from attention_course import setup
from attention_course.course import plots

pytestmark = pytest.mark.usefixtures("close_figures")


def test_heatmap_draws_the_weights_labels_and_gold():
    weights = torch.tensor([[0.25, 0.75, 0.0], [0.5, 0.0, 0.5]], requires_grad=True)
    gold = torch.tensor([[False, True, False], [True, False, True]])
    ax = plots.heatmap(weights, keys=["a", "b", "c"], queries=["x", "y"], gold=gold, annotate=True, title="map")
    drawn = ax.collections[0].get_array().reshape(2, 3)
    np.testing.assert_allclose(drawn, weights.detach())
    assert ax.collections[0].get_clim() == (0, 1) and ax.collections[0].get_cmap() is plots.WEIGHTS
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x", "y"]
    assert "0.75" in [text.get_text() for text in ax.texts]
    assert {patch.get_xy() for patch in ax.patches} == {(1, 0), (0, 1), (2, 1)}
    assert {(patch.get_width(), patch.get_height()) for patch in ax.patches} == {(1, 1)}


def test_titles_and_labels_stand_where_they_belong_and_the_axes_are_those_given():
    _, (left, right) = plt.subplots(1, 2)
    assert plots.heatmap(torch.ones(2, 2), title="a map", ax=left) is left
    assert plots.curves([1, 2], {"one": [3, 4]}, x_label="steps", y_label="loss", title="lines", ax=right) is right
    assert (left.get_title(), right.get_title()) == ("a map", "lines")
    assert (right.get_xlabel(), right.get_ylabel()) == ("steps", "loss")
    assert len(left.collections) == len(right.lines) == 1


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_heatmaps_and_curves_take_any_dtype(dtype):
    weights = torch.tensor([[0.25, 0.75], [1.0, 0.0]], dtype=dtype)
    drawn = plots.heatmap(weights, annotate=True).collections[0].get_array()
    np.testing.assert_array_equal(np.asarray(drawn).ravel(), [0.25, 0.75, 1, 0])
    (line,) = plots.curves([1, 2], {"one": weights[0]}, x_label="x", y_label="y").lines
    assert line.get_ydata().tolist() == [0.25, 0.75]


def test_curves_draw_the_mean_in_a_band_of_the_runs():
    ax = plots.curves([1, 2], {"one": [3, 4], "three": [[0, 0], [1, 5], [2, 1]]}, x_label="x", y_label="y")
    one, three = ax.lines
    assert one.get_ydata().tolist() == [3, 4] and three.get_ydata().tolist() == [1, 2]
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == 0 and band[:, 1].max() == 5
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "three"]
    assert one.get_marker() != three.get_marker()  # colour alone would not do


test_bad_input_is_named = refuses(
    ("weights must have shape", lambda: plots.heatmap(torch.ones(2))),
    ("keys must have 3 labels", lambda: plots.heatmap(torch.ones(2, 3), keys=["a"])),
    ("gold must have", lambda: plots.heatmap(torch.ones(2, 3), gold=torch.ones(3, 3) > 0)),
    ("line 'a' must have 2 points", lambda: plots.curves([1, 2], {"a": [1]}, x_label="", y_label="")),
)


def test_setup_sets_the_style():
    with plt.rc_context({"axes.prop_cycle": plt.cycler(color=["red"])}):
        setup()
        assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == plots.COLORS
