import pytest
import torch

from attention_course.course import measure


def test_calls_are_made_in_turns_and_timed_by_the_clock(monkeypatch):
    calls, now = [], [0.0]
    monkeypatch.setattr(measure.time, "perf_counter", lambda: now[0])

    def nap():
        calls.append("nap")
        now[0] += 2.0 ** -len(calls)

    timings = measure.time_calls({"nap": nap, "none": lambda: calls.append("none")}, repeats=3, warmup=1)
    assert calls == ["nap", "none"] * 4
    assert timings["none"] == measure.Timing((0.0, 0.0, 0.0))
    nap_timing = timings["nap"]
    assert nap_timing.seconds == (2.0**-3, 2.0**-5, 2.0**-7)
    assert (nap_timing.median, nap_timing.fastest, nap_timing.slowest) == (2.0**-5, 2.0**-7, 2.0**-3)
    with pytest.raises(ValueError, match="repeats"):
        measure.time_calls({}, repeats=0)


def test_what_works_behind_pythons_back_is_waited_for(monkeypatch):
    waits = []
    for backend, others in ((torch.cuda, torch.backends.mps), (torch.mps, torch.cuda)):
        with monkeypatch.context() as patch:
            available = torch.backends.mps if backend is torch.mps else torch.cuda
            patch.setattr(available, "is_available", lambda: True)
            patch.setattr(others, "is_available", lambda: False)
            patch.setattr(backend, "synchronize", lambda name=backend.__name__: waits.append(name))
            measure.time_calls({"": lambda: waits.append("call")}, repeats=1, warmup=0)
    assert waits == ["torch.cuda", "call", "torch.cuda", "torch.mps", "call", "torch.mps"]


def test_peak_memory_counts_what_is_alive_at_once():
    def two_then_one():
        first = torch.empty(1_000_000)  # 4 MB
        second = torch.empty(2_000_000)  # 8 MB, beside the first
        del first, second
        return torch.empty(500_000)

    assert measure.peak_memory(two_then_one) == pytest.approx(12_000_000, rel=0.01)


def test_peak_memory_does_not_count_what_was_there_before():
    there = torch.zeros(1_000_000)
    assert measure.peak_memory(lambda: there + 1) == pytest.approx(4_000_000, rel=0.01)
    with pytest.raises(ValueError, match="device"):
        measure.peak_memory(lambda: there, "meta")
