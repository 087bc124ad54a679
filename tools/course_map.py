"""Writes the list of the course on the front page and in README, from the table of contents and what the pages say."""

import re
from math import ceil
from pathlib import Path

import nbformat
import yaml

READING_AND_EXERCISES = re.compile(r"\*\*Reading about (\d+) minutes, exercises about (\d+)\.\*\*")
LOOK_UP = "Look it up"  # this part's pages say no time: they are not read from end to end
NO_LESSONS = ("In short", LOOK_UP)
FRONT_PAGE = Path("intro.ipynb")
README = Path("README.md")
IN_README = re.compile(r"(?<=\n## The parts\n\n).*?</details>", re.DOTALL)
CELL = "parts"  # the id of the front page's cell that holds the list
END_OF_FIRST_READING = "language_model"  # the reader builds the front page's model there
EVENING = 90  # minutes
HEAD = """A first reading has {lessons} lessons, up to a model like the one above. \
It takes {evenings} of an hour and a half. \
Minutes are estimates of what a first reader needs, with the short exercises.
"""
REST = """
<details><summary>All other pages (in italics: optional ones, each beside its lesson)</summary>
"""


def read_page(file):
    """What a notebook says of itself: its file, its title, and its minutes with the exercises."""
    cells = nbformat.read(f"{file}.ipynb", as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    minutes = READING_AND_EXERCISES.search(text)
    if not minutes:
        raise ValueError(f"{file} must say how long it takes, as the other pages do")
    return {"file": file, "title": title_of(text), "minutes": sum(map(int, minutes.groups()))}


def title_of(text):
    """The title in a page's Markdown."""
    return text.splitlines()[0].removeprefix("# ").strip()


def read_contents():
    """The captions of the table of contents that hold chapters, in its order, each with its chapters."""
    for part in yaml.safe_load(Path("_toc.yml").read_text(encoding="utf-8"))["parts"]:
        chapters = [chapter for chapter in part["chapters"] if chapter["file"].startswith("chapters/")]
        if chapters:
            yield part["caption"], chapters


def read_look_up():
    """The pages to look something up in."""
    files = [chapter["file"] for part, chapters in read_contents() if part == LOOK_UP for chapter in chapters]
    return [
        {"file": file, "title": title_of(nbformat.read(f"{file}.ipynb", as_version=4).cells[0].source)}
        for file in files
    ]


def read_parts():
    """The parts of the table of contents that hold lessons, in its order; each lesson has its further pages."""
    parts = []
    for part, chapters in read_contents():
        lessons = [
            read_page(chapter["file"]) | {"further": [read_page(page["file"]) for page in chapter.get("sections", [])]}
            for chapter in chapters
            if part not in NO_LESSONS
        ]
        if lessons:
            parts.append({"part": part, "lessons": lessons})
    return parts


def first_reading(lessons):
    """The lessons up to the one in which the reader builds the front page's model."""
    end = next(place for place, lesson in enumerate(lessons) if lesson["file"].endswith(f"/{END_OF_FIRST_READING}"))
    return lessons[: end + 1]


def write_list(parts, look_up=()):
    """The first reading with its minutes, and all other pages folded, as Markdown; each page is linked once."""
    lessons = [lesson for part in parts for lesson in part["lessons"]]
    first = first_reading(lessons)
    lines = [HEAD.format(lessons=len(first), evenings=evenings(first))]
    lines += [f"{place}. {link(lesson)}, {lesson['minutes']} minutes" for place, lesson in enumerate(first, 1)]
    lines.append(REST)
    for part in parts:
        pages = []
        for lesson in part["lessons"]:
            pages += [link(lesson)] * (lesson not in first) + [f"*{link(page)}*" for page in lesson["further"]]
        lines += [f"- {part['part']}: {', '.join(pages)}"] * bool(pages)
    if look_up:
        lines.append(f"- {LOOK_UP}: {', '.join(map(link, look_up))}")
    return "\n".join([*lines, "", "</details>"])


def link(page):
    """A page's title as a link."""
    return f"[{page['title']}]({page['file']}.ipynb)"


def evenings(pages):
    """How long some pages take, in whole evenings."""
    count = ceil(sum(page["minutes"] for page in pages) / EVENING)
    return f"{count} evening{'s' if count > 1 else ''}"


if __name__ == "__main__":
    page, listed = nbformat.read(FRONT_PAGE, as_version=4), write_list(read_parts(), read_look_up())
    next(cell for cell in page.cells if cell.id == CELL).source = f"## The parts\n\n{listed}"
    nbformat.write(page, FRONT_PAGE)
    README.write_text(IN_README.sub(lambda _: listed, README.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"the list in {FRONT_PAGE} and {README} is as the pages say")
