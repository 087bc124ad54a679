"""Find what was handed in, whose it is, and nothing else: `submission` reads it."""

import re
from pathlib import Path

EXPORTS = (
    re.compile(r"(?P<student>.+_\d+)_assignsubmission_.*"),  # Moodle: a folder for each student
    re.compile(r"(?P<student>[^_]+(?:_LATE)?_\d+)_\d+_.*"),  # Canvas: a file for each notebook
)


def submissions(folder: Path) -> dict[str, list[Path]]:
    """The notebooks in a folder by student: `student.ipynb`, `student/lesson.ipynb`, or as Moodle and Canvas export.

    Raises:
        ValueError: If there are none.
    """
    found, folder = {}, Path(folder)
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    for entry in entries:
        if entry.is_dir() and not entry.is_symlink():
            found.setdefault(_student(entry.name), []).extend(sorted(entry.rglob("*.ipynb")))
        elif entry.suffix == ".ipynb":
            found.setdefault(_student(entry.stem), []).append(entry)
        elif _student(entry.name) != entry.name:  # a student's, and no notebook
            found.setdefault(_student(entry.name), [])
    zipped = [entry for entry in entries or [folder] if entry.suffix == ".zip"]
    if zipped and not found:
        raise ValueError(f"submissions must be a folder with notebooks: unpack {zipped[0]} first, and name its folder")
    if not found:
        raise ValueError(f"submissions must be a folder with notebooks, got {folder}")
    return found


def _student(name):
    matches = (pattern.fullmatch(name) for pattern in EXPORTS)
    return next((match["student"] for match in matches if match), name)
