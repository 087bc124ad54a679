"""What each lesson needs and what its reader can do afterwards, as a picture and a list, from the lessons' own lines.

A lesson says at its top "You need [that lesson](that.ipynb). Afterwards you can ...".
"""

import json
import re
from pathlib import Path

from docutils import nodes

PAGE = "instructors/objectives"
SAID = re.compile(r"\*\*Reading about .*?\*\* You need (?P<needs>.*?) Afterwards you can (?P<can>[^\n]*)")
LINK = re.compile(r"\]\((\w+)\.ipynb")
NO_LESSONS = ("In short", "Look it up")  # parts
# In the picture's units: a lesson's box, from one to the next, a part's caption, and the lanes on the right.
LEFT, WIDTH, HEIGHT, ROW, CAPTION, LANE = 8, 350, 30, 44, 34, 24


def read_lesson(app, page):
    """What a lesson needs, as pages, and what its reader can do."""
    cells = json.loads(Path(app.srcdir, f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    said = SAID.search(text)
    if not said:
        raise ValueError(f"{page} must say at its top what it needs, and what its reader can do afterwards")
    return [f"chapters/{name}" for name in LINK.findall(said["needs"])], said["can"]


def read_parts(app):
    """By its caption, each part's lessons, in the order of the book."""
    trees = app.config.external_site_map.root.subtrees
    parts = {tree.caption: [str(page) for page in tree.items if page.startswith("chapters/")] for tree in trees}
    return {caption: pages for caption, pages in parts.items() if pages and caption not in NO_LESSONS}


def direct_needs(needs):
    """What each lesson needs, without what a lesson it needs also needs.

    Args:
        needs: By lesson, in the order of the book, the lessons it needs.
    """
    before = {}
    for lesson, needed in needs.items():
        before[lesson] = set(needed).union(*(before[other] for other in needed))
    return {
        lesson: [one for one in needed if not any(one in before[other] for other in needed)]
        for lesson, needed in needs.items()
    }


def lanes_of(needs):
    """The lane of each lesson that others need which do not follow it at once: lanes that meet are not shared."""
    order = list(needs)
    spans = {}
    for place, lesson in enumerate(order):
        for other in needs[lesson]:
            if order.index(other) + 1 < place:
                spans[other] = (order.index(other), place)
    lanes = {}
    for lesson, (start, end) in sorted(spans.items(), key=lambda item: item[1][1] - item[1][0]):
        taken = {lanes[other] for other in lanes if spans[other][0] < end and start < spans[other][1]}
        lanes[lesson] = next(lane for lane in range(len(spans)) if lane not in taken)
    return lanes


def draw(parts, needs, titles):
    """The lessons from top to bottom, with arrows to those that need them."""
    from attention_course.diagrams.diagram import Diagram  # only where there is such a page: it imports torch

    needs = direct_needs(needs)
    said = [
        f"{titles[lesson]} needs {' and '.join(titles[other] for other in needed)}"
        for lesson, needed in needs.items()
        if needed
    ]
    picture = Diagram(
        f"Which lesson needs which. {'; '.join(said)}.", height=ROW * len(needs) + CAPTION * len(parts) + 8
    )
    y, areas = 0, {}
    for caption, lessons in parts.items():
        picture.text(LEFT, y + CAPTION / 2 + 4, caption, quiet=True)
        y += CAPTION
        for lesson in lessons:
            areas[lesson] = picture.box(LEFT, y, WIDTH, HEIGHT, titles[lesson], tone="query")
            y += ROW
    order, lanes = list(needs), lanes_of(needs)
    for place, lesson in enumerate(order):
        for other in needs[lesson]:
            start, end = areas[other], areas[lesson]
            if order[place - 1] == other:
                picture.arrow((LEFT + WIDTH - 20, start.y + HEIGHT), (LEFT + WIDTH - 20, end.y))
                continue
            x = LEFT + WIDTH + LANE * (lanes[other] + 1)
            out, into = start.right[1] + HEIGHT / 4, end.right[1] - HEIGHT / 4
            picture.arrow((start.right[0], out), (x, out), (x, into), (end.right[0], into))
    return picture


def item(app, lesson, needed, can):
    """A lesson in the list: its title, what it needs, each a link, and what its reader can do."""

    def link(page):
        return nodes.reference(
            "", app.env.titles[page].astext(), internal=True, refuri=app.builder.get_relative_uri(PAGE, page)
        )

    said = nodes.paragraph("", "", nodes.strong("", "", link(lesson)))
    for number, page in enumerate(needed):
        said += [nodes.Text(", " if number else " needs "), link(page)]
    said += nodes.Text(f". Afterwards you can {can}")
    return nodes.list_item("", said)


def fill_page(app, doctree, docname):
    """Append the picture and the list."""
    if docname != PAGE:
        return
    parts = read_parts(app)
    read = {lesson: read_lesson(app, lesson) for lessons in parts.values() for lesson in lessons}
    needs = {lesson: [page for page in needed if page in read] for lesson, (needed, _) in read.items()}
    titles = {lesson: app.env.titles[lesson].astext() for lesson in read}
    place = next(doctree.findall(nodes.section))
    place += nodes.raw("", draw(parts, needs, titles).svg, format="html")
    for caption, lessons in parts.items():
        part = nodes.section("", nodes.title("", caption), ids=[nodes.make_id(caption)])
        part += nodes.bullet_list("", *(item(app, lesson, needs[lesson], read[lesson][1]) for lesson in lessons))
        place += part


def write_page_again(app, env):
    """Have the page written in every build: any lesson may have changed its lines."""
    return [PAGE] if PAGE in env.found_docs else []


def setup(app):
    """Connect to the writing of the page."""
    app.connect("env-updated", write_page_again)
    app.connect("doctree-resolved", fill_page)
