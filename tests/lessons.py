"""Which pages there are, from the table of contents: lessons, beside each its further pages, and pages to look up."""

from pathlib import Path

import yaml

_TOC = yaml.safe_load((Path(__file__).parents[1] / "_toc.yml").read_text(encoding="utf-8"))
_LOOK_UP = "Look it up"  # the part that holds them
_NO_LESSONS = ("In short", _LOOK_UP)  # parts whose pages have no exercises


def _chapters(parts):
    """Each chapter of some parts with its sections behind it, as names."""
    chapters = [chapter for part in parts for chapter in part["chapters"] if chapter["file"].startswith("chapters/")]
    return [[Path(page["file"]).name for page in (chapter, *chapter.get("sections", []))] for chapter in chapters]


_FILES = _chapters(part for part in _TOC["parts"] if part["caption"] not in _NO_LESSONS)

# Lessons: one sitting, one question.
LESSON_NAMES = {lesson for lesson, *_ in _FILES}
# Further pages of lessons: proofs, derivations, sweeps.
FURTHER = {page for _, *further in _FILES for page in further}
# The first reading, from the primer to the model of the front page.
_IN_ORDER = [lesson for lesson, *_ in _FILES]
FIRST_READING = _IN_ORDER[: _IN_ORDER.index("language_model") + 1]
# Pages to look something up in: questions with an answer each, no exercises, no time.
LOOK_UP = [page for pages in _chapters(part for part in _TOC["parts"] if part["caption"] == _LOOK_UP) for page in pages]

# The names of the pages with exercises, and of all pages, in the order of the table of contents.
WITH_EXERCISES = [page for pages in _FILES for page in pages]
IN_ORDER = [page for pages in _chapters(_TOC["parts"]) for page in pages]
