"""How long a lesson is, measured on its notebook: `python tests/notebooks/limits.py chapters/multi_head.ipynb`."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import lessons  # noqa: E402
from folds import is_folded  # noqa: E402

# What nine lessons took a first reader, 50 to 80 minutes each, is on average what these two say.
WORDS_A_MINUTE = 100
CODE_LINES_A_MINUTE = 2.5  # of code that a reader has not met before

# The last lesson of the first reading has its model in one cell, from the classes of the lessons before it. Of these
# lines only the last class is new, so they are read faster, and are counted beside the page's other code.
LISTING = "whole-model"  # its tag
MOST_LISTING_LINES = 90
LISTING_LINES_A_MINUTE = 15

MOST_WORDS = 118_000  # of Markdown in all notebooks together
MOST_CELL_LINES = 25
LONGEST_LINE = 76
MOST_CLAIMS = 8


@dataclass(frozen=True)
class Limits:
    """How much a lesson may be at most."""

    words: int
    code_lines: int
    minutes: int


FIRST_READING = Limits(words=900, code_lines=80, minutes=45)
LESSON = Limits(words=1300, code_lines=120, minutes=60)


def limits_of(name):
    """The limits of a lesson."""
    return FIRST_READING if name in lessons.FIRST_READING else LESSON


FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
FOLDED_TEXT = re.compile(r"<details>.*?</details>", re.DOTALL)
MATHS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
LINK_TARGET = re.compile(r"\]\([^)]*\)")
TAG = re.compile(r"<[^>]*>|<!--.*?-->", re.DOTALL)
WORD = re.compile(r"\S*\w\S*")

STOP = "*A good place to stop for today.*"
EXERCISES = "Exercises"
PAPERS = "Papers"
EXERCISE = re.compile(
    r"^### (?P<number>\d+)\. .+ \((?P<open>open, )?(?P<minutes>\d+) min, difficulty (?P<difficulty>[123]) of 3\)$",
    re.MULTILINE,
)
STATED = re.compile(r"\*\*Reading about (\d+) minutes, exercises about (\d+)\.\*\*")


@dataclass
class Part:
    """A code cell, or a piece of Markdown without the code printed in it, and the `##` heading it stands under."""

    section: str
    cell: dict | None = None
    text: str = ""


def parts(notebook):
    """A notebook from top to bottom."""
    section, found = "", []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found.append(Part(section, cell=cell))
        else:
            for text in re.split(r"(?m)^(?=## )", FENCED.sub("", source)):
                heading = re.match(r"## (.*)", text)
                section = heading[1].strip() if heading else section
                found.append(Part(section, text=text))
    return found


def markdown(notebook):
    """All of a notebook's Markdown, without the code printed in it."""
    return "\n\n".join(part.text for part in parts(notebook) if part.cell is None)


def words(notebook):
    """The words to read: what is folded, the exercises and the list of papers are left out; a formula is a word."""
    read = [part.text for part in parts(notebook) if part.section not in (EXERCISES, PAPERS)]
    text = MATHS.sub("formula", FOLDED_TEXT.sub("", "\n\n".join(read).replace(STOP, "")))
    return len(WORD.findall(TAG.sub(" ", LINK_TARGET.sub("]", text))))


def all_words(notebook):
    """All words of its Markdown, as a shell would count them."""
    return sum(len("".join(cell["source"]).split()) for cell in notebook["cells"] if cell["cell_type"] == "markdown")


def lines(cell):
    """The lines of a code cell."""
    return "".join(cell["source"]).splitlines()


def visible_cells(notebook, *, but=None):
    """The code cells that stand open, but for those of one section."""
    return [part.cell for part in parts(notebook) if part.cell and not is_folded(part.cell) and part.section != but]


def is_listing(cell):
    """Whether a code cell is the listing of a whole model."""
    return LISTING in cell["metadata"].get("tags", [])


def listing_lines(notebook):
    """How many lines the listing of the whole model has; 0 where there is none."""
    return sum(len(lines(cell)) for cell in visible_cells(notebook) if is_listing(cell))


def code_lines(notebook):
    """How many lines of code stand open before and after the exercises, beside the listing of a whole model."""
    return sum(len(lines(cell)) for cell in visible_cells(notebook, but=EXERCISES) if not is_listing(cell))


def long_cells(notebook):
    """The first lines of open cells that are too long, with their numbers of lines."""
    most = {True: MOST_LISTING_LINES, False: MOST_CELL_LINES}
    cells = [(lines(cell), most[is_listing(cell)]) for cell in visible_cells(notebook)]
    return [(source[0], len(source)) for source, at_most in cells if len(source) > at_most]


def long_lines(notebook):
    """The lines of open cells that are too wide for a page."""
    return [line for cell in visible_cells(notebook) for line in lines(cell) if len(line) > LONGEST_LINE]


def exercises(notebook):
    """The headings of the exercises: matches with `number`, `open`, `minutes` and `difficulty`."""
    text = "\n\n".join(part.text for part in parts(notebook) if part.section == EXERCISES)
    return list(EXERCISE.finditer(text))


def exercise_minutes(notebook):
    """What the exercises take, as they say; an open task takes as long as its reader likes."""
    return sum(int(exercise["minutes"]) for exercise in exercises(notebook) if not exercise["open"])


def reading_minutes(notebook):
    """What reading and building a lesson takes, an estimate."""
    listed = listing_lines(notebook) / LISTING_LINES_A_MINUTE
    return words(notebook) / WORDS_A_MINUTE + code_lines(notebook) / CODE_LINES_A_MINUTE + listed


def stated_minutes(notebook):
    """What a lesson says that reading and that its exercises take; `None` where it does not."""
    stated = STATED.search(markdown(notebook))
    return stated and tuple(map(int, stated.groups()))


def open_claims(notebook):
    """How many claims stand in open cells."""
    return sum("".join(cell["source"]).count("claim(") for cell in visible_cells(notebook))


def main():
    """Print what the limits are about."""
    for path in sys.argv[1:]:
        notebook = json.loads(Path(path).read_text(encoding="utf-8"))
        most = limits_of(Path(path).stem)
        print(path)
        print(f"  words outside exercises, folds and papers: {words(notebook)} (at most {most.words})")
        print(f"  open lines of code outside exercises:      {code_lines(notebook)} (at most {most.code_lines})")
        print(f"  lines of a whole model in one listing:     {listing_lines(notebook)}")
        print(f"  minutes of the exercises as stated:        {exercise_minutes(notebook)}")
        print(f"  minutes of reading and building: {reading_minutes(notebook):.0f} (at most {most.minutes})")
        print(f"  stated, reading and exercises: {stated_minutes(notebook)}")
        print(f"  claims in open cells: {open_claims(notebook)} (at most {MOST_CLAIMS})")
        for first_line, n_lines in long_cells(notebook):
            print(f"  {n_lines} lines (at most {MOST_CELL_LINES}) in the open cell: {first_line}")
        for line in long_lines(notebook):
            print(f"  {len(line)} characters (at most {LONGEST_LINE}): {line}")


if __name__ == "__main__":
    main()
