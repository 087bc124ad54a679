"""A view and what it imports as one module: all that anywidget takes, and what pages opened from a folder need."""

import re
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)


def join(path: Path) -> str:
    """A JavaScript module with what it imports before it, each file once, in one scope.

    Args:
        path: The module. It and those that it imports, by relative paths, give the same name to nothing at their top.

    Returns:
        A module without imports, which exports what the first one does.
    """
    return "\n".join([*(EXPORT.sub("", _body(part)) for part in _imported(path, [])), _body(path)])


def _body(path: Path) -> str:
    return IMPORT.sub("", path.read_text(encoding="utf-8"))


def _imported(path: Path, found: list[Path]) -> list[Path]:
    """All files that a module needs, each after those that it needs itself."""
    for address in IMPORT.findall(path.read_text(encoding="utf-8")):
        part = (path.parent / address).resolve()
        if part not in found:
            _imported(part, found)
            found.append(part)
    return found
