"""Pictures the chapters share, in matplotlib."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap

from attention_course import palette
from attention_course.arrays import as_array
from attention_course.palette import BLACK, BLUE, GREEN, ORANGE, PINK

WEIGHTS = LinearSegmentedColormap.from_list("weights", palette.WEIGHTS)
COLORS = [BLUE, ORANGE, GREEN, PINK, BLACK]
MARKERS = ["o", "s", "^", "D", "v"]


def set_style() -> None:
    """Set fonts, grid, size and colours of every later figure, and sharp PNGs in notebooks."""
    plt.style.use("seaborn-v0_8-whitegrid")  # of matplotlib itself: to import seaborn takes every notebook 2 s
    plt.rcParams.update(
        {
            # Six inches still read on a phone, where a figure shrinks to three and a half.
            "figure.figsize": (6.0, 3.6),
            "figure.constrained_layout.use": True,
            "font.size": 13.2,
            "font.sans-serif": ["Arial", "DejaVu Sans", "Liberation Sans", "Bitstream Vera Sans", "sans-serif"],
            "axes.titlesize": "medium",
            "axes.prop_cycle": plt.cycler(color=COLORS),
            "axes.linewidth": 1.25,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "grid.color": "#e4e4e4",
            "xtick.labelsize": 12.1,
            "ytick.labelsize": 12.1,
            "legend.fontsize": 12.1,
            "legend.frameon": False,
            "patch.edgecolor": "white",
            "patch.force_edgecolor": True,
        }
    )
    if _in_notebook():
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("retina")


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return get_ipython() is not None


def heatmap(
    weights,
    *,
    keys: Sequence | None = None,
    queries: Sequence | None = None,
    gold=None,
    title: str = "",
    annotate: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Attention weights as a map: a row a query, a column a key, 0 white and 1 dark.

    Args:
        weights: `(n_queries, n_keys)`, tensor or array, between 0 and 1.
        keys: Labels of the columns.
        queries: Labels of the rows.
        gold: Boolean, of the same shape: cells to frame, where attention should be.
        title: Above the map.
        annotate: Whether to write each weight into its cell.
        ax: Where to draw; a new figure if left out.

    Raises:
        ValueError: If the weights are not a matrix, or labels or gold do not fit it.
    """
    weights = as_array(weights)
    if weights.ndim != 2:
        raise ValueError(f"weights must have shape (n_queries, n_keys), got {weights.shape}")
    for name, labels, size in (("queries", queries, weights.shape[0]), ("keys", keys, weights.shape[1])):
        if labels is not None and len(labels) != size:
            raise ValueError(f"{name} must have {size} labels, got {len(labels)}")
    ax = ax or plt.subplots()[1]
    ax.pcolormesh(weights, cmap=WEIGHTS, vmin=0, vmax=1, linewidth=0.5, edgecolors="#e4e4e4")
    ax.set(aspect="equal", xlim=(0, weights.shape[1]), ylim=(weights.shape[0], 0))
    ax.spines[:].set_visible(False)
    _name_cells(ax.xaxis, keys, weights.shape[1])
    _name_cells(ax.yaxis, queries, weights.shape[0])
    _turn_what_overlaps(ax)
    for row, column in np.ndindex(weights.shape) if annotate else ():
        weight = weights[row, column]
        on_it = "white" if weight > 0.27 else "#262626"
        ax.text(column + 0.5, row + 0.5, f"{weight:.2f}", color=on_it, ha="center", va="center")
    if gold is not None:
        _frame(ax, as_array(gold), weights.shape)
    ax.set_title(title)
    return ax


def _name_cells(axis: Axis, names: Sequence | None, n: int) -> None:
    """Write names at the middles of rows or columns; where there are none, their numbers, as many as there is room."""
    every = 1
    if names is None:
        box = axis.axes.get_window_extent()
        points = 72 / axis.axes.figure.dpi * (box.width if axis.axis_name == "x" else box.height)
        every = n // max(1, int(points / plt.rcParams["font.size"])) + 1
    shown = range(0, n, every)
    axis.set_ticks([index + 0.5 for index in shown], [str(index if names is None else names[index]) for index in shown])


def _turn_what_overlaps(ax: Axes) -> None:
    """Turn the names of the columns where two would overlap."""
    ax.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    if any(left.x1 > right.x0 for left, right in pairwise(boxes)):
        ax.tick_params(axis="x", rotation=90)


def _frame(ax: Axes, gold: np.ndarray, shape: tuple[int, int]) -> None:
    if gold.shape != shape:
        raise ValueError(f"gold must have the weights' shape {shape}, got {gold.shape}")
    for row, column in np.argwhere(gold):
        frame = plt.Rectangle((column, row), 1, 1, fill=False, edgecolor=ORANGE, linewidth=2)
        ax.add_patch(frame)


def curves(
    x: Sequence[float],
    lines: Mapping[str, Sequence],
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Lines over a common x. Where a line has several runs, their mean in a band from lowest to highest.

    Args:
        x: `n` positions.
        lines: For each name `n` numbers, or `(runs, n)`.
        x_label: With its unit.
        y_label: With its unit.
        title: Above the axes.
        ax: Where to draw; a new figure if left out.

    Raises:
        ValueError: If a line's length is not that of `x`.
    """
    ax = ax or plt.subplots()[1]
    for index, (name, numbers) in enumerate(lines.items()):
        runs = np.atleast_2d(as_array(numbers))
        if runs.shape[-1] != len(x):
            raise ValueError(f"line {name!r} must have {len(x)} points (x), got {runs.shape[-1]}")
        color, marker = COLORS[index % len(COLORS)], MARKERS[index % len(MARKERS)]
        ax.plot(x, runs.mean(0), color=color, marker=marker, markersize=4, label=name)
        if len(runs) > 1:
            ax.fill_between(x, runs.min(0), runs.max(0), color=color, alpha=0.15, linewidth=0)
    ax.set(xlabel=x_label, ylabel=y_label, title=title)
    if len(lines) > 1:
        ax.legend()
    return ax
