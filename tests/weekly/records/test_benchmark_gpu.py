"""What `make gpu` promises, as far as no GPU is needed: when it refuses, what it runs, and the form of its record."""

import importlib
import json
import os
import sys
from importlib.metadata import version
from types import SimpleNamespace

import nbformat
import pytest
import torch
from matplotlib import pyplot
from sweeps import ROOT

from attention_course.course import plots, recorded

H100 = "NVIDIA H100 80GB HBM3, 580.95.05"
known_before = list(sys.path)
sys.path.append(str(ROOT / "experiments"))
bench = importlib.import_module("gpu")
sys.path[:] = known_before  # it puts its own folders in front


# Where it refuses -----------------------------------------------------------------------------------------------------


OLD_DRIVER = "The NVIDIA driver on your system is too old."
TO_INSTALL = "pip uninstall --yes torch && env -u PIP_EXTRA_INDEX_URL"


@pytest.mark.parametrize(
    ("gpu", "cuda", "error", "compiler", "says"),
    [
        (False, None, None, True, ["make gpu needs an NVIDIA GPU", "neither nvidia-smi nor PyTorch finds one here"]),
        (True, None, None, True, [H100, "built without CUDA", TO_INSTALL, "requirements.txt"]),
        (True, "13.0", OLD_DRIVER, True, [f"built for CUDA 13.0, cannot use the GPU here: {OLD_DRIVER} (https"]),
        (True, "13.0", None, False, ["Triton compiles", "gcc and Python's headers"]),
        (True, "13.0", None, True, None),
    ],
    ids=["no GPU", "a build without CUDA", "an old driver", "no compiler", "all of it"],
)
def test_it_says_in_one_sentence_what_is_missing_and_runs_nothing(
    monkeypatch, tmp_path, gpu, cuda, error, compiler, says
):
    def ones(*sizes, device):
        if error:
            raise RuntimeError(f"{error}\nUpdate it")
        return torch.zeros(*sizes)

    (tmp_path / "Python.h").touch()
    for program in ["nvidia-smi"] * gpu + ["gcc"] * compiler:
        (tmp_path / program).write_text(f"#!/bin/sh\necho '{H100}'\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))  # the only programs there are
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("sysconfig.get_paths", lambda: {"include": str(tmp_path)})
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda is not None and error is None)
    monkeypatch.setattr(torch, "ones", ones)
    monkeypatch.setattr(bench, "RECORD", tmp_path / "gpu.json")
    monkeypatch.setattr(bench, "run_tests", lambda tests: pytest.fail("tests were run"))
    if says is None:
        assert bench.refusal() is None
    else:
        with pytest.raises(SystemExit) as refused:
            bench.main()
        assert all(part in refused.value.code for part in says) and "\n" not in refused.value.code
        assert not (tmp_path / "gpu.json").exists()


# What it runs ---------------------------------------------------------------------------------------------------------


def test_every_test_that_asks_for_a_gpu_is_run_on_one():
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


def test_of_tests_it_records_what_came_of_them_and_the_largest_errors(tmp_path):
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


def test_of_a_page_it_records_seconds_memory_and_false_claims_or_the_cell_that_stops_it(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "WATCH", "watched = 7 * 2**20\n")  # importing PyTorch takes its seconds
    monkeypatch.setattr(bench, "PEAK", "print(watched)")
    slow = "import time; time.sleep(0.2)"
    write_page(tmp_path, "page", "print('✗ not so in this run: it is small\\n✓ it is large')", slow)
    write_page(tmp_path, "stops", "1 / 0", "print('never')")
    row, stopped = bench.run_pages(["page", "stops"])
    assert row.pop("seconds") >= 0.2
    assert row == {"page": "page", "peak_mib": 7.0, "false_claims": ["it is small"], "exceptions": []}
    assert "not so in this run: it is small" in capsys.readouterr().out
    assert stopped["peak_mib"] is None
    assert stopped["exceptions"] == ["cell 2: ZeroDivisionError: division by zero"]


def test_the_peak_counts_what_was_there_before_it_was_set_back(monkeypatch, capsys):
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
def test_the_record_names_the_device_and_failures_fail(monkeypatch, tmp_path, capsys, tests, page, wrong):
    done, properties = [], SimpleNamespace(name="Some GPU", major=9, minor=0, total_memory=80 * 2**30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda.nccl, "version", lambda: (2, 29, 7))
    monkeypatch.setattr(bench, "devices", lambda: [H100])
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
    assert (record["versions"]["torch"], record["versions"]["NCCL"]) == (version("torch"), "2.29.7")
    device = {"device": "Some GPU", "capability": "9.0", "memory_gib": 80.0, "driver": "580.95.05"}
    assert record == record | device | {"tests": {"tests/gpu": tests}, "pages": [page]}


# What pages make of a record ------------------------------------------------------------------------------------------


def rows():
    """Made up: a number for each, and none where memory ran out; what is not causal is not drawn."""
    for name, kind, *times in (
        ("materialised", "forward", 1.0, None),
        ("materialised", "forward + backward", 1.0, None),
        ("Triton kernel", "forward", 2.0, 4.0),
    ):
        for tokens, ms in zip((1024, 2048), times, strict=True):
            row = {"name": name, "pass": kind, "tokens": tokens, "peak_mib": 1.0}
            yield from (row | {"causal": True, "ms": ms}, row | {"causal": False, "ms": 99.0})


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_a_page_draws_the_record_of_a_gpu_and_nothing_where_there_is_none(monkeypatch, tmp_path, capsys, close_figures):
    page = nbformat.read(ROOT / "chapters" / "kernels.ipynb", as_version=4)
    (cell,) = [cell.source for cell in page.cells if "recorded.load(" in cell.source]
    known = {"flash_triton": None, "plt": pyplot, "plots": plots, "recorded": recorded}  # as where there is no Triton
    monkeypatch.setattr(recorded, "files", lambda package: tmp_path)
    pyplot.close("all")
    exec(cell, dict(known))
    assert not pyplot.get_fignums() and len(capsys.readouterr().out.splitlines()) == 1
    record = {"machine": "a made-up GPU", "date": "2026-01-01", "settings": {}, "results": list(rows())}
    (tmp_path / "flash_gpu.json").write_text(json.dumps(record))
    exec(cell, dict(known))
    assert capsys.readouterr().out.endswith("a made-up GPU 2026-01-01\n")
    (number,) = pyplot.get_fignums()
    drawn = {
        ax.get_title(): {line.get_label(): [*map(tuple, line.get_xydata())] for line in ax.get_lines()}
        for ax in pyplot.figure(number).axes
    }
    assert drawn == {
        "forward": {"materialised": [(1024, 1)], "Triton kernel": [(1024, 2), (2048, 4)]},
        "forward + backward": {"materialised": [(1024, 1)]},
    }
