"""Find what was handed in, whose it is, and nothing else: `submission` reads it."""

import re
from pathlib import Path

MOODLE = re.compile(r"(?P<student>.+_\d+)_assignsubmission_.*")  # a folder for each student
CANVAS = re.compile(r"(?P<name>[^_]+)(?:_LATE)?_(?P<number>\d+)_\d{3,}_.*")  # a file for each notebook


def submissions(folder: Path) -> dict[str, list[Path]]:
    """The notebooks in a folder by student: `student.ipynb`, `student/lesson.ipynb`, or as Moodle and Canvas export.

    What a system keeps beside them (`.ipynb_checkpoints`, `__MACOSX`) is nobody's.

    Raises:
        ValueError: If there are none.
    """
    found, folder = {}, Path(folder)
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    for entry in filter(_is_theirs, entries):
        if entry.is_dir() and not entry.is_symlink():
            found.setdefault(_of_folder(entry.name), []).extend(_notebooks(entry))
        elif _is_notebook(entry):
            found.setdefault(_of_file(entry.stem), []).append(entry)
        elif _of_file(entry.name) != entry.name:  # a student's, and no notebook
            found.setdefault(_of_file(entry.name), [])
    zipped = [entry for entry in entries or [folder] if entry.suffix == ".zip"]
    if zipped and not found:
        raise ValueError(f"submissions must be a folder with notebooks: unpack {zipped[0]} first, and name its folder")
    if not found:
        raise ValueError(f"submissions must be a folder with notebooks, got {folder}")
    return found


def _notebooks(folder):
    inside = sorted(folder.rglob("*"))
    return [path for path in inside if _is_notebook(path) and all(map(_is_theirs, _up_to(path, folder)))]


def _up_to(path, folder):
    """The path and the folders it lies in, below `folder`."""
    return [path, *(parent for parent in path.parents if folder in parent.parents)]


def _is_notebook(path):
    return path.suffix.lower() == ".ipynb"


def _is_theirs(path):
    return not path.name.startswith((".", "__MACOSX"))


def _of_folder(name):
    match = MOODLE.fullmatch(name)
    return match["student"] if match else name


def _of_file(name):
    """Canvas says in the name, too, that something came late: it is the same student."""
    match = CANVAS.fullmatch(name)
    return f"{match['name']}_{match['number']}" if match else _of_folder(name)
