"""Pages to look something up in, read off their notebooks: an index, and recipes with answers, code and checks."""

import re
from dataclasses import dataclass

from folds import is_folded

MOST_RECIPE_LINES = 15  # blank ones left out
MOST_WORDS_AROUND = 110  # of the answer and the limits together: a screen and a half with the code
INDEX_LINK = re.compile(r"^- \[(?P<words>[^\]]+)\]\(#(?P<anchor>[^)]+)\)$", re.MULTILINE)
LESSON_LINK = re.compile(r"\]\((?P<page>\w+)\.ipynb#(?P<anchor>[\w-]+)\)")
HEADING = re.compile(r"(?m)^### (.+)$")


@dataclass
class Recipe:
    """A heading with its answer, and the cells from there to the next heading."""

    heading: str
    cells: list

    @property
    def kinds(self):
        """What its cells are, in order."""
        return [
            "check" if is_folded(cell) else {"code": "code", "markdown": "words"}[cell["cell_type"]]
            for cell in self.cells
        ]

    @property
    def words(self):
        """Its Markdown."""
        return "\n\n".join(source(cell) for cell in self.cells if cell["cell_type"] == "markdown")

    @property
    def code(self):
        """The code to paste."""
        return "\n".join(source(cell) for cell in self.cells if cell["cell_type"] == "code" and not is_folded(cell))

    @property
    def check(self):
        """The folded code that compares it with something else."""
        return "\n".join(source(cell) for cell in self.cells if is_folded(cell))


def source(cell):
    """A cell's text."""
    return "".join(cell["source"])


def slug(heading):
    """The anchor of a heading, as the site makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def recipes(notebook):
    """The recipes of a page, in order."""
    found = []
    for cell in notebook["cells"]:
        heading = cell["cell_type"] == "markdown" and HEADING.search(source(cell))
        if heading:
            found.append(Recipe(heading[1], []))
        if found:
            found[-1].cells.append(cell)
    return found


def index(notebook):
    """What the index lists: words and anchor of each link."""
    above = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            if HEADING.search(source(cell)):
                break
            above.append(source(cell))
    return [(link["words"], link["anchor"]) for link in INDEX_LINK.finditer("\n\n".join(above))]
