"""Which pages keep to the form of a lesson: all of the table of contents, but those named here, until they do."""

from pathlib import Path

import yaml

IN_THE_OLD_FORM = {"efficient"}

_TOC = yaml.safe_load((Path(__file__).parents[1] / "_toc.yml").read_text(encoding="utf-8"))
_CHAPTERS = [
    chapter for part in _TOC["parts"] for chapter in part["chapters"] if chapter["file"].startswith("chapters/")
]
_FILES = [[chapter, *chapter.get("sections", [])] for chapter in _CHAPTERS]

# The names of all pages, in the order of the table of contents.
IN_ORDER = [Path(page["file"]).name for pages in _FILES for page in pages]
# Lessons: one sitting, one question.
IN_THE_NEW_FORM = {Path(lesson["file"]).name for lesson, *_ in _FILES} - IN_THE_OLD_FORM
# Further pages of lessons: proofs, derivations, sweeps.
FURTHER = {Path(page["file"]).name for _, *further in _FILES for page in further}
