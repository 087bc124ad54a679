import random

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
