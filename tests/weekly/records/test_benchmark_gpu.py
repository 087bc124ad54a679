"""What `make gpu` promises, as far as no GPU is needed: when it refuses, what it runs, and the form of its record."""

import contextlib
import importlib
import io
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import torch

from attention_course import plots, recorded

ROOT = Path(__file__).parents[1]
H100 = "NVIDIA H100 80GB HBM3, 580.95.05"


@pytest.fixture(scope="module")
def bench():
    before = list(sys.path)
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("gpu")
    sys.path[:] = before


# Where it refuses -----------------------------------------------------------------------------------------------------


def program(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Makes this a machine with, or without, what `make gpu` asks for."""

    def make(*, gpu, cuda=None, error=None, compiler=True):
        (tmp_path / "Python.h").touch()
        monkeypatch.setenv("PATH", str(tmp_path))  # the only programs there are
        monkeypatch.delenv("CC", raising=False)
        monkeypatch.setattr(torch.version, "cuda", cuda)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu and cuda is not None and error is None)
        monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path)})
        if gpu:
            program(tmp_path / "nvidia-smi", f"echo '{H100}'")
        if compiler:
            program(tmp_path / "gcc", "")

        def ones(*sizes, device):
            if error:
                raise RuntimeError(error)
            return torch.zeros(*sizes)

        monkeypatch.setattr(torch, "ones", ones)

    return make


@pytest.mark.parametrize(
    ("has", "says"),
    [
        ({"gpu": False}, ["make gpu needs an NVIDIA GPU", "neither nvidia-smi nor PyTorch finds one here"]),
        (
            {"gpu": True},
            [H100, "built without CUDA", "pip uninstall --yes torch && env -u PIP_EXTRA_INDEX_URL", "requirements.txt"],
        ),
        (
            {"gpu": True, "cuda": "13.0", "error": "The NVIDIA driver on your system is too old.\nUpdate it"},
            ["built for CUDA 13.0, cannot use the GPU here: The NVIDIA driver on your system is too old. (https"],
        ),
        ({"gpu": True, "cuda": "13.0", "compiler": False}, ["Triton compiles", "gcc and Python's headers"]),
    ],
    ids=["no GPU", "a build without CUDA", "an old driver", "no compiler"],
)
def test_it_says_in_one_sentence_what_is_missing_and_runs_nothing(bench, machine, monkeypatch, tmp_path, has, says):
    machine(**has)
    monkeypatch.setattr(bench, "RECORD", tmp_path / "gpu.json")
    monkeypatch.setattr(bench, "run_tests", lambda tests: pytest.fail("tests were run"))
    with pytest.raises(SystemExit) as refused:
        bench.main()
    assert all(part in refused.value.code for part in says) and "\n" not in refused.value.code
    assert not (tmp_path / "gpu.json").exists()


def test_with_all_of_it_it_does_not_refuse(bench, machine):
    machine(gpu=True, cuda="13.0")
    assert bench.refusal() is None


# What it runs ---------------------------------------------------------------------------------------------------------


def test_every_test_that_asks_for_a_gpu_is_run_on_one(bench):
    chosen = [ROOT / name for name in bench.GPU_TESTS]
    asking = [file for file in ROOT.glob("tests/**/*.py") if "torch.cuda.is_available" + "()" in file.read_text()]
    assert len(asking) >= 3 and all(path.exists() for path in chosen)
    assert not [file for file in asking if not {file, *file.parents} & set(chosen)]


MADE = """
import pytest

@pytest.mark.parametrize("error", [0.00123, 0.004567, 0.002])
def test_right(error, record_property):
    record_property("error", error)

def test_wrong():
    assert 1 > 2

@pytest.mark.skip(reason="needs two devices")
def test_left_out(): ...
"""


def test_of_tests_it_records_what_came_of_them_and_the_largest_errors(bench, tmp_path):
    (tmp_path / "test_made.py").write_text(MADE)
    (found,) = bench.run_tests([tmp_path / "test_made.py"]).values()
    assert found.pop("seconds") >= 0
    assert found == {
        "outcomes": {"passed": 3, "failed": 1, "skipped": 1},
        "failed": ["test_wrong"],
        "skipped": {"needs two devices": 1},
        "errors": {"test_right: error": 0.0046},
    }


def write_page(folder, name, *cells):
    (folder / "_config.yml").write_text("execute: {timeout: 60}\n")
    cells = [nbformat.v4.new_markdown_cell("# A page"), *map(nbformat.v4.new_code_cell, cells)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")


def test_of_a_page_it_records_seconds_memory_and_false_claims(bench, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "WATCH", "watched = 7 * 2**20\n")  # importing PyTorch takes its seconds
    monkeypatch.setattr(bench, "PEAK", "print(watched)")
    slow = "import time; time.sleep(0.2)"
    write_page(tmp_path, "page", "print('✗ not so in this run: it is small\\n✓ it is large')", slow)
    (row,) = bench.run_pages(["page"])
    assert row.pop("seconds") >= 0.2
    assert row == {"page": "page", "peak_mib": 7.0, "false_claims": ["it is small"], "exceptions": []}
    assert "not so in this run: it is small" in capsys.readouterr().out


def test_a_page_that_stops_has_no_memory_and_names_its_cell(bench, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "WATCH", "")
    write_page(tmp_path, "page", "1 / 0", "print('never')")
    row = bench.run_page("page")
    assert row["peak_mib"] is None
    assert row["exceptions"] == ["cell 2: ZeroDivisionError: division by zero"]


def test_the_peak_counts_what_was_there_before_it_was_set_back(bench, monkeypatch, capsys):
    held = [500]
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: held[-1])
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda device: held.append(100))
    cells = {}
    exec(bench.WATCH, cells)
    torch.cuda.reset_peak_memory_stats("cuda")
    assert held == [500, 100]
    exec(bench.PEAK, cells)
    assert capsys.readouterr().out == "500\n"


# What it writes -------------------------------------------------------------------------------------------------------


@pytest.fixture
def a_device(bench, monkeypatch):
    properties = SimpleNamespace(name="Some GPU", major=9, minor=0, total_memory=80 * 2**30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda.nccl, "version", lambda: (2, 29, 7))
    monkeypatch.setattr(bench, "devices", lambda: [H100])


RIGHT = {"outcomes": {"passed": 2}, "seconds": 1.0, "failed": [], "skipped": {}, "errors": {}}
PAGE = {"page": "chapters/one", "seconds": 3.0, "peak_mib": 12.5, "false_claims": ["it is small"], "exceptions": []}


@pytest.mark.parametrize(
    ("tests", "page", "wrong"),
    [
        (RIGHT, PAGE, []),
        (RIGHT | {"failed": ["test_a"]}, PAGE, ["tests/gpu: test_a"]),
        (RIGHT, PAGE | {"exceptions": ["cell 3: ValueError: no"]}, ["chapters/one.ipynb, cell 3: ValueError: no"]),
        (RIGHT | {"outcomes": {"passed": 0}}, PAGE, ["no test ran"]),
    ],
)
def test_the_record_names_the_device_and_failures_fail(
    bench, a_device, monkeypatch, tmp_path, capsys, tests, page, wrong
):
    done = []
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(bench, "RECORD", tmp_path / "gpu.json")
    monkeypatch.setattr(bench, "refusal", lambda: None)
    monkeypatch.setattr(bench, "names", lambda: ["chapters/one"])
    monkeypatch.setattr(bench, "run_tests", lambda tests_: done.append("tests") or {"tests/gpu": tests})
    monkeypatch.setattr(bench.flash_gpu, "main", lambda: done.append("timings"))
    monkeypatch.setattr(bench, "run_page", lambda name: done.append(name) or page)
    with pytest.raises(SystemExit) as ended:
        bench.main()
    assert done == ["tests", "timings", "chapters/one"]
    assert "TRITON_INTERPRET" not in os.environ  # or the kernel would be interpreted there too
    assert ended.value.code == bool(wrong)
    assert all(line in capsys.readouterr().out for line in wrong)
    record = json.loads((tmp_path / "gpu.json").read_text())
    versions = record.pop("versions")
    assert (versions["torch"], versions["NCCL"]) == (version("torch"), "2.29.7")
    assert len(record.pop("date")) == len("2026-01-01")
    assert record == {
        "device": "Some GPU",
        "devices": 1,
        "capability": "9.0",
        "memory_gib": 80.0,
        "driver": "580.95.05",
        "tests": {"tests/gpu": tests},
        "pages": [page],
    }


# What pages make of a record ------------------------------------------------------------------------------------------


def rows():
    """Made up: a number for each, and none where memory ran out."""
    for n, name in enumerate(["materialised", "Triton kernel"], 1):
        for kind in ["forward", "forward + backward"][: 3 - n]:
            for tokens in (1024, 2048):
                ms = None if (name, tokens) == ("materialised", 2048) else n * tokens / 1024
                yield {"name": name, "pass": kind, "causal": True, "tokens": tokens, "ms": ms, "peak_mib": 1.0}
                yield {"name": name, "pass": kind, "causal": False, "tokens": tokens, "ms": 99.0, "peak_mib": 1.0}


def run_the_cell():
    """The cell of `kernels` that draws the record, as where there is no Triton: what it printed, and its figures."""
    import matplotlib.pyplot as plt

    plt.close("all")
    page = nbformat.read(ROOT / "chapters" / "kernels.ipynb", as_version=4)
    (cell,) = [cell.source for cell in page.cells if "recorded.load(" in cell.source]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(cell, {"flash_triton": None, "plt": plt, "plots": plots, "recorded": recorded})
    return printed.getvalue(), [plt.figure(number) for number in plt.get_fignums()]


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_a_page_draws_the_record_of_a_gpu_and_nothing_where_there_is_none(monkeypatch, tmp_path):
    monkeypatch.setattr(recorded, "files", lambda package: tmp_path)
    printed, figures = run_the_cell()
    assert not figures and len(printed.splitlines()) == 1
    record = {"machine": "a made-up GPU", "date": "2026-01-01", "settings": {}, "results": list(rows())}
    (tmp_path / "flash_gpu.json").write_text(json.dumps(record))
    printed, (figure,) = run_the_cell()
    assert printed.endswith("a made-up GPU 2026-01-01\n")
    drawn = {
        ax.get_title(): {line.get_label(): [*map(tuple, line.get_xydata())] for line in ax.get_lines()}
        for ax in figure.axes
    }
    assert drawn == {
        "forward": {"materialised": [(1024, 1)], "Triton kernel": [(1024, 2), (2048, 4)]},
        "forward + backward": {"materialised": [(1024, 1)]},
    }
