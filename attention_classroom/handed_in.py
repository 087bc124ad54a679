"""Find what was handed in, whose it is, and nothing else: `submission` reads it."""

import re
from collections.abc import Mapping
from pathlib import Path

MOODLE = re.compile(r"(?P<student>.+?_\d+)_assignsubmission_.*")  # a folder for each student
CANVAS = re.compile(r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<number>\d+)_\d{3,}_.*")  # a file for each notebook
NOTEBOOK = re.compile(r"(?is)(?P<stem>.+)\.ipynb(?:\.txt|\.json)?")  # browsers add what they take it for


def submissions(folder: Path) -> dict[str, list[Path]]:
    """The notebooks in a folder by student: `student.ipynb`, `student/lesson.ipynb`, or as Moodle and Canvas export.

    What a system keeps beside them (`.ipynb_checkpoints`, `__MACOSX`) is nobody's.

    Raises:
        ValueError: If there are none.
    """
    found, folder = {}, Path(folder)
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    for entry in filter(_is_theirs, entries):
        if _is_folder(entry):
            found.setdefault(_of_folder(entry.name), []).extend(_notebooks(entry))
        elif _is_notebook(entry):
            found.setdefault(_of_file(NOTEBOOK.fullmatch(entry.name)["stem"]), []).append(entry)
        elif _names_somebody(entry):  # and is no notebook
            found.setdefault(_of_file(entry.name), [])
    zipped = [entry for entry in entries or [folder] if entry.suffix == ".zip"]
    if zipped and not found:
        raise ValueError(f"submissions must be a folder with notebooks: unpack {zipped[0]} first, and name its folder")
    if not found:
        raise ValueError(f"submissions must be a folder with notebooks, got {folder}")
    return found


def not_read(folder: Path) -> list[str]:
    """The files that are no notebooks and do not say whose they are, such as `ada.pdf` or another zip."""
    files = (entry for entry in sorted(folder.iterdir()) if _is_theirs(entry) and not _is_folder(entry))
    return [entry.name for entry in files if not _is_notebook(entry) and not _names_somebody(entry)]


def platforms(handed_in: Mapping[str, list[Path]]) -> set[str]:
    """Which of `"canvas"` and `"moodle"` the names of notebooks by student come from."""
    paths = [path for paths in handed_in.values() for path in paths]
    moodle = any(MOODLE.fullmatch(part) for path in paths for part in path.parts)
    canvas = any(CANVAS.fullmatch(path.name) for path in paths)
    return {name for name, is_one in (("moodle", moodle), ("canvas", canvas)) if is_one}


def is_in_time(paths: list[Path]) -> bool:
    """Whether Canvas says so of all of them: it marks in a file's name what came late."""
    found = [CANVAS.fullmatch(path.name) for path in paths]
    return bool(found) and all(match and not match["late"] for match in found)


def _is_folder(path):
    return path.is_dir() and not path.is_symlink()


def _names_somebody(path):
    return _of_file(path.name) != path.name


def _notebooks(folder):
    inside = sorted(folder.rglob("*"))
    return [path for path in inside if _is_notebook(path) and all(map(_is_theirs, _up_to(path, folder)))]


def _up_to(path, folder):
    """The path and the folders it lies in, below `folder`."""
    return [path, *(parent for parent in path.parents if folder in parent.parents)]


def _is_notebook(path):
    return NOTEBOOK.fullmatch(path.name) is not None


def _is_theirs(path):
    return not path.name.startswith((".", "__MACOSX"))


def _of_folder(name):
    match = MOODLE.fullmatch(name)
    return match["student"] if match else name


def _of_file(name):
    """Canvas says in the name, too, that something came late: it is the same student."""
    match = CANVAS.fullmatch(name)
    return f"{match['name']}_{match['number']}" if match else _of_folder(name)
