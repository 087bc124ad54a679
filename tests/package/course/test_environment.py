import random
import sys
from importlib import metadata
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from attention_course import setup
from attention_course.course import environment, recorded


def draws():
    return random.random(), np.random.rand(), torch.rand(1).item()


def test_setup_seeds_every_generator_and_says_where_it_runs(capsys):
    first, second = (setup(3), draws())[1], (setup(3), draws())[1]
    assert first == second
    assert (setup(4), draws())[1] != first
    assert torch.__version__ in capsys.readouterr().out


def test_sizes_follow_the_device():
    for kind, size in (("cpu", 1), ("mps", 1), ("cuda", 2)):
        assert environment.Environment(torch.device(kind), 0).pick(cpu=1, gpu=2) == size


@pytest.mark.parametrize("built_for_it", [True, False])
def test_autocast_is_for_gpus_that_are_built_for_it(monkeypatch, built_for_it):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: built_for_it)
    on_gpu, on_cpu = (environment.Environment(torch.device(kind), 0) for kind in ("cuda", "cpu"))
    assert on_gpu.dtype == (torch.bfloat16 if built_for_it else torch.float32)
    assert on_cpu.dtype == torch.float32
    with on_cpu.autocast():
        assert torch.nn.Linear(2, 2)(torch.ones(1, 2)).dtype == torch.float32
    monkeypatch.setattr(environment.Environment, "dtype", torch.bfloat16)
    with on_cpu.autocast():
        assert torch.nn.Linear(2, 2)(torch.ones(1, 2)).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("cuda", "mps", "kind", "named"),
    [(True, True, "cuda", "Some GPU"), (False, True, "mps", "Apple MPS"), (False, False, "cpu", "CPU cores")],
)
def test_the_fastest_device_is_taken_and_named(monkeypatch, capsys, cuda, mps, kind, named):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Some GPU")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert setup().device.type == kind
    assert named in capsys.readouterr().out


def test_another_version_is_said(monkeypatch, capsys):
    monkeypatch.setattr(metadata, "distributions", lambda name: [SimpleNamespace(version="0.0.9")])
    setup(version="0.2.0")
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first == "This notebook belongs to version 0.2.0 of attention_course, and 0.0.9 is installed:"
    assert "names may be missing" in second
    setup(version="0.0.9")
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize("owner", ["a-department", environment.PLACEHOLDER])
def test_in_colab_a_notebook_says_where_its_page_is(monkeypatch, capsys, owner):
    monkeypatch.setitem(sys.modules, "google.colab", None)
    setup(page=f"https://{owner}.example/chapters/masking.html")
    said = f"This notebook as a page: https://{owner}.example/chapters/masking.html\n"
    assert (said in capsys.readouterr().out) == (owner == "a-department")
    monkeypatch.delitem(sys.modules, "google.colab")
    setup(page=f"https://{owner}.example/chapters/masking.html")
    assert said not in capsys.readouterr().out


def test_what_the_pages_draw_with_is_asked_for_by_name(monkeypatch):
    monkeypatch.delitem(sys.modules, "attention_course.course.plots")
    monkeypatch.delattr("attention_course.course.plots")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"need matplotlib.*: pip install 'attention_course\[course\]'"):
        setup()


def test_a_generator_can_be_started_again():
    course = environment.Environment(torch.device("cpu"), 5)
    assert torch.rand(2, generator=course.generator()).equal(torch.rand(2, generator=course.generator(5)))


def test_an_old_pytorch_is_refused(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.4.1+cu121")
    with pytest.raises(RuntimeError, match="2.5 or newer"):
        setup()


def test_a_record_that_is_not_there_is_refused_with_the_names_of_those_that_are():
    with pytest.raises(ValueError, match="bottleneck_lengths"):
        recorded.load("nothing")
