"""Claims on the site: checked lines where they are printed, and a page that lists them all."""

import json
import platform
import sys
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from serving import BOOK, serving
from small_book import build, make_book, write_notebook
from visits import ROOT, run_axe

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.claims import when_and_with_what  # noqa: E402

VERSIONS = "PyTorch 0.9 on 4 CPU cores, seed 0"  # none that could be installed here
CELL = """\
from attention_course import claim

print("before")
claim("two is more than one", 2 > 1)
claim("an <i> stays as it is", True)
print("between")
claim("three is more than two", 3 > 2)
claim("one is more than two", 1 > 2)
print("✗ is a cross")
print("    after")"""


def make(folder):
    """A book of a page with claims, the list of them, and a page without."""
    book = make_book(folder)
    (book / "claims.md").write_text((ROOT / "claims.md").read_text(encoding="utf-8"), encoding="utf-8")
    (book / "_toc.yml").write_text("format: jb-book\nroot: page\nchapters:\n- file: claims\n- file: other\n")
    write_notebook(book, "print('nothing claimed')")
    (book / "page.ipynb").rename(book / "other.ipynb")
    write_notebook(book, f"print({VERSIONS!r})", CELL, "claim('four is more than three', 4 > 3)")
    return book


def html(book, name):
    return BeautifulSoup((book / "_build" / "html" / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = make(tmp_path_factory.mktemp("claims"))
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return book


def test_claims_are_lists_between_what_else_is_printed(book):
    first, second = html(book, "page").select(".cell_output")
    said = [block.get_text().strip("\n") for block in first.select("ul.claims, pre")]
    assert said == [
        "before",
        "✓ two is more than one\n✓ an <i> stays as it is",
        "between",
        "✓ three is more than two\n✗ not so in this run: one is more than two",
        "✗ is a cross\n    after",
    ]
    assert [mark.get_text().strip() for mark in first.select(".claim-cross")] == ["✗"]
    assert [item.get_text() for item in second.select("ul.claims > li")] == ["✓ four is more than three"]
    assert not html(book, "other").select("ul.claims")


def test_all_claims_are_listed_and_lead_to_where_they_are_checked(book):
    (listed,) = html(book, "claims").select("section > section")
    assert listed.h2.get_text().startswith("A page")
    links = {link.get_text(): link["href"] for link in listed.select("li a")}
    page = html(book, "page")
    assert {text: page.select_one(href.removeprefix("page.html")).get_text() for text, href in links.items()} == {
        text: f"{'✗' if text.startswith('not so') else '✓'} {text}"
        for text in (
            "two is more than one",
            "an <i> stays as it is",
            "three is more than two",
            "not so in this run: one is more than two",
            "four is more than three",
        )
    }
    marked = [item.get_text() for item in listed.select("li:has(.claim-cross)")]
    assert marked == ["✗ not so in this run: one is more than two"]


def write_odds(book, **held):
    """As `make site` does: how often claims held."""
    claims = [{"sentence": text, "kind": kind, "held": n} for text, (kind, n) in held.items()]
    (book / "_build").mkdir(exist_ok=True)
    (book / "_build" / "odds.json").write_text(json.dumps({"page": {"runs": 10, "claims": claims}}))


def test_odds_stand_beside_claims_and_follow_their_record(tmp_path):
    book = make(tmp_path)
    write_odds(book, **{"two is more than one": ("exact", 10), "three is more than two": ("trained", 8)})
    assert build(book).returncode == 0
    lines = [item.get_text() for item in html(book, "page").select("ul.claims > li")]
    assert [line for line in lines if "runs" in line] == ["✓ three is more than two (held in 8 of 10 runs)"]
    listed = {
        item.a.get_text(): item.select_one(".claim-odds")
        for item in html(book, "claims").select("li:has(a[href*=claim-])")
    }
    said = {text: odds.get_text() for text, odds in listed.items() if odds}
    assert said == {"two is more than one": "exact", "three is more than two": "8 of 10 runs"}
    write_odds(book, **{"two is more than one": ("recorded", 10), "three is more than two": ("trained", 10)})
    assert build(book).returncode == 0
    assert "8 of 10" not in html(book, "page").get_text()
    said = [odds.get_text() for odds in html(book, "claims").select(".claim-odds")]
    assert said == ["recorded", "10 of 10 runs"]


def test_the_list_says_when_and_with_what_claims_were_checked(book):
    said = html(book, "claims").select_one("section > section > p").get_text()
    now = datetime.now(UTC)
    assert said == f"Checked on {now.day} {now:%B %Y} with Python {platform.python_version()} and PyTorch 0.9."


@pytest.mark.parametrize(("ran_with", "and_with"), [(VERSIONS, " and PyTorch 0.9"), (None, "")])
def test_the_versions_are_those_of_the_run(ran_with, and_with):
    """Not those of the machine that builds the site."""
    data = {"language_info": {"version": "3.9.1"}, "ran_with": ran_with}
    env = SimpleNamespace(nb_metadata={"page": {"exec_data": {"mtime": 0}}}, metadata={"page": data})
    assert when_and_with_what(env, "page") == f"Checked on 1 January 1970 with Python 3.9.1{and_with}."


def test_the_list_follows_a_page_that_changes(tmp_path):
    book = make(tmp_path)
    assert build(book).returncode == 0
    write_notebook(book, "print('nothing claimed')")
    assert build(book).returncode == 0
    assert html(book, "claims").select("section > section") == []
    assert "No lesson claims anything yet." in html(book, "claims").get_text()


def test_accessible(book, browser, scheme):
    with serving(book / "_build" / "html", BOOK) as origin:
        page = browser.new_page(color_scheme=scheme, reduced_motion="reduce")
        for name in ("page", "claims"):
            page.goto(f"{origin}/{name}.html")
            assert run_axe(page) == []
        page.close()
