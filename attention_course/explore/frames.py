"""Explorers of pictures that Python drew beforehand: a finite grid of them, or the steps of a computation."""

import base64
import html
import io
import itertools
from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from attention_course.diagrams import Diagram
from attention_course.explore.controls import Control
from attention_course.explore.explorer import Explorer

TRAITS = ("first", "second")
MOST_FRAMES = 200
PAUSE = 2500  # milliseconds for each step that comes by itself: enough to read a short caption
# How to save a figure, in the formats that browsers draw.
FORMATS = {
    "svg+xml": {"format": "svg", "metadata": {"Date": None}},
    "webp": {"format": "webp", "dpi": 144, "pil_kwargs": {"lossless": True}},
}


def explore_frames(
    function: Callable,
    grid: Mapping[str, Sequence],
    *,
    label: str | Mapping[str, str] | None = None,
    start: Mapping[str, object] = {},  # nothing writes into it
    alt: str,
) -> Explorer:
    """A picture under one or two sliders, drawn once for every position.

    Args:
        function: Called as `function(**values)` with one value of each slider. It returns a diagram, or draws a
            matplotlib figure and leaves it open, without `plt.show()`, or returns it.
        grid: The sliders: one or two names, each with the values it can take.
        label: What to call the slider; with two of them, a name for each. The names in `grid` if left out.
        start: The values that are shown first; of sliders that are left out, their first ones.
        alt: What the figure shows, and what the sliders change in it, in words.

    Raises:
        ValueError: If there are not one or two sliders, a slider has fewer than two different values, there
            are more than 200 frames, `start` has no value of a slider, or the function draws nothing.
    """
    labels = _check_grid(grid, label)
    if not all(name in grid and value in grid[name] for name, value in start.items()):
        raise ValueError(f"start must name values of the sliders {dict(grid)}, got {dict(start)}")
    frames, kinds = [], tuple(FORMATS)
    for values in itertools.product(*grid.values()):
        frames.append(_frame(function, dict(zip(grid, values, strict=True)), kinds))
        if frames[0].startswith("data:image/webp"):
            kinds = ("webp",)  # the others are like the first: drawing them as SVG too would take twice as long
    sliders = [(name, labels[name], [_text(value) for value in values]) for name, values in grid.items()]
    places = [list(values).index(start.get(name, values[0])) for name, values in grid.items()]
    return _explorer(frames, sliders, places, None, alt)


def explore_steps(
    steps: Sequence[tuple[str, Callable | Figure | Diagram]], *, alt: str, plays: bool = False
) -> Explorer:
    """A computation, one step at a time: a slider and a button, a caption and a picture for each step.

    Args:
        steps: At least two pairs of a caption and a diagram, a figure, or a function without arguments that draws one.
        alt: What the steps show together, in words; each caption is added to it.
        plays: Whether it goes through the steps by itself, once, when it is first seen. Readers who asked for less
            motion, and those without scripts, see the last step.

    Raises:
        ValueError: If there are fewer than two steps, a caption is empty, or a function draws nothing.
    """
    if len(steps) < 2:
        raise ValueError(f"steps must be at least 2 pairs of a caption and a figure, got {len(steps)}")
    captions = [caption for caption, _ in steps]
    for number, caption in enumerate(captions, 1):
        if not isinstance(caption, str) or not caption.strip():
            raise ValueError(f"step {number} must have a caption, got {caption!r}")
    frames = [_step(figure) for _, figure in steps]
    numbers = [str(number) for number in range(1, len(steps) + 1)]
    place = len(steps) - 1 if plays else 0
    return _explorer(frames, [("step", "step", numbers)], [place], captions, alt, PAUSE if plays else 0)


def _step(picture: Callable | Figure | Diagram) -> str:
    """The picture of one step, as SVG or as a data URI."""
    if isinstance(picture, Diagram):
        return picture.svg
    if not isinstance(picture, Figure):
        return _frame(picture, {})
    encoded = _encode(picture)
    plt.close(picture)  # else a notebook shows it once more, below the explorer
    return encoded


def _explorer(frames, sliders, places, captions, alt, plays=0) -> Explorer:
    controls = [
        Control("slider", name, label, trait, tuple(values))
        for (name, label, values), trait in zip(sliders, TRAITS, strict=False)
    ]
    data = {
        "frames": frames,
        "captions": captions,
        "sliders": [{"name": name, "values": values} for name, _, values in sliders],
        "plays": plays,
    }
    start = places[0] if len(places) == 1 else places[0] * len(sliders[1][2]) + places[1]
    caption = f"<p>{html.escape(captions[start])}</p>" if captions else ""
    description = f"{alt} {captions[start]}" if captions else alt
    drawn = frames[start].startswith("<svg")
    picture = frames[start] if drawn else f'<img alt="{html.escape(str(description))}" src="{frames[start]}">'
    values = {"data": data} | {control.trait: place for control, place in zip(controls, places, strict=True)}
    return Explorer("frames", values, controls, caption + picture, alt)


def _check_grid(grid: Mapping[str, Sequence], label: str | Mapping[str, str] | None) -> dict[str, str]:
    """The label of each slider."""
    if not isinstance(grid, Mapping) or len(grid) not in (1, 2):
        raise ValueError(f"grid must name one or two sliders, got {grid!r}")
    for name, values in grid.items():
        texts = [_text(value) for value in values]
        if len(texts) < 2 or len(set(texts)) < len(texts):
            raise ValueError(f"grid[{name!r}] must have at least 2 values, all different, got {texts}")
    frames = 1
    for values in grid.values():
        frames *= len(values)
    if frames > MOST_FRAMES:
        raise ValueError(f"grid must have at most {MOST_FRAMES} frames, got {frames}")
    if isinstance(label, str):
        label = dict.fromkeys(grid, label) if len(grid) == 1 else {}
        if not label:
            raise ValueError(f"label must be a name for each of the sliders {list(grid)}, got one for both")
    label = label or {}
    if set(label) - set(grid):
        raise ValueError(f"label must name sliders of grid {list(grid)}, got {list(label)}")
    return {name: label.get(name, name.replace("_", " ")) for name in grid}


def _text(value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _frame(function: Callable, values: dict, kinds: Sequence[str] = tuple(FORMATS)) -> str:
    """The picture that a function draws, as SVG or as a data URI; a figure is closed again."""
    before = set(plt.get_fignums())
    drawn = function(**values)
    if isinstance(drawn, Diagram):
        return drawn.svg
    figure = drawn if isinstance(drawn, Figure) else getattr(drawn, "figure", None)
    opened = [number for number in plt.get_fignums() if number not in before]
    if not isinstance(figure, Figure) and not opened:
        called = ", ".join(f"{name}={value!r}" for name, value in values.items())
        raise ValueError(f"function must return a diagram or draw a figure, but function({called}) did neither")
    picture = _encode(figure if isinstance(figure, Figure) else plt.figure(opened[-1]), kinds)
    for number in opened:
        plt.close(number)
    return picture


def _encode(figure: Figure, kinds: Sequence[str] = tuple(FORMATS)) -> str:
    """A figure in whichever of the formats is the smallest, in a data URI."""
    # The same figure gives the same bytes, whenever it is drawn.
    with plt.rc_context({"svg.hashsalt": "explorer"}):
        pictures = {kind: _save(figure, **FORMATS[kind]) for kind in kinds}
    kind = min(pictures, key=lambda kind: len(pictures[kind]))
    return f"data:image/{kind};base64,{base64.b64encode(pictures[kind]).decode()}"


def _save(figure: Figure, **options) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, **options)
    return file.getvalue()
