import random

import numpy as np
import pytest
import torch

from attention_course import environment, recorded, setup


def draws():
    return random.random(), np.random.rand(), torch.rand(1).item()


def test_setup_seeds_every_generator_and_says_where_it_runs(capsys):
    first, second = (setup(3), draws())[1], (setup(3), draws())[1]
    assert first == second
    assert (setup(4), draws())[1] != first
    assert torch.__version__ in capsys.readouterr().out


def test_sizes_follow_the_device():
    assert environment.Environment(torch.device("cpu"), 0).pick(cpu=1, gpu=2) == 1
    assert environment.Environment(torch.device("cuda"), 0).pick(cpu=1, gpu=2) == 2


def test_a_generator_can_be_started_again():
    course = environment.Environment(torch.device("cpu"), 5)
    assert torch.rand(2, generator=course.generator()).equal(torch.rand(2, generator=course.generator(5)))


def test_an_old_pytorch_is_refused(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.4.1+cu121")
    with pytest.raises(RuntimeError, match="2.5 or newer"):
        setup()


def test_every_record_names_its_machine_and_date():
    record = recorded.load("bottleneck_lengths")
    assert record["machine"] and record["date"] and record["settings"] and record["results"]
    with pytest.raises(ValueError, match="bottleneck_lengths"):
        recorded.load("nothing")
