"""Writes down, for the map and the list on the front page, what each lesson says of itself."""

import json
import re
from pathlib import Path

import nbformat
import yaml

RECORD = Path("attention_course/recorded/lessons.json")
READING_AND_EXERCISES = re.compile(
    r"\*\*Reading about (\d+) minutes, exercises about (\d+)\.\*\*|\*\*Time\*\* (\d+) minutes, and (\d+) for"
)
NEEDS = re.compile(r"You need\b(.*?)(?:Afterwards|\*\*You will|\n\n|\Z)", re.DOTALL)
LINK = re.compile(r"\]\((\w+)\.ipynb\)")
QUESTION = re.compile(r"(?m)^\*([^*].*?[.?])(?: .*)?\*$")

FRONT_PAGE = Path("intro.ipynb")
LISTED = re.compile(r"(?m)^- \[[^\]]*\]\(chapters/(\w+)\.ipynb\) – (.*)\n?")


def read_lesson(file, further):
    """What the notebook of a lesson says: title, minutes with exercises, and the lessons that its needs link to."""
    cells = nbformat.read(f"{file}.ipynb", as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    minutes, needs = READING_AND_EXERCISES.search(text), NEEDS.search(text)
    if not minutes or not needs:
        raise ValueError(f"{file} must say how long it takes and what a reader needs, as the other lessons do")
    return {
        "name": Path(file).name,
        "title": text.splitlines()[0].removeprefix("# ").strip(),
        "minutes": sum(int(part) for part in minutes.groups() if part),
        "needs": LINK.findall(needs[1]),
        "further": further,
    }


def read_parts():
    """The parts of the table of contents that hold lessons, in its order."""
    parts = []
    for part in yaml.safe_load(Path("_toc.yml").read_text(encoding="utf-8"))["parts"]:
        lessons = []
        for chapter in part["chapters"]:
            pages = [(chapter, False), *((section, True) for section in chapter.get("sections", []))]
            files = [(page.get("file", ""), further) for page, further in pages]
            lessons += [read_lesson(file, further) for file, further in files if file.startswith("chapters/")]
        if lessons:
            parts.append({"part": part["caption"], "lessons": lessons})
    return parts


def write_list(parts):
    """Bring the front page's list of lessons up to date; a lesson that is new in it is given its own question."""
    page = nbformat.read(FRONT_PAGE, as_version=4)
    cell = next(cell for cell in page.cells if LISTED.search(cell.source))
    questions = dict(LISTED.findall(cell.source))
    lessons = [lesson for part in parts for lesson in part["lessons"]]
    lines = [
        f"- [{title}](chapters/{name}.ipynb) – {questions.get(name) or question(name)}\n"
        for name, title in ((lesson["name"], lesson["title"]) for lesson in lessons)
    ]
    start = LISTED.search(cell.source).start()
    cell.source = cell.source[:start] + "".join(lines) + LISTED.sub("", cell.source[start:])
    nbformat.write(page, FRONT_PAGE)


def question(name):
    """The first sentence of the question that a lesson opens with."""
    cells = nbformat.read(f"chapters/{name}.ipynb", as_version=4).cells
    return QUESTION.search(cells[0].source)[1]


if __name__ == "__main__":
    parts = read_parts()
    RECORD.write_text(json.dumps({"parts": parts}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_list(parts)
    print(f"{RECORD} and the list in {FRONT_PAGE} are as the lessons say")
