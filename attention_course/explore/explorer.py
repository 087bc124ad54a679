"""What all explorers share: offered as HTML to pages without a kernel, and as widgets where there is one."""

import json
from dataclasses import asdict
from functools import cache, cached_property
from pathlib import Path

import anywidget
import ipywidgets
import traitlets

from attention_course.explore.bundle import VIEWS, join
from attention_course.explore.controls import Control, make_widget, temperature_steps
from attention_course.explore.saving import find_svg, make_page

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


STYLES = {"model": ["model.css"], "translator": ["model.css", "translator.css"]}  # besides what all views share


@cache
def style(view: str) -> str:
    """The style sheet of a view."""
    return "\n".join((VIEWS / name).read_text(encoding="utf-8") for name in ("explorers.css", *STYLES.get(view, [])))


@cache
def widget_class(view: str, traits: tuple[str, ...]) -> type:
    """The widget around `views/VIEW.js`, with these traits, which its controls change in the browser."""
    shared = {name: traitlets.Any().tag(sync=True) for name in traits}
    code = {"__module__": __name__, "_esm": join(VIEWS / f"{view}.js"), "_css": style(view)}
    return type(f"{view.title()}View", (anywidget.AnyWidget,), code | shared)


class Explorer:
    """A view and its controls. As the last expression of a cell it shows itself.

    Args:
        view: The name of a module in `views/`, such as `attention`.
        values: What the view is given: `data`, which never changes, and one value for each control's trait.
        controls: In the order of the page.
        first_state: HTML of what is seen before a script runs, or where none may.
        alt: What the explorer shows, in words.

    Raises:
        ValueError: If there are no words.
    """

    def __init__(self, view: str, values: dict, controls: list[Control], first_state: str, alt: str):
        if not isinstance(alt, str) or not alt.strip():
            raise ValueError(f"alt must say in words what the explorer shows, got {alt!r}")
        self.view = view
        self.values = {**values, "data": {**values["data"], "alt": alt}}
        self.controls = controls
        self.first_state = first_state
        self.alt = alt

    @cached_property
    def widget(self) -> ipywidgets.VBox:
        """The explorer as widgets, which are linked in the browser so that no slider waits for the kernel."""
        view = widget_class(self.view, tuple(self.values))(**self.values)
        controls = []
        for control in self.controls:
            widget, trait = make_widget(control, self.values[control.trait])
            ipywidgets.jslink((widget, trait), (view, control.trait))
            controls.append(widget)
        return ipywidgets.VBox([*controls, view])

    def save(self, path: str | Path) -> None:
        """Write the explorer to a file of its own, which needs no network, no server and no Python.

        Args:
            path: Ends in `.html` for a page with the explorer itself, its data and its scripts, or in `.svg` for the
                picture that it starts with.

        Raises:
            ValueError: If the path ends in anything else, or the first picture is made of pixels and can be no SVG.
        """
        path = Path(path)
        if path.suffix not in (".html", ".svg"):
            raise ValueError(f"path must end in .html or .svg, got {str(path)!r}")
        if path.suffix == ".svg":
            text = find_svg(self.first_state)
        else:
            text = make_page(self.view, self._repr_html_(), style(self.view), self.alt)
        path.write_text(text, encoding="utf-8")

    def _repr_html_(self) -> str:
        """The container that the site's script looks for, with its data and its first state."""
        payload = {
            "values": self.values,
            "controls": [asdict(control) for control in self.controls],
            "steps": temperature_steps(),
        }
        return (
            f'<div class="course-explorer" data-view="{self.view}">'
            f'<div class="course-explorer-first">{self.first_state}</div>'
            f'<script type="application/json">{_as_script_data(payload)}</script></div>'
        )

    def _repr_mimebundle_(self, **_) -> tuple[dict, dict]:
        # anywidget knows what Colab wants beside the data; only what is shown is the box, not the view alone.
        data, metadata = self.widget.children[-1]._repr_mimebundle_()
        data[WIDGET_VIEW] = {**data[WIDGET_VIEW], "model_id": self.widget.model_id}
        return {**data, "text/plain": f"Explorer: {self.alt}", "text/html": self._repr_html_()}, metadata


def _as_script_data(payload: dict) -> str:
    """JSON in which no token can end the script element that holds it."""
    text = json.dumps(payload, separators=(",", ":"))  # ASCII: U+2028 and U+2029 are escaped too
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
