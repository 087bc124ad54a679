"""Explorers: pictures with sliders, which move in Jupyter, in Colab, and on the built site with no kernel.

An author adds one to a chapter in three lines, the explorer being the last expression of its cell:

    from attention_course.explore import explore_attention

    scores = query @ key.transpose(-2, -1) / key.size(-1) ** 0.5  # (heads, n_queries, n_keys)
    explore_attention(scores, tokens, alt="What the map shows, for whoever does not see it.")

- `explore_attention`: weights computed in the reader's browser from raw scores, so that temperature, mask
  and head can be changed at will; or, as `weights=`, those that a model hands over, of all its layers and heads.
- `explore_heads`: the same map for models trained with different numbers of heads.
- `explore_frames`: anything that Python can draw, on one or two sliders with a finite grid.
- `explore_steps`: a computation step by step, each with a caption.
- `explore_model`: a trained language model or translator, on text that the reader types, running in their browser.
- `explore_state`: what a recurrent state keeps of pairs that are written into it one by one, by adding,
  by forgetting, or by writing only what is new.

`explorer.save("name.html")` writes one to a page of its own, which works from a folder with no network, and
`explorer.save("name.svg")` the picture that it starts with.

Whatever it shows should be trained, or say that it is random. The views are in `views/`: ES modules which export
`render({model, el})`, the interface of anywidget (https://anywidget.dev). In Jupyter ipywidgets move them; on the
site, which has no kernel, one small script mounts the same modules with the browser's own controls.
"""

import warnings

from attention_course.explore.attention import explore_attention
from attention_course.explore.explorer import Explorer
from attention_course.explore.frames import explore_frames, explore_steps
from attention_course.explore.heads import explore_heads
from attention_course.explore.model import explore_model
from attention_course.explore.state import explore_state

__all__ = [
    "Explorer",
    "explore_attention",
    "explore_frames",
    "explore_heads",
    "explore_model",
    "explore_state",
    "explore_steps",
]


def explore_sorting(model, numbers: list[int], *, alt: str) -> None:
    """Shows nothing: notebooks of version 0.1 call it, and its view is gone."""
    warnings.warn("explore_sorting shows nothing from version 0.2 on", DeprecationWarning, stacklevel=2)
