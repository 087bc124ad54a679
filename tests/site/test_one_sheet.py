"""One style sheet in the place of those that pages share."""

import re
import sys

from built_site import ROOT, SITE, page_names

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.finishing.one_sheet import RELATIVE, SHARED, SHEET, link  # noqa: E402

STATIC = SITE / "_static"
ALONE = {"model.css", "translator.css", "search.css"}  # what a few pages need
LINKED = """<head>
<link rel="stylesheet" href="../_static/basic.css">
    <link rel="stylesheet" type="text/css" href="../_static/model.css?v=12345678" />
    <link rel="stylesheet" type="text/css" href="../_static/styles/course.css?v=12345678" />
<link rel="icon" href="../_static/favicon.svg"/>
</head>"""


def sheets(page):
    """The style sheets that a page names, in order."""
    links = re.findall(r'<link rel="stylesheet"[^>]*>', (SITE / page).read_text(encoding="utf-8"))
    return [re.search(r'href="[^"?]*_static/([^"?]+)', each)[1] for each in links]


def test_each_page_asks_for_the_one_sheet_first_and_hardly_for_others():
    for page in page_names():
        first, *others = sheets(page)
        assert first == SHEET and set(others) <= ALONE, page


def test_it_holds_them_all_in_their_order():
    text = (STATIC / SHEET).read_text(encoding="utf-8")
    places = []
    for pattern in SHARED:
        (file,) = STATIC.glob(pattern)
        rules = file.read_text(encoding="utf-8").removeprefix('@charset "UTF-8";')
        places.append(text.find(rules) if not RELATIVE.search(rules) else text.find(rules[: rules.index("url(")]))
    assert -1 not in places and places == sorted(places)
    assert len(text) > 100_000


def test_what_it_names_is_where_it_says():
    """But the older formats of KaTeX's fonts, which browsers of today do not ask for and the site does not have."""
    named = re.findall(r"""url\(["']?(?!["']?data:)([^"')]+)""", (STATIC / SHEET).read_text(encoding="utf-8"))
    assert {"katex/fonts/KaTeX_Main-Regular.woff2"} < set(named)
    older = re.compile(r"katex/.*\.(woff|ttf)")
    assert [name for name in named if not older.fullmatch(name) and not (STATIC / name).is_file()] == []


def test_the_link_stands_where_the_first_stood_and_follows_the_sheet():
    """Also on a page of an earlier build."""
    once = link(LINKED, "aaaaaaaa", {"basic.css", "styles/course.css", SHEET})
    assert once == """<head>
<link rel="stylesheet" href="../_static/site.css?v=aaaaaaaa">
    <link rel="stylesheet" type="text/css" href="../_static/model.css?v=12345678" />
<link rel="icon" href="../_static/favicon.svg"/>
</head>"""
    assert link(once, "bbbbbbbb", {SHEET}) == once.replace("aaaaaaaa", "bbbbbbbb")
