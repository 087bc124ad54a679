"""Claims on the site: checked lines where they are printed, and a page that lists them all."""

import json
import platform
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from course_site.claims import fill_index, in_words, odds_of, when_and_with_what
from docutils import nodes
from small_book import read_page

VERSIONS = "PyTorch 0.9 on 4 CPU cores, seed 0"  # of the sample, and none that could be installed here
PAGE = "shown"
CLAIMS = [
    "✓ two is more than one",
    "✓ an <i> stays as it is",
    "✓ three is more than two",
    "✗ not so in this run: one is more than two",
    "✓ four is more than three",
]


def test_claims_are_lists_between_what_else_is_printed(sample):
    first, second = (
        claims.find_parent(class_="cell_output") for claims in read_page(sample, PAGE).select("ul.claims")[::2]
    )
    said = [block.get_text().strip("\n") for block in first.select("ul.claims, pre")]
    claims = ["\n".join(CLAIMS[:2]), "\n".join(CLAIMS[2:4])]
    assert said == ["before", claims[0], "between", claims[1], "✗ is a cross\n    after"]
    assert [mark.get_text().strip() for mark in first.select(".claim-cross")] == ["✗"]
    assert [item.get_text() for item in second.select("ul.claims > li")] == CLAIMS[4:]


def test_all_claims_are_listed_and_lead_to_where_they_are_checked(sample):
    """Page by page, with the day and the versions of its run; no page that claims nothing."""
    page, (listed,) = read_page(sample, PAGE), read_page(sample, "claims").select("section > section")
    assert listed.h2.get_text().startswith("What cells show")
    links = {link.get_text(): link["href"].removeprefix(f"{PAGE}.html") for link in listed.select("li a")}
    assert list(links) == [claim[2:] for claim in CLAIMS]
    assert [page.select_one(link).get_text() for link in links.values()] == CLAIMS
    assert [item.get_text() for item in listed.select("li:has(.claim-cross)")] == [CLAIMS[3]]
    now = datetime.now(UTC)
    checked = f"Checked on {now.day} {now:%B %Y} with Python {platform.python_version()} and PyTorch 0.9."
    assert listed.p.get_text() == checked


def test_a_book_that_claims_nothing_says_so():
    page = nodes.section()
    env = SimpleNamespace(collect_relations=lambda: ["page"], metadata={"page": {}})
    fill_index(SimpleNamespace(env=env), page, "claims")
    assert page.astext() == "No lesson claims anything yet."


@pytest.mark.parametrize(
    ("kind", "held", "listed", "beside"),
    [
        ("exact", 10, "exact", ""),
        ("recorded", 10, "recorded", ""),
        ("trained", 10, "10 of 10 runs", ""),
        ("trained", 8, "8 of 10 runs", " (held in 8 of 10 runs)"),
        ("exact", 9, "9 of 10 runs", " (held in 9 of 10 runs)"),
    ],
)
def test_odds_stand_beside_claims(tmp_path, kind, held, listed, beside):
    """Whatever numbers the run had; of several claims with the same words, as of the one that held least often."""
    claims = [{"sentence": "3 is more than 2.5", "kind": kind, "held": n} for n in (10, held, 10)]
    (tmp_path / "_build").mkdir()
    (tmp_path / "_build" / "odds.json").write_text(json.dumps({"page": {"runs": 10, "claims": claims}}))
    odds = odds_of(SimpleNamespace(srcdir=tmp_path), "page")
    assert in_words(odds, "✓ 4 is more than 3.5") == (listed, beside)
    assert in_words(odds, "✓ another claim") == ("", "")


@pytest.mark.parametrize(("ran_with", "and_with"), [(VERSIONS, " and PyTorch 0.9"), (None, "")])
def test_the_versions_are_those_of_the_run(ran_with, and_with):
    """Not those of the machine that builds the site."""
    data = {"language_info": {"version": "3.9.1"}, "ran_with": ran_with}
    env = SimpleNamespace(nb_metadata={"page": {"exec_data": {"mtime": 0}}}, metadata={"page": data})
    assert when_and_with_what(env, "page") == f"Checked on 1 January 1970 with Python 3.9.1{and_with}."
