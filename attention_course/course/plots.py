"""Pictures the chapters share, in matplotlib."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap

from attention_course.course import palette
from attention_course.course.palette import BLACK, BLUE, GREEN, ORANGE, PINK
from attention_course.support.arrays import as_array

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
    import seaborn as sns  # late, as in set_style

    ax = ax or plt.subplots()[1]
    sns.heatmap(
        weights,
        vmin=0,
        vmax=1,
        cmap=WEIGHTS,
        square=True,
        cbar=False,
        annot=annotate,
        fmt=".2f",
        linewidths=0.5,
        linecolor="#e4e4e4",
        xticklabels="auto" if keys is None else [str(key) for key in keys],
        yticklabels="auto" if queries is None else [str(query) for query in queries],
        ax=ax,
    )
    ax.tick_params(axis="y", rotation=0)
    if gold is not None:
        _frame(ax, as_array(gold), weights.shape)
    ax.set_title(title)
    return ax


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
