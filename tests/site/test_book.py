"""What the configuration and the extension do, on the sample."""

import json
import logging
from types import SimpleNamespace

import pytest
from course_site.buttons import colab_address, page_buttons
from course_site.finishing.icons import ICONS
from course_site.widgets import render_nothing
from myst_nb.core.render import WIDGET_VIEW_MIMETYPE
from small_book import read_page

# Which pages load what only some pages need.
LOADED = {
    "explorers.js": {"chapters/multi_head", "chapters/last", "shown"},
    "folds.js": {"chapters/second", "shown", "turning"},
    "moved.js": {"page"},
    "quick_checks.js": {"checks", "chapters/terms"},
    "search-index.js": {"search"},
    "terms.js": {"chapters/terms"},
    "wrong_lines.js": {"wrong_lines"},
}


@pytest.mark.parametrize("script", LOADED)
def test_a_page_loads_the_scripts_that_it_needs(sample, script):
    pages = [path for path in sample.rglob("*.html") if not path.relative_to(sample).as_posix().startswith("_")]
    found = {path.relative_to(sample).with_suffix("").as_posix() for path in pages if script in path.read_text()}
    assert found == LOADED[script]


def test_buttons_lead_to_the_published_repository(sample):
    """Colab and the repository are offered too."""
    buttons = read_page(sample, "page").select(".course-button")
    assert {button.get_text(strip=True): button["href"] for button in buttons} == {
        "Open in Colab": "https://colab.research.google.com/github/someone/repository/blob/v1.2/page.ipynb",
        "Download notebook": "_sources/page.ipynb",
        "Repository": "https://github.com/someone/repository",
    }


def test_a_repository_elsewhere_has_its_button_and_none_for_colab():
    """Colab opens notebooks of GitHub alone; nor does the button bear GitHub's sign."""
    url = "https://example.org/someone/course"
    buttons = page_buttons(url, "main", "page", is_notebook=True, download="page.ipynb")
    assert [button["text"] for button in buttons] == ["Download notebook", "Repository"]
    assert buttons[1]["url"] == url
    assert buttons[1]["icon"].removeprefix("fa-solid fa-") in ICONS["fa-solid-900"]
    assert colab_address(url, "main", "page") is None


def test_the_link_to_run_leads_into_colab(sample):
    """Once there is an address, with the notebook that the link names."""
    start, run = read_page(sample, "page").select("p:-soup-contains('Start here') a")
    colab = "https://colab.research.google.com/github/someone/repository/blob/v1.2/chapters/multi_head.ipynb"
    assert (run.get_text(), run["href"]) == ("run the first notebook in Colab", colab)
    assert (start.get_text(), start["href"]) == ("Start here", "chapters/multi_head.html")


@pytest.mark.parametrize(("other", "said"), [({}, ["the widget of cell 2 draws nothing"]), ({"text/html": "b"}, [])])
def test_a_widget_alone_is_reported(caplog, monkeypatch, other, said):
    """It is an error, not a gap in the page; one that offers something else shows that."""
    monkeypatch.setattr(logging.getLogger("sphinx"), "propagate", True)
    view = {"model_id": "widget"}
    outputs = [{"text": "printed"}, {"data": {WIDGET_VIEW_MIMETYPE: view, **other}}]
    client = SimpleNamespace(code_cell_outputs=lambda cell: (None, outputs))
    renderer = SimpleNamespace(nb_client=client, sphinx_env=SimpleNamespace(docname="page"))
    data = SimpleNamespace(content=view, cell_index=1, line=1)
    assert render_nothing(SimpleNamespace(renderer=renderer), data) == []
    assert [message.partition(",")[0] for message in caplog.messages] == said


def test_an_explorer_brings_its_frames_as_files(sample):
    """A strict policy has no images in data. It may follow what its cell prints, of which MyST-NB makes one part."""
    explorers = read_page(sample, "shown").select(".cell_output .course-explorer")
    assert len(explorers) == 2 and "Two weights." in str(explorers[0])
    frames = json.loads(explorers[1].script.string)["values"]["data"]["frames"]
    assert explorers[1].img["src"] == frames[0]
    assert len(set(frames)) == 2
    assert all((sample / frame).stat().st_size > 100 for frame in frames)
