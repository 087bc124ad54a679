"""A book with every fault that must stop its building, built once: each is named with its page."""

import pytest
from small_book import build, make_book

PAGES = {
    "_toc.yml": "format: jb-book\nroot: page\nchapters:\n- file: check\n- file: lines\n- file: maths\n- file: widget\n",
    "page.md": "# A page\n",
    "check.md": "# A check\n\n**By hand.** How many?\n\n<details><summary>Answer</summary>\n\n**Two.**\n\n</details>\n",
    "lines.md": "# Lines\n\n<details><summary>Which line is wrong?</summary>\n\n- `a` → it is.\n\n</details>\n",
    "maths.md": "# Maths\n\n$\\frac{1}{$\n\n$\\frac{\\operatorname{Var}}{x^2}$ and $\\frac{a}{x < y}$\n",
    "widget.md": "# A widget\n\n```{code-cell}\nimport ipywidgets\nipywidgets.FloatSlider()\n```\n",
    "_moved.yml": "chapters/before: chapters/nowhere\n",
}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """How the building of the book ended."""
    return build(make_book(tmp_path_factory.mktemp("faulty"), PAGES))


@pytest.mark.parametrize(
    "said",
    [
        "check.ipynb: WARNING: the quick check 'By hand. How many?' has an answer whose bold beginning is no number",
        "<summary>Which line is wrong?</summary>' does not stand right above its code",
        "maths.ipynb: WARNING: a formula on this page is not valid KaTeX",
        r"maths.ipynb: WARNING: KaTeX makes invalid MathML of \frac{\operatorname{Var}}{x^2}",
        "WARNING: the widget of cell 2 draws nothing",
        "got chapters/before: chapters/nowhere",
    ],
)
def test_a_fault_stops_the_build_and_is_named(result, said):
    assert result.returncode != 0
    assert said in result.stdout + result.stderr


def test_nothing_is_said_of_a_formula_that_is_well(result):
    assert r"MathML of \frac{a}" not in result.stdout + result.stderr
