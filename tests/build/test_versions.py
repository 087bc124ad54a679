"""The oldest and the newest versions that are tried are those that the package says it works with."""

import re
import tomllib
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement
from packaging.version import Version

from attention_course import setup

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ALLOWED = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["bert"]]
ALLOWED = {one.name: one.specifier for one in map(Requirement, ALLOWED)}


def asked(name):
    """The lines of a file beside the notebooks' tests: `{name: specifier}`."""
    lines = (ROOT / "tests" / "notebooks" / name).read_text().splitlines()
    found = map(Requirement, [line for line in lines if not line.startswith("#")])
    return {one.name: str(one.specifier) for one in found}


def test_the_newest_has_all_that_the_package_asks_for_and_no_version():
    newest = asked("newest-requirements.txt")
    assert {name: newest.get(name) for name in ALLOWED} == dict.fromkeys(ALLOWED, "")


def test_the_oldest_is_the_oldest_that_the_package_allows():
    oldest = {name: Version(pin.removeprefix("==")) for name, pin in asked("oldest-requirements.txt").items()}
    assert set(oldest) == set(ALLOWED)
    bounds = {name: Version(str(bound).removeprefix(">=")).release for name, bound in ALLOWED.items() if str(bound)}
    assert {name: oldest[name].release[: len(bound)] for name, bound in bounds.items()} == bounds


def test_the_oldest_pytorch_is_the_one_that_setup_asks_for(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "1.0")
    with pytest.raises(RuntimeError) as refused:
        setup()
    floor = re.search(r"PyTorch (\S+) or newer", str(refused.value))[1]
    oldest = asked("oldest-requirements.txt")["torch"].removeprefix("==")
    assert Version(oldest).release[:2] == Version(floor).release
