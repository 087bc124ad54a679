"""Try the course's findings on two real models, and record what comes out.

python experiments/real                    the course's blocks beside those of transformers, then all ten findings, and
                                           what is measured beside them
python experiments/real looking sharing    what stands in these files of this folder alone

Each finding is added to `recorded/findings.json` as soon as it is measured.
"""

import importlib
import json
import platform
import sys
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import _models
import readers
import torch
from findings import FINDINGS

from attention_course import real_models
from attention_course.course import measure

RECORD = Path(__file__).parent / "recorded" / "findings.json"
PARTS = {  # each a file of this folder, with the findings that it measures
    "looking": ("previous_token", "sinks"),
    "repeating": ("induction",),
    "pruning": ("heads_that_can_go",),
    "mapping": ("map_and_exchange",),
    "senses": ("bank",),
    "ordering": ("order",),
    "distances": ("beyond_length",),
    "sharing": ("shared_heads",),
    "bert_heads": ("clark",),
}
# Files that measure what is no finding, and say themselves what was expected.
BESIDE = ("two_names", "name_controls", "name_knockouts", "name_reads", "tools")
NOTES = {  # written after the first run
    "bank": "RIGHT alone would have said little: of the three words without these senses nearly as many are given the "
    "sense of the deciding word (right_of). What tells *bank* from them is how far its two means lie apart. Of twenty "
    "more words, tried afterwards (apart_afterwards), *dog* moves so far that the rule would have said weaker, and two "
    "words that belong to one of the senses (apart_of_a_sense) move as far as *bank*.",
    "beyond_length": "INSIDE missed its bound by little, and at 7,168 places, still inside, the first half does .34 "
    "bits of harm. What hurts inside is a lost sink: with a sink of its own (harm_..._own_sink) the second half takes "
    "no harm from the first there, and 3 to 4 bits outside.",
    "clark": "No block prefers [SEP]: its weight is hardly more than that of equal weights. MiniLM was trained so that "
    "the mean of its tokens is a sentence's vector; whether that is the reason was not tried.",
}
LIBRARIES = ("torch", "transformers", "gguf")


def about() -> dict:
    """When, where and with what."""
    return {
        "date": date.today().isoformat(),
        "machine": measure.describe_machine(),
        "threads": torch.get_num_threads(),
        "versions": {"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES},
        "weights": {one.file: one.sha256 for one in (real_models.SMOLLM2, real_models.MINILM)},
        "from": [real_models.where(one) for one in (real_models.SMOLLM2, real_models.MINILM)],
    }


def keep(name: str, found: dict) -> None:
    """Write one result among those that are recorded."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    record[name] = found | {"about": about()}
    order = ["own_parts", *FINDINGS, *BESIDE]
    record = dict(sorted(record.items(), key=lambda item: order.index(item[0])))
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    readers.write(record)


def say(name: str, numbers: dict, seconds: float) -> None:
    """Print and record what came of a finding, as it came."""
    finding = FINDINGS[name]
    verdict = finding.judge(numbers)
    shown = {key: round(value, 3) for key, value in numbers.items() if isinstance(value, int | float)}
    print(f"{verdict.upper():7} {name}: {finding.says}\n        {finding.rule}\n        {shown}, {seconds:.0f} s")
    keep(name, {"verdict": verdict, "note": NOTES.get(name), "numbers": numbers})


def main(parts: list[str]) -> None:
    """Measure these, or all."""
    if not parts or "own_parts" in parts:
        found = importlib.import_module("own_parts").run()
        print("the course's blocks beside those of transformers:", json.dumps(found, indent=1))
        keep("own_parts", found)
        if not found["within"]:
            sys.exit("the course's blocks compute something else: nothing is measured with them")
    parts = [part for part in parts or (*PARTS, *BESIDE) if part != "own_parts"]
    models = _models.load() if parts else None
    for part in parts:
        start = time.perf_counter()
        for name, numbers in importlib.import_module(part).run(models).items():
            if part in BESIDE:
                print(name, json.dumps(numbers["expected"], indent=1), f"{time.perf_counter() - start:.0f} s")
                keep(name, {"numbers": numbers})
            else:
                say(name, numbers, time.perf_counter() - start)


if __name__ == "__main__":
    main(sys.argv[1:])
