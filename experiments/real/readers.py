"""The record as the page *Does it hold for real?* draws it: the package has no experiments, so it has its own copy."""

import json
from pathlib import Path

from findings import FINDINGS

BESIDE = ("two_names", "name_controls", "name_knockouts", "name_reads")
FOR_READERS = Path(__file__).parents[2] / "attention_course" / "course" / "recorded" / "for_real.json"


def for_readers(record: dict) -> dict:
    """What was written down before and what came out, side by side; date and machine are those of the newest finding.

    The two names and their controls, measured beside the findings, stand under their own names; nothing else is drawn.
    """
    newest = max((of["about"] for name, of in record.items() if name in FINDINGS), key=lambda about: about["date"])
    results = [
        {
            "name": name,
            **{part: getattr(finding, part) for part in ("page", "says", "texts", "measure", "control", "rule")},
            **{part: record[name][part] for part in ("verdict", "note", "numbers")},
            "date": record[name]["about"]["date"],
        }
        for name, finding in FINDINGS.items()
        if name in record
    ]
    beside = {name: of["numbers"] | {"date": of["about"]["date"]} for name, of in record.items() if name in BESIDE}
    return newest | {"results": results} | beside


def write(record: dict) -> None:
    """Make the package's copy anew."""
    FOR_READERS.write_text(json.dumps(for_readers(record)) + "\n", encoding="utf-8")
