"""Next leads from lesson to lesson; further pages lie beside the path. Every page follows what others are called."""

from types import SimpleNamespace

import pytest
from course_site.everywhere import with_other_neighbours
from docutils import nodes
from small_book import read_page

NEIGHBOURS = {
    "page": (None, "chapters/multi_head"),
    "chapters/multi_head": ("page", "chapters/second"),
    "chapters/further": ("chapters/multi_head", "chapters/second"),
    "chapters/terms": ("chapters/multi_head", "chapters/second"),
    "chapters/second": ("chapters/multi_head", "chapters/plain"),
    "chapters/other": ("chapters/second", "chapters/plain"),
    "chapters/last": ("chapters/plain", "checks"),
    "checks": ("chapters/last", "shown"),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_next_and_previous_and_what_is_optional(sample, name):
    """Further pages say so above their titles; no lesson does, and no page that is none of the course's chapters."""
    page, folder = read_page(sample, name), (sample / name).parent
    sides = ("a.left-prev", "a.right-next")
    links = [page.select_one(f".prev-next-area {side}") for side in sides]
    found = [link and (folder / link["href"]).resolve() for link in links]
    assert found == [neighbour and sample.resolve() / f"{neighbour}.html" for neighbour in NEIGHBOURS[name]]
    if NEIGHBOURS[name][1] == "chapters/second":
        assert links[1].select_one(".prev-next-title").get_text() == "About <second>"
    marks = [(word.get_text(), word.find_next_sibling().name) for word in page.select(".course-optional")]
    assert marks == ([("Optional", "h1")] if name in ("chapters/further", "chapters/terms", "chapters/other") else [])


def test_all_pages_are_written_again_for_titles_contents_and_files(tmp_path):
    """And for nothing else."""
    style, contents = tmp_path / "course.css", {"parts": ["First"]}
    style.write_text("a {}")
    pages = {"page": nodes.title("", "A page"), "other": nodes.title("", "Another")}
    env = SimpleNamespace(found_docs=set(pages), titles=pages, collect_relations=lambda: pages)
    site_map = SimpleNamespace(as_json=contents.copy)
    app = SimpleNamespace(confdir=tmp_path, config=SimpleNamespace(html_static_path=["."], external_site_map=site_map))
    changes = [
        lambda: None,
        lambda: pages.update(other=nodes.title("", "Another title")),
        lambda: contents.update(parts=["Second"]),
        lambda: style.write_text("b {}"),
    ]
    for change in changes:
        change()
        assert with_other_neighbours(app, env) == set(pages)
        (tmp_path / "favicon.svg").write_text("No page names its checksum.")
        assert not with_other_neighbours(app, env)
