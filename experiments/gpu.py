"""Run on a CUDA GPU all that needs one, and record how it went: `make gpu`.

The tests that are written for a device (GPU_TESTS), the timings that `kernels` draws (flash_gpu.py), and every notebook
by itself, with the larger sizes that `course.pick` chooses there. What came of it goes to experiments/results/gpu.json,
with the device's name and the versions. Where there is no GPU that works, nothing is run or written.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "experiments"), str(ROOT / "tools")]
import flash_gpu  # noqa: E402
from notebooks import code_cells, names, path, read, run  # noqa: E402
from verdicts import claims, exceptions  # noqa: E402

RECORD = ROOT / "experiments" / "results" / "gpu.json"
# The second runs the kernel natively where there is a GPU, and in Triton's interpreter elsewhere.
GPU_TESTS = ["tests/gpu", "tests/package/efficient/test_flash_triton.py"]
WITH_CUDA = (
    "{python} -m pip uninstall --yes torch && env -u PIP_EXTRA_INDEX_URL {python} -m pip install -r requirements.txt"
)

# Before a notebook's first cell and behind its last. A page that measures memory sets the peak back in between.
WATCH = """\
import torch as _torch
_peaks, _reset = [], _torch.cuda.reset_peak_memory_stats
def _keep_peak(*device):
    _peaks.append(_torch.cuda.max_memory_allocated())
    _reset(*device)
_torch.cuda.reset_peak_memory_stats = _keep_peak
"""
PEAK = "print(max([*_peaks, _torch.cuda.max_memory_allocated()]))"


def devices() -> list[str]:
    """Each NVIDIA GPU that the driver's own program finds: `"name, version of the driver"`."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    asked = [program, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    done = subprocess.run(asked, capture_output=True, text=True)
    return done.stdout.strip().splitlines() if done.returncode == 0 else []


def refusal() -> str | None:
    """Why nothing can be run here, in one sentence that says what would help; `None` where it can."""
    found = devices()
    if not found and not torch.cuda.is_available():
        return (
            "make gpu needs an NVIDIA GPU (Ampere or newer, with driver 580 or newer for PyTorch "
            f"{torch.__version__.partition('+')[0]} from PyPI), and neither nvidia-smi nor PyTorch finds one here."
        )
    if torch.version.cuda is None:
        device = found[0] if found else "not of NVIDIA"
        return (
            f"This machine has a GPU ({device}), but its PyTorch {torch.__version__} was built without CUDA; "
            f"PyPI's for Linux has it: {WITH_CUDA.format(python=sys.executable)}"
        )
    try:
        torch.ones(2, device="cuda").sum().item()
    except Exception as error:  # a driver that is too old, a device that the build was not compiled for
        said = str(error).strip().splitlines()[0]
        return (
            f"PyTorch {torch.__version__}, built for CUDA {torch.version.cuda}, cannot use the GPU here: {said} "
            "(https://download.pytorch.org/whl has builds for older drivers)"
        )
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    if not compiler or not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        return "Triton compiles a little C for each kernel: install gcc and Python's headers (Debian: gcc python3-dev)."
    return None


def describe() -> dict:
    """The device, and the versions of what ran on it."""
    properties = torch.cuda.get_device_properties(0)
    versions = {"Python": platform.python_version(), "CUDA": torch.version.cuda}
    versions |= {"cuDNN": str(torch.backends.cudnn.version()), "NCCL": ".".join(map(str, torch.cuda.nccl.version()))}
    versions |= {package: version(package) for package in ("torch", "triton", "numpy") if find_spec(package)}
    return {
        "device": properties.name,
        "devices": torch.cuda.device_count(),
        "capability": f"{properties.major}.{properties.minor}",
        "memory_gib": round(properties.total_memory / 2**30, 1),
        "driver": next((line.rpartition(", ")[2] for line in devices()), "unknown"),
        "versions": versions,
    }


def run_tests(tests: list[str]) -> dict:
    """Run tests, and say of each file what came of it, with the largest error that a test noted down."""
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        options = ["-p", "no:cacheprovider", f"--junitxml={report}", "-o", "junit_family=xunit1"]
        subprocess.run([sys.executable, "-m", "pytest", *options, *tests], cwd=ROOT)
        return read_report(report)


def read_report(report: Path) -> dict:
    """By file: how many tests passed, failed and were skipped and why, seconds, and the largest errors by function."""
    files = defaultdict(
        lambda: {"outcomes": Counter(), "seconds": 0.0, "failed": [], "skipped": Counter(), "errors": {}}
    )
    for case in ElementTree.parse(report).iter("testcase"):
        found = files[case.get("file") or case.get("classname")]
        kinds = {child.tag: child for child in case if child.tag in ("failure", "error", "skipped")}
        outcome = next(iter(kinds), "passed").replace("failure", "failed").replace("error", "failed")
        found["outcomes"][outcome] += 1
        found["seconds"] = round(found["seconds"] + float(case.get("time")), 2)
        if outcome == "failed":
            found["failed"].append(case.get("name"))
        if outcome == "skipped":
            found["skipped"][kinds["skipped"].get("message")] += 1
        for noted in case.iter("property"):
            name = f"{case.get('name').partition('[')[0]}: {noted.get('name')}"
            found["errors"][name] = max(found["errors"].get(name, 0.0), float(f"{float(noted.get('value')):.1e}"))
    return dict(files)


def run_page(name: str) -> dict:
    """Run a notebook with the device's peak memory watched; what came of it."""
    notebook = read(name)
    _, first = code_cells(notebook)[0]
    first.source = WATCH + first.source
    last = type(first)(first | {"source": PEAK, "id": "peak", "metadata": {}})
    notebook.cells.append(last)
    done = run(name, notebook)
    printed = "".join(output.get("text", "") for output in done.notebook.cells[-1].outputs)
    return {
        "page": name,
        "seconds": round(sum(done.cell_seconds.values()), 1),
        "peak_mib": round(int(printed) / 2**20, 1) if printed.strip().isdigit() else None,
        "false_claims": [sentence for _, sentence, holds in claims(done.notebook) if not holds],
        "exceptions": [f"cell {number}: {error}" for number, _, error in exceptions(done.notebook)],
    }


def run_pages(chosen: list[str]) -> list[dict]:
    """Run notebooks one after the other, so that each has the device alone."""
    rows = []
    for name in chosen:
        rows.append(run_page(name))
        print(in_words(rows[-1]), flush=True)
    return rows


def in_words(row: dict) -> str:
    """How a notebook went, in a few lines."""
    peak = "memory unknown" if row["peak_mib"] is None else f"{row['peak_mib']:.0f} MiB on the device"
    lines = [f"{path(row['page'])}: {row['seconds']:.0f} s, {peak}"]
    lines += [f"  not so in this run: {sentence}" for sentence in row["false_claims"]]
    return "\n".join([*lines, *(f"  {error}" for error in row["exceptions"])])


def went_wrong(record: dict) -> list[str]:
    """The tests that failed and the notebooks that stopped; a false claim is recorded, and is no failure."""
    tests = [f"{file}: {name}" for file, found in record["tests"].items() for name in found["failed"]]
    pages = [f"{path(row['page'])}, {error}" for row in record["pages"] for error in row["exceptions"]]
    empty = [] if any(found["outcomes"]["passed"] for found in record["tests"].values()) else ["no test ran"]
    return tests + pages + empty


def main() -> None:
    """Refuse, or run and record everything; fails where a test or a notebook does."""
    sentence = refusal()
    if sentence:
        sys.exit(sentence)
    os.environ.pop("TRITON_INTERPRET", None)  # here kernels are compiled
    record = describe() | {"date": date.today().isoformat()}
    print(f"== on {record['device']}: tests, then timings, then {len(names())} notebooks", flush=True)
    record["tests"] = run_tests(GPU_TESTS)
    flash_gpu.main()
    record["pages"] = run_pages(names())
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {RECORD}")
    print("Commit both records, and run `make odds PAGES=chapters/kernels`: that page now draws something else.")
    wrong = went_wrong(record)
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
