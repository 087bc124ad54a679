"""Diagrams, plots and explorers have the same colours."""

from pathlib import Path

from attention_course.course import palette, plots
from attention_course.explore.explorer import VIEWS

EXPLORERS = (VIEWS / "explorers.css").read_text()
SITE = (Path(__file__).parents[3] / "_static" / "course.css").read_text()


def test_explorers_and_site_have_the_colours_of_plots_and_diagrams():
    on_dark, lines = palette.ON_DARK, (palette.BLUE, palette.ORANGE)
    for color in (*lines, palette.NAVY, *(on_dark[line] for line in lines)):
        assert color in EXPLORERS
    for color in on_dark.values():
        assert color in SITE


def test_a_map_of_weights_goes_from_the_page_to_navy():
    assert plots.WEIGHTS(0.0)[:3] == (1, 1, 1)
    assert plots.WEIGHTS(1.0)[:3] == tuple(int(palette.NAVY[i : i + 2], 16) / 255 for i in (1, 3, 5))
