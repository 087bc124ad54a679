"""Train what is too long for a chapter and record the results for it to draw.

python experiments/sweeps                     all sweeps, one file of this folder each
python experiments/sweeps bottleneck_lengths  one of them
"""

import importlib
import json
import sys
from datetime import date
from pathlib import Path

from attention_course.course import measure, recorded

FOLDER = Path(__file__).parent
RECORDED = Path(recorded.__file__).parent


def main(names: list[str]) -> None:
    for name in names or sorted(file.stem for file in FOLDER.glob("[!_]*.py")):
        sweep = importlib.import_module(name)
        record = {"machine": measure.describe_machine(), "date": date.today().isoformat()} | sweep.run()
        path = RECORDED / f"{name}.json"
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print("wrote", path)


if __name__ == "__main__":
    main(sys.argv[1:])
