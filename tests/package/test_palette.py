"""Diagrams, plots and explorers have the same colours."""

from pathlib import Path

from attention_course import palette, plots
from attention_course.explore.explorer import VIEWS

EXPLORERS = (VIEWS / "explorers.css").read_text()
SITE = (Path(__file__).parents[2] / "_static" / "course.css").read_text()


def test_explorers_have_the_colours_of_plots():
    for color in (palette.BLUE, palette.NAVY, palette.ORANGE):
        assert color in EXPLORERS
    for color in (palette.BLUE, palette.ORANGE):
        assert palette.ON_DARK[color] in EXPLORERS


def test_the_site_has_the_colours_of_diagrams_on_a_dark_page():
    for color in palette.ON_DARK.values():
        assert color in SITE


def test_a_map_of_weights_goes_from_the_page_to_navy():
    assert plots.WEIGHTS(0.0)[:3] == (1, 1, 1)
    assert plots.WEIGHTS(1.0)[:3] == tuple(int(palette.NAVY[i : i + 2], 16) / 255 for i in (1, 3, 5))
