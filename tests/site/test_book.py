"""What the configuration and the extension do, on a book of one page."""

import json
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from small_book import build, make_book, write_notebook
from visits import ROOT

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.buttons import colab_address, page_buttons  # noqa: E402
from course_site.icons import ICONS  # noqa: E402

PLACEHOLDER = "https://github.com/your-organisation/course"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A folder with the course's configuration and extension, and one page."""
    return make_book(tmp_path)


def publish_from(book: Path, url: str) -> None:
    """Name a repository in the book's configuration."""
    config = book / "_config.yml"
    config.write_text(re.sub(r"(?m)^(  url: ).*$", rf"\g<1>{url}", config.read_text()))


def first_page(book: Path) -> BeautifulSoup:
    """The first page of a built book."""
    return BeautifulSoup((book / "_build" / "html" / "page.html").read_text(), "html.parser")


def button_links(book: Path) -> dict[str, str]:
    """The buttons over the page: what they say, and where they lead."""
    return {button.get_text(strip=True): button["href"] for button in first_page(book).select(".course-button")}


FRONT = """\
Before [a link](other.ipynb) in a sentence.

[Start here](other.ipynb), or [run the first notebook](other.ipynb).
"""


def front_page(book: Path, url: str) -> Path:
    """A built book of two pages, published or not, whose first has a link to run the other."""
    publish_from(book, url)
    shutil.copy(book / "page.ipynb", book / "other.ipynb")
    (book / "_toc.yml").write_text("format: jb-book\nroot: page\nchapters:\n  - file: other\n")
    notebook = nbformat.read(book / "page.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell(FRONT))
    nbformat.write(notebook, book / "page.ipynb")
    assert build(book).returncode == 0
    return book


@pytest.fixture(scope="module")
def unpublished(tmp_path_factory) -> Path:
    """A book whose repository has no address yet."""
    return front_page(make_book(tmp_path_factory.mktemp("unpublished")), PLACEHOLDER)


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    """A book with a real address in _config.yml."""
    return front_page(make_book(tmp_path_factory.mktemp("published")), "https://github.com/someone/course")


def test_no_dead_button_before_publication(unpublished):
    """While the repository's address is the placeholder, only the download is offered."""
    assert button_links(unpublished) == {"Download notebook": "_sources/page.ipynb"}


def test_buttons_lead_to_the_published_repository(published):
    """Colab and the repository are offered too."""
    assert button_links(published) == {
        "Open in Colab": "https://colab.research.google.com/github/someone/course/blob/main/page.ipynb",
        "Download notebook": "_sources/page.ipynb",
        "Repository": "https://github.com/someone/course",
    }


def test_a_repository_elsewhere_has_its_button_and_none_for_colab():
    """Colab opens notebooks of GitHub alone; nor does the button bear GitHub's sign."""
    url = "https://example.org/someone/course"
    buttons = page_buttons(url, "main", "page", is_notebook=True, download="page.ipynb")
    assert [button["text"] for button in buttons] == ["Download notebook", "Repository"]
    assert buttons[1]["url"] == url
    assert buttons[1]["icon"].removeprefix("fa-solid fa-") in ICONS["fa-solid-900"]
    assert colab_address(url, "main", "page") is None


def test_before_publication_nothing_names_an_address(unpublished):
    """What needs one is left out; a page says what it is all the same."""
    page, site = first_page(unpublished), unpublished / "_build" / "html"
    addresses = "link[rel=canonical], meta[property='og:url'], meta[property='og:image']"
    assert page.select(addresses) == []
    assert BeautifulSoup((site / "index.html").read_text(), "html.parser").select(addresses) == []
    assert page.select_one("meta[property='og:title']")["content"] == "A page"
    assert page.select_one("meta[name=description]")["content"] == "Before a link in a sentence."
    assert (site / "robots.txt").read_text() == "User-agent: *\nDisallow:\n"
    assert not (site / "sitemap.xml").exists() and not (site / "_static" / "cards").exists()
    assert 'href="/page.html"' in (site / "404.html").read_text()


def test_before_publication_the_link_to_run_leads_to_a_page(unpublished):
    """Where the notebook can be downloaded; nothing is said of Colab."""
    start, run = first_page(unpublished).select("p:-soup-contains('Start here') a")
    assert (run.get_text(), run["href"]) == ("run the first notebook", "other.html")
    assert start["href"] == "other.html"


def test_the_link_to_run_leads_into_colab(published):
    """Once there is an address, with the notebook that the link names."""
    start, run = first_page(published).select("p:-soup-contains('Start here') a")
    colab = "https://colab.research.google.com/github/someone/course/blob/main/other.ipynb"
    assert (run.get_text(), run["href"]) == ("run the first notebook in Colab", colab)
    assert (start.get_text(), start["href"]) == ("Start here", "other.html")


SLIDER = """
import ipywidgets
import matplotlib.pyplot as plt

@ipywidgets.interact(height=(0.0, 2.0))
def draw(height=1.0):
    plt.bar([0], [height])
    plt.show()
"""


def test_a_slider_leaves_its_first_figure(book):
    """The figure is on the page with the cell's description, and nothing else of the widget is."""
    write_notebook(book, SLIDER)
    notebook = nbformat.read(book / "page.ipynb", as_version=4)
    notebook.cells[1].metadata["mystnb"] = {"image": {"alt": "One bar of height 1."}}
    nbformat.write(notebook, book / "page.ipynb")
    assert build(book).returncode == 0
    html = (book / "_build" / "html" / "page.html").read_text()
    images = BeautifulSoup(html, "html.parser").select(".cell_output img")
    assert [image["alt"] for image in images] == ["One bar of height 1."]
    assert "vnd.jupyter.widget" not in html
    assert "interactive(children=" not in html


AFTER_PRINTING = """
import sys
from attention_course.explore import explore_attention

for part in ("one", "two"):
    print(part, flush=True)
    print(part, file=sys.stderr, flush=True)
explore_attention([[0.0, 2.0]], [1], keys=[1, 2], alt="Two weights.")
"""


def test_an_explorer_may_follow_what_its_cell_prints(book):
    """MyST-NB joins printed parts into one, so outputs are not where the notebook counts them."""
    write_notebook(book, AFTER_PRINTING)
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Two weights." in (book / "_build" / "html" / "page.html").read_text()


def test_a_widget_without_a_figure_fails_the_build(book):
    """A widget that shows nothing without a kernel is an error, not a gap in the page."""
    write_notebook(book, "import ipywidgets\nipywidgets.FloatSlider()")
    result = build(book)
    assert result.returncode != 0
    assert "the widget of cell 2 draws nothing" in result.stdout + result.stderr


EXPLORER = """
import matplotlib.pyplot as plt
from attention_course.explore import explore_frames

explore_frames(lambda height: plt.figure().gca().bar([0], [height]), {"height": [1, 2]}, alt="One bar.")
"""


def test_an_explorer_brings_its_script_and_its_frames(book):
    """To the page that has it and to no other; frames are files, since a strict policy has no images in data."""
    write_notebook(book, EXPLORER)
    (book / "other.md").write_text("# Another page\n")
    (book / "_toc.yml").write_text("format: jb-book\nroot: page\nchapters:\n- file: other\n")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    site = book / "_build" / "html"
    page, other = (BeautifulSoup((site / f"{name}.html").read_text(), "html.parser") for name in ("page", "other"))
    assert len(page.select("script[src*='explorers.js']")) == 1
    assert other.select("script[src*='explorers.js']") == []
    explorer = page.select_one(".cell_output .course-explorer")
    frames = json.loads(explorer.script.string)["values"]["data"]["frames"]
    assert explorer.img["src"] == frames[0]
    assert len(set(frames)) == 2
    assert all((site / frame).stat().st_size > 100 for frame in frames)


def test_a_formula_that_katex_cannot_read_fails_the_build(book):
    """Bad maths would be printed in red with nothing said."""
    write_notebook(book)
    notebook = nbformat.read(book / "page.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell(r"$\frac{1}{$"))
    nbformat.write(notebook, book / "page.ipynb")
    result = build(book)
    assert result.returncode != 0
    assert "not valid KaTeX" in result.stdout + result.stderr


def test_a_formula_that_becomes_invalid_mathml_fails_the_build(book):
    """KaTeX gives this fraction three children, which Firefox logs as an error."""
    write_notebook(book)
    notebook = nbformat.read(book / "page.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell(r"$\frac{\operatorname{Var}}{x^2}$ and $\frac{a}{x < y}$"))
    nbformat.write(notebook, book / "page.ipynb")
    result = build(book)
    assert result.returncode != 0
    said = result.stdout + result.stderr
    assert r"invalid MathML of \frac{\operatorname{Var}}{x^2}" in said
    assert r"invalid MathML of \frac{a}" not in said
