"""What is asked for, what `make lock` wrote of it, what is installed and the oldest and newest that are tried fit."""

import re
import tomllib
from importlib.metadata import requires

import pytest
import torch
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from tiny_book import ROOT

from attention_course import setup

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ALLOWED = map(Requirement, sum(PROJECT["optional-dependencies"].values(), PROJECT["dependencies"]))
ALLOWED = {one.name: str(one.specifier).removeprefix(">=") for one in ALLOWED}
LEFT_OUT = set(tomllib.loads((ROOT / "tools" / "lock.toml").read_text())["exclude-dependencies"])
OF_A_GPU = re.compile(r"nvidia|cuda")


def lines(name):
    """A file's lines without its comments."""
    without = [line.partition("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
    return list(filter(None, without))


def here(requirement, extra=""):
    """Whether a requirement counts on this machine."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


ASKED = list(map(Requirement, lines("requirements.in")))
PINS = list(map(Requirement, lines("requirements.txt")))
PINNED_HERE = {pin.name: str(pin.specifier).removeprefix("==") for pin in PINS if here(pin)}


def brought_along(requirements):
    """The names that requirements lead to on this machine, by what the installed packages ask for."""
    found, new = set(), {(canonicalize_name(one.name), extra) for one in requirements for extra in {"", *one.extras}}
    while new:
        found |= new
        asked = [(Requirement(text), extra) for name, extra in new for text in requires(name) or ()]
        wanted = [one for one, extra in asked if here(one, extra) and one.name not in LEFT_OUT]
        new = {(canonicalize_name(one.name), extra) for one in wanted for extra in {"", *one.extras}} - found
    return {name for name, _ in found}


def test_a_line_of_the_lock_is_one_version_and_names_no_place():
    one_version = re.compile(r"[a-z0-9-]+==[\w.]+( ; [^@/]+)?")
    assert not [line for line in lines("requirements.txt") if not one_version.fullmatch(line)]


def test_what_is_asked_for_is_pinned_at_a_version_that_is_allowed():
    asked = [one for one in ASKED if here(one)]
    assert not [one.name for one in asked if not one.specifier.contains(PINNED_HERE[one.name])]


def test_the_pins_are_what_is_asked_for_and_what_that_brings_along():
    assert set(PINNED_HERE) == brought_along([one for one in ASKED if here(one)])


def test_what_is_for_gpus_is_left_to_the_build_of_pytorch():
    assert not [pin.name for pin in PINS if OF_A_GPU.search(pin.name)]
    assert all(map(OF_A_GPU.search, LEFT_OUT))


def test_what_is_pinned_in_two_files_is_the_same_in_both():
    beside = lines("experiments/requirements.txt") + lines("experiments/real/requirements.txt")
    beside += [line for line in lines("tests/notebooks/colab-requirements.txt") if line.startswith("anywidget")]
    twice = {pin.name: str(pin.specifier) for pin in map(Requirement, beside) if pin.name in PINNED_HERE}
    assert {"torch", "transformers", "anywidget"} <= set(twice)
    assert twice == {name: f"=={PINNED_HERE[name]}" for name in twice}


def tried(which):
    """What the oldest or the newest environment asks for: `{name: version}`."""
    asked = map(Requirement, lines(f"tests/notebooks/{which}-requirements.txt"))
    return {one.name: str(one.specifier).removeprefix("==") for one in asked}


def test_the_newest_has_all_that_the_package_asks_for_and_no_version():
    newest = tried("newest")
    assert {name: newest.get(name) for name in ALLOWED} == dict.fromkeys(ALLOWED, "")


def test_the_oldest_is_the_oldest_that_the_package_allows():
    oldest = tried("oldest")
    assert set(oldest) == set(ALLOWED)
    bounds = {name: Version(bound).release for name, bound in ALLOWED.items() if bound}
    assert {name: Version(oldest[name]).release[: len(bound)] for name, bound in bounds.items()} == bounds


def test_the_oldest_pytorch_is_the_one_that_setup_asks_for(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "1.0")
    with pytest.raises(RuntimeError) as refused:
        setup()
    floor = re.search(r"PyTorch (\S+) or newer", str(refused.value))[1]
    assert Version(tried("oldest")["torch"]).release[:2] == Version(floor).release
