"""Of many things that are alike a few are tried on each change, always the same ones, and all of them every week."""

import pytest


def weekly(thing):
    """A parameter of a test that `make test` leaves to `make test ALL=1`."""
    if isinstance(thing, type(pytest.param())):
        return pytest.param(*thing.values, marks=[*thing.marks, pytest.mark.weekly], id=thing.id)
    return pytest.param(*(thing if isinstance(thing, tuple) else [thing]), marks=pytest.mark.weekly)


def every_third(things):
    """Parameters, of which every third is tried on each change."""
    return [weekly(thing) if place % 3 else thing for place, thing in enumerate(things)]


def first_of_each(kind, things):
    """Parameters, of which the first of each kind is tried on each change."""
    firsts = {kind(thing): thing for thing in reversed(things)}
    return [thing if thing is firsts[kind(thing)] else weekly(thing) for thing in things]
