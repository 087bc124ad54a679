"""Results of runs too long for a chapter, as JSON beside this file; `make sweeps` and `make real` make them anew."""

import json
from importlib.resources import files


def load(name: str) -> dict:
    """A recorded result: `{"machine": ..., "date": ..., "settings": ..., ...}`.

    Args:
        name: That of its file, without `.json`.

    Raises:
        ValueError: If there is no such record.
    """
    folder = files(__package__)
    file = folder / f"{name}.json"
    if not file.is_file():
        names = sorted(entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json"))
        raise ValueError(f"name must be one of {names}, got {name!r}")
    return json.loads(file.read_text(encoding="utf-8"))
