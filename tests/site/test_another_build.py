"""A book that is not published, built, changed and built again: what follows a change that is not in its own page."""

import json
import shutil

import pytest
from built_site import ROOT
from small_book import build, make_book, read_page, write_file

# The first two run, and the others have what they gave from the cache, as in `make site`: they are not read again.
NAMES = ("a_claim", "a_text", "chapters/lesson", "claimed", "other", "still", "claims", "glossary")
TOC = "format: jb-book\nroot: page\nchapters:\n" + "".join(f"- file: {name}\n" for name in NAMES)
FRONT = """\
# A page

Before [a link](other.ipynb) in a sentence.

[Start here](other.ipynb), or [run the first notebook](other.ipynb).
"""
LESSON = "# A lesson\n\nIt has a softmax and a mask.\n"
CLAIM = "# A claim\n\n```{code-cell}\nprint('✓ two is more than one')\nprint('✓ three is more than two')\n```\n"
LEFT = (
    *("gone.html", "chapters/gone.html", "gone/for_good.html", "_sources/chapters/gone.ipynb", "_images/gone.webp"),
    *("_static/cards/chapters/gone.png", "_static/frames/gone.svg", "_static/models/gone.js"),
)


def build_well(book):
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return book / "_build" / "html"


def write_odds(book, **held):
    """As `make site` does: how often claims held."""
    claims = [{"sentence": text, "kind": kind, "held": n} for text, (kind, n) in held.items()]
    (book / "_build").mkdir(exist_ok=True)
    (book / "_build" / "odds.json").write_text(json.dumps({"claimed": {"runs": 10, "claims": claims}}))


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    pages = {"_toc.yml": TOC, "page.md": FRONT, "chapters/lesson.md": LESSON, "a_text.md": "# A text\n"}
    pages |= {f"{name}.md": CLAIM for name in ("a_claim", "claimed", "other")}
    pages |= {"still.md": "# Still\n", "glossary.md": "# Glossary\n\nsoftmax\n: Weights."}
    book = make_book(tmp_path_factory.mktemp("book"), pages)
    shutil.copy(ROOT / "claims.md", book)
    write_odds(book, **{"two is more than one": ("exact", 10), "three is more than two": ("trained", 8)})
    return book


@pytest.fixture(scope="module")
def before(book, tmp_path_factory):
    return shutil.copytree(build_well(book), tmp_path_factory.mktemp("before") / "html")


@pytest.fixture(scope="module")
def after(book, before):
    """The site when much has changed: the glossary, odds, a page, and what moved; with what it had before."""
    write_file(book / "other.md", '# All of it\n\n<p class="alert-danger">Something bad.</p>\n')
    (book / "glossary.md").write_text("# Glossary\n\nmask\n: What forbids.")
    (book / "_moved.yml").write_text("still#left: other\n")
    write_odds(book, **{"two is more than one": ("recorded", 10), "three is more than two": ("trained", 10)})
    for name in LEFT:
        write_file(book / "_build" / "html" / name, "left")
    return build_well(book)


def test_no_dead_button_before_publication(before):
    """While the repository's address is the placeholder, only the download is offered."""
    buttons = read_page(before, "page").select(".course-button")
    links = [(button.get_text(strip=True), button["href"]) for button in buttons]
    assert links == [("Download notebook", "_sources/page.ipynb")]


def test_before_publication_nothing_names_an_address(before):
    """What needs one is left out; a page says what it is all the same."""
    page = read_page(before, "page")
    addresses = "link[rel=canonical], meta[property='og:url'], meta[property='og:image']"
    assert page.select(addresses) == read_page(before, "index").select(addresses) == []
    assert page.select_one("meta[property='og:title']")["content"] == "A page"
    assert page.select_one("meta[name=description]")["content"] == "Before a link in a sentence."
    assert (before / "robots.txt").read_text() == "User-agent: *\nDisallow:\n"
    assert not (before / "sitemap.xml").exists() and not (before / "_static" / "cards").exists()
    assert 'href="/page.html"' in (before / "404.html").read_text()


def test_before_publication_the_link_to_run_leads_to_a_page(before):
    """Where the notebook can be downloaded; nothing is said of Colab."""
    start, run = read_page(before, "page").select("p:-soup-contains('Start here') a")
    assert (run.get_text(), run["href"]) == ("run the first notebook", "other.html")
    assert start["href"] == "other.html"


def terms(site):
    """The words that the lesson marks."""
    return [mark.get_text() for mark in read_page(site, "chapters/lesson").select(".course-term")]


def listed(site):
    """The pages of the list of claims, and their odds."""
    page = read_page(site, "claims")
    titles = [section.h2.find(string=True) for section in page.select("section > section")]
    return titles, [odds.get_text() for odds in page.select(".claim-odds")]


def test_another_glossary_changes_the_chapters(before, after):
    assert (terms(before), terms(after)) == (["softmax"], ["mask"])


def test_odds_stand_beside_claims_and_follow_their_record(before, after):
    """The list follows a page that claims nothing any more."""
    assert listed(before) == (["A claim"] * 3, ["exact", "8 of 10 runs"])
    assert listed(after) == (["A claim"] * 2, ["recorded", "10 of 10 runs"])
    said = [read_page(site, "claimed").get_text() for site in (before, after)]
    assert ["three is more than two (held in 8 of 10 runs)" in text for text in said] == [True, False]


def test_a_page_whose_own_text_is_as_it_was_follows_the_list_of_moves(before, after):
    scripts = [read_page(site, "still").select("script[src*='moved.js']") for site in (before, after)]
    assert scripts[0] == []
    assert json.loads(scripts[1][0]["data-parts"]) == {"#left": "other.html#"}


def test_all_pages_follow_another_ones_title(after):
    assert "All of it" in read_page(after, "page").select_one(".bd-sidebar").get_text()
    assert read_page(after, "still").select_one(".left-prev .prev-next-title").get_text() == "All of it"


def test_a_rule_comes_back_with_its_class(before, after):
    sheets = [(site / "_static" / "styles" / "bootstrap.css").read_text(encoding="utf-8") for site in (before, after)]
    assert [".alert-danger{" in sheet for sheet in sheets] == [False, True]


def test_what_earlier_builds_left_is_taken_away(before, after):
    """And nothing else."""
    files = [{path.relative_to(site) for path in site.rglob("*") if path.is_file()} for site in (before, after)]
    assert files[0] == files[1]
