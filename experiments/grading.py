"""How long it takes to grade 200 submissions of one lesson on two cores. Recorded in results/grading.json."""

import json
import re
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

from attention_classroom.assign import assign
from attention_classroom.grading import grade_all
from attention_classroom.handed_in import submissions

ROOT = Path(__file__).parents[1]
LESSON, STUDENTS = "multi_head", 200
SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main():
    lesson = json.loads((ROOT / "chapters" / f"{LESSON}.ipynb").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        assignment = assign([LESSON], folder / "out", source=ROOT / "chapters")
        text = "\n".join("".join(cell["source"]) for cell in lesson["cells"] if cell["cell_type"] == "markdown")
        solutions = iter(SOLUTION.findall(text))
        for cell in lesson["cells"]:
            source = "".join(cell["source"])
            if call := re.search(r'^check\("[\w.]+",.*', source, re.MULTILINE):
                cell["source"] = [next(solutions) + call[0]]
        (folder / "in").mkdir()
        for number in range(STUDENTS):
            (folder / "in" / f"student_{number:03}.ipynb").write_text(json.dumps(lesson))
        start = time.perf_counter()
        with ThreadPoolExecutor(2) as executor:
            results = grade_all(
                assignment, submissions(folder / "in"), folder / "kept", executor, 2, lambda *progress: None
            )
        seconds = time.perf_counter() - start
    passed = sum(task["status"] == "passed" for result in results for task in result["tasks"].values())
    record = {
        "lesson": LESSON,
        "submissions": STUDENTS,
        "answers": STUDENTS * len(assignment.tasks),
        "passed": passed,
        "seconds": round(seconds, 1),
        "date": date.today().isoformat(),
    }
    (ROOT / "experiments" / "results" / "grading.json").write_text(json.dumps(record, indent=2) + "\n")
    print(record)


if __name__ == "__main__":
    main()
