"""Which pages there are, from the table of contents: lessons and, beside each, its further pages."""

from pathlib import Path

import yaml

_TOC = yaml.safe_load((Path(__file__).parents[1] / "_toc.yml").read_text(encoding="utf-8"))
_CHAPTERS = [
    chapter for part in _TOC["parts"] for chapter in part["chapters"] if chapter["file"].startswith("chapters/")
]
_FILES = [[chapter, *chapter.get("sections", [])] for chapter in _CHAPTERS]

# The names of all pages, in the order of the table of contents.
IN_ORDER = [Path(page["file"]).name for pages in _FILES for page in pages]
# Lessons: one sitting, one question.
LESSON_NAMES = {Path(lesson["file"]).name for lesson, *_ in _FILES}
# Further pages of lessons: proofs, derivations, sweeps.
FURTHER = {Path(page["file"]).name for _, *further in _FILES for page in further}
