"""`make test`: one stage behind another, whatever fails, and each beside its budget."""

import stages
from tiny_book import ROOT, make

# Stands in for make: writes down what it was called with, and fails at one stage.
MAKE = '#!/bin/sh\necho "$@" >> "$CALLS"\ntest "$2" != test-lint\n'


def names():
    """The stages of the Makefile."""
    return make(ROOT, "--no-print-directory", "--eval", "stages: ; @echo $(STAGES)", "stages")[1].split()


def test_every_stage_of_the_makefile_has_a_budget():
    assert set(names()) == set(stages.BUDGETS) and len(names()) == len(stages.BUDGETS)


def test_a_stage_stands_beside_its_budget_at_this_machines_speed(monkeypatch):
    monkeypatch.setattr(stages, "BUDGETS", {"site": 8, "test-lint": 0.5})
    assert stages.table({"site": (True, 15.9), "test-lint": (False, 1.25)}, speed=0.5) == [
        "passed  site             15.9 min of 16.0",
        "FAILED  test-lint         1.2 min of  1.0  over its budget",
        "in all 17.1 min of 17.0, without the installation; this machine has 0.50 times the reference speed, at which "
        "it would be 8.6 min",
    ]


def run(tmp_path, monkeypatch, *asked):
    """The exit status of stages, and what make was called with."""
    program, calls = tmp_path / "fake-make", tmp_path / "calls"
    program.write_text(MAKE)
    program.chmod(0o755)
    monkeypatch.setenv("CALLS", str(calls))
    monkeypatch.setenv("MAKE", str(program))
    monkeypatch.setattr(stages, "speed", lambda: 1)
    calls.write_text("")
    return stages.main(*asked), calls.read_text().splitlines()


def test_a_stage_that_fails_stops_no_other(tmp_path, monkeypatch, capsys):
    status, calls = run(tmp_path, monkeypatch, "site", "test-lint", "test-site")
    assert status == 1 and [call.split()[-1] for call in calls] == ["site", "test-lint", "test-site"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[-4:-1]] == [
        ["passed", "site"],
        ["FAILED", "test-lint"],
        ["passed", "test-site"],
    ]
    assert run(tmp_path, monkeypatch, "site", "test-site")[0] == 0


def test_the_speed_is_that_beside_the_reference(monkeypatch):
    monkeypatch.setattr(stages, "WORK", f"print({2 * stages.REFERENCE})")
    assert stages.speed() == 0.5
