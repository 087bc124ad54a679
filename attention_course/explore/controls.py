"""The controls of an explorer: one description, read by ipywidgets here and by the site's script there."""

import math
from dataclasses import dataclass

import ipywidgets

LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.05, 10.0

# Steps of a logarithmic slider to a factor of ten. With 93 of them 1 and 10 fall on a step, and 0.05 all but does.
STEPS = 93


@dataclass(frozen=True)
class Control:
    """One control.

    Attributes:
        kind: `temperature` (a logarithmic slider), `slider` (over `options`), `choice` (a menu of `options`)
            or `check` (a box to tick).
        name: What the site's control carries as `data-control`.
        label: What the reader sees.
        trait: What it sets in the view: a number for a temperature, a boolean for a check, else the
            position among the options.
        options: What there is to choose from, as text.
    """

    kind: str
    name: str
    label: str
    trait: str
    options: tuple[str, ...] = ()


def temperature_steps() -> dict[str, int]:
    """The temperature's slider in whole steps: its ends, and how many there are to a factor of ten."""
    low, high = (round(math.log10(temperature) * STEPS) for temperature in (LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE))
    return {"low": low, "high": high, "decade": STEPS}


def make_widget(control: Control, value) -> tuple[ipywidgets.Widget, str]:
    """The ipywidget of a control, and which of its traits to link to the view's.

    Args:
        control: What to make; nothing is used that ipywidgets 7.7.1 lacks.
        value: Where it stands at first.
    """
    shared = {"description": control.label, "style": {"description_width": "initial"}}
    if control.kind == "temperature":
        steps = temperature_steps()
        low, high = steps["low"] / STEPS, steps["high"] / STEPS
        # A hair beyond the end: the sliders of ipywidgets 7 drop a last step that rounding puts past it.
        span = {"min": low, "max": high + 1e-9, "step": 1 / STEPS}
        return ipywidgets.FloatLogSlider(value=value, readout_format=".3g", **span, **shared), "value"
    if control.kind == "check":
        return ipywidgets.Checkbox(value=value, indent=False, description=control.label), "value"
    menu = ipywidgets.SelectionSlider if control.kind == "slider" else ipywidgets.Dropdown
    return menu(options=control.options, value=control.options[value], **shared), "index"
