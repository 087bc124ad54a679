"""Every notebook the book lists, as the tests beside this file see it."""

import json
from pathlib import Path

import pytest
from lessons import FURTHER, LESSON_NAMES, LOOK_UP, WITH_EXERCISES
from limits import markdown
from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).parents[2]
PAGES = parse_toc_yaml(ROOT / "_toc.yml")
NOTEBOOKS = [f"{page}.ipynb" for page in PAGES if (ROOT / f"{page}.ipynb").exists()]
CHAPTERS = [name for name in NOTEBOOKS if Path(name).stem in WITH_EXERCISES]
IN_ORDER = [Path(page).name for part in PAGES.root.subtrees for page in part.items if Path(page).name in LESSON_NAMES]
LESSONS = [f"chapters/{name}.ipynb" for name in sorted(LESSON_NAMES)]
ARGUMENTS = {
    "name": NOTEBOOKS,
    "chapter": CHAPTERS,
    "lesson": LESSONS,
    "look_up": [f"chapters/{name}.ipynb" for name in LOOK_UP],
    "lesson_or_further": [*LESSONS, *(f"chapters/{name}.ipynb" for name in sorted(FURTHER))],
}


def pytest_generate_tests(metafunc):
    """`name` runs over every notebook, `chapter` over those with exercises, `lesson` over the lessons."""
    for argument, names in ARGUMENTS.items():
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, names)


@pytest.fixture(scope="session")
def notebook_names():
    return set(NOTEBOOKS)


@pytest.fixture(scope="session")
def chapter_names():
    return set(CHAPTERS)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture
def next_lesson(lesson):
    """The notebook of the lesson that the table of contents has after this one; the last leads on to a reader's own."""
    behind = IN_ORDER[IN_ORDER.index(Path(lesson).stem) + 1 :]
    return f"{next(iter(behind), 'language_model')}.ipynb"


@pytest.fixture
def notebook(request):
    """The notebook's JSON as it stands in git: reading it through nbformat would mend it first."""
    (path,) = (value for argument, value in request.node.callspec.params.items() if argument in ARGUMENTS)
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


@pytest.fixture
def linked_before(lesson_or_further, notebook):
    """The notebooks that the page links to, of those before it in the table of contents."""
    before = NOTEBOOKS[: NOTEBOOKS.index(lesson_or_further)]
    linked = [name for name in before if f"]({Path(name).name}" in markdown(notebook)]
    return [json.loads((ROOT / name).read_text(encoding="utf-8")) for name in linked]
