"""A book that is published, as a release, built once: an explorer, a diagram, a figure, a glossary."""

import shutil
from pathlib import Path

import nbformat
from PIL import Image
from published import published
from small_book import build, make_book, write_cells
from visits import ROOT

SITE = "https://someone.github.io/repository/"
TOC = """\
format: jb-book
root: page
parts:
- caption: First part
  chapters:
  - file: chapters/multi_head
    sections:
    - file: chapters/further
- caption: Reference
  chapters:
  - file: glossary
"""
LESSON = """\
# Heads & more

*What do heads see & keep? It is $-\\infty$, or so.*

A paragraph."""
EXPLORER = """
from attention_course.explore import explore_attention

explore_attention([[0.0, 2.0], [1.0, 1.0]], "ab", keys="cd", alt="Four weights.")"""
DIAGRAM = """
from attention_course.diagrams.diagram import Diagram

picture = Diagram("A large box.", height=400)
picture.box(0, 0, 480, 400, tone="query")
picture"""


def make_published_book(folder: Path) -> Path:
    """Build the book, and return the folder of its pages."""
    book = make_book(folder)
    for name in ("LICENSE", "CITATION.cff"):
        shutil.copy(ROOT / name, book)
    config = book / "_config.yml"
    now, released = published(ROOT), config.read_text()
    changes = {now["url"]: "https://github.com/someone/repository", now["baseurl"]: SITE.rstrip("/")}
    for old, new in {**changes, f"  branch: {now['branch']}": "  branch: v1.2"}.items():
        released = released.replace(old, new)
    config.write_text(released)
    (book / "_toc.yml").write_text(TOC)
    write_cells(
        book, nbformat.v4.new_markdown_cell("# The course\n\nIts first sentence. [Start](chapters/multi_head.ipynb).")
    )
    (book / "chapters").mkdir()
    write_cells(
        book,
        nbformat.v4.new_markdown_cell(LESSON),
        *map(nbformat.v4.new_code_cell, (EXPLORER, DIAGRAM)),
        name="chapters/multi_head",
    )
    Image.new("RGB", (40, 20), "red").save(book / "dot.png")
    (book / "chapters" / "further.md").write_text(
        "# Further\n\nNo question (Nobody et al. 2020). No answer.\n\n![A dot](../dot.png)\n"
    )
    (book / "glossary.md").write_text("# Glossary\n\nzebra\n: An animal.\n")
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    return book / "_build" / "html"
