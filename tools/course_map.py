"""Writes down, for the map on the front page, what each lesson says of itself: its minutes, and what it needs."""

import json
import re
from pathlib import Path

import nbformat
import yaml

RECORD = Path("attention_course/recorded/lessons.json")
MINUTES = re.compile(r"\*\*About (?P<all>\d+) minutes\.\*\*|\*\*Time\*\* (?P<read>\d+) minutes, and (?P<do>\d+) for")
NEEDS = re.compile(r"You need\b(.*?)(?:Afterwards|\*\*You will|\n\n|\Z)", re.DOTALL)
LINK = re.compile(r"\]\((\w+)\.ipynb\)")


def read_lesson(file, further):
    """What the notebook of a lesson says: title, minutes with exercises, and the lessons that its needs link to."""
    cells = nbformat.read(f"{file}.ipynb", as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    minutes, needs = MINUTES.search(text), NEEDS.search(text)
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


if __name__ == "__main__":
    RECORD.write_text(json.dumps({"parts": read_parts()}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{RECORD} is as the lessons say")
