"""A pytest plugin: how much of its tolerance, or of the way to its bound, each comparison of a test run uses.

python -m pytest -p tolerances --tolerances-to FILE tests/test_masks.py

It looks at what PyTorch, NumPy and pytest call close, wherever a test or the package asks for it, and at each `<`,
`<=`, `>` and `>=` of floating-point numbers in an assert of a test.
"""

import ast
import builtins
import json
import operator
import sys
import sysconfig
from collections import defaultdict
from functools import wraps
from pathlib import Path

import _pytest.approx
import _pytest.assertion.rewrite
import hypothesis
import numpy as np
import pytest
import torch

LIBRARIES = tuple(sysconfig.get_paths()[kind] for kind in ("stdlib", "purelib", "platlib"))
BETWEEN = (__file__, "/torch/testing/", "/_pytest/")  # what stands between a comparison and the line that asks for it
LARGEST_ERROR = 0.05  # two numbers that are no larger are an error and its tolerance; other bounds are on more
SIZES = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge}

running = ["no test"]
found = defaultdict(dict)  # by test and line
skipped = []


def asking_line() -> str | None:
    """The line that asks for a comparison, if it is a test's or the package's and not another library's."""
    frame = sys._getframe(1)
    while any(part in frame.f_code.co_filename for part in BETWEEN):
        frame = frame.f_back
    path = frame.f_code.co_filename
    return None if path.startswith(LIBRARIES) else f"{path}:{frame.f_lineno}"


def note(kind: str, share: float) -> None:
    """Keep the largest share of a line; it is above 1 where a test finds something not to be close."""
    line = asking_line()
    if line:
        lines = found[running[-1]]
        lines[line] = max(lines.get(line, [kind, 0.0]), [kind, share])


def numbers(values) -> np.ndarray:
    """Numbers in double precision, whatever they came in."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        values = values.to(torch.complex128 if values.is_complex() else torch.float64)
    return np.asarray(values)


def is_floating(values) -> bool:
    """Whether values are floating-point numbers, in one of the forms that tests compare."""
    if isinstance(values, torch.Tensor):
        return values.is_floating_point() or values.is_complex()
    return np.asarray(values).dtype.kind in "fc"


def note_close(actual, expected, relative: float, absolute: float) -> None:
    """Note the largest part of the tolerance that any number uses; nothing of exact comparisons and of counts."""
    if not (relative or absolute) or not (is_floating(actual) or is_floating(expected)):
        return note("tolerance", 0.0)
    actual, expected = numbers(actual), numbers(expected)
    with np.errstate(all="ignore"):
        share = abs(actual - expected) / (absolute + relative * abs(expected))
    share = np.where((actual == expected) | np.isnan(share), 0, share)
    return note("tolerance", float(share.max(initial=0)))


def watch_function(module, name: str, relative: float, absolute: float) -> None:
    """Look at each call of a function `(actual, expected, rtol, atol)`."""
    plain = getattr(module, name)

    @wraps(plain)
    def watched(actual, expected, rtol=relative, atol=absolute, **options):
        note_close(actual, expected, rtol, atol)
        return plain(actual, expected, rtol=rtol, atol=atol, **options)

    setattr(module, name, watched)


def watch_approx() -> None:
    """Look at each number that is compared with a `pytest.approx`."""
    plain = _pytest.approx.ApproxScalar.__eq__

    def watched(self, actual):
        if isinstance(actual, int | float | np.number) and isinstance(self.expected, int | float | np.number):
            note_close(actual, self.expected, 0, self.tolerance)
        return plain(self, actual)

    _pytest.approx.ApproxScalar.__eq__ = watched


def note_bound(low, high) -> None:
    """Note how far up to the larger number the smaller one comes: 0 where only one of them is positive."""
    if not (is_floating(low) or is_floating(high)):
        return
    low, high = np.broadcast_arrays(numbers(low), numbers(high))
    with np.errstate(all="ignore"):
        share = np.where((low > 0) & (high > 0), low / high, np.where((low < 0) & (high < 0), high / low, 0))
    is_error = max(abs(low).max(initial=0), abs(high).max(initial=0)) <= LARGEST_ERROR
    note("tolerance" if is_error else "bound", float(share.max(initial=0)))


def compared(operators: tuple[str, ...], *values) -> bool:
    """What a comparison `a < b <= c` gives; its numbers are noted."""
    for name, left, right in zip(operators, values, values[1:], strict=False):
        note_bound(*((left, right) if name.startswith("Lt") else (right, left)))
        result = SIZES[name](left, right)
        if len(operators) > 1 and not result:
            return result
    return result


class Watched(ast.NodeTransformer):
    """Hands each comparison by size in an assert to `compared`."""

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        node.test = Comparisons().visit(node.test)
        return node


class Comparisons(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        operators = [type(each).__name__ for each in node.ops]
        if not set(operators) <= set(SIZES):
            return node
        call = ast.parse(f"__compared__({tuple(operators)})", mode="eval").body
        call.args += [node.left, *node.comparators]
        for part in [call, call.func, *ast.walk(call.args[0])]:
            ast.copy_location(part, node)
        return call


def watch_asserts() -> None:
    """Look at comparisons by size in the asserts that pytest rewrites; it keeps and uses no rewritten files."""
    plain = _pytest.assertion.rewrite.rewrite_asserts

    def watched(tree, *rest):
        Watched().visit(tree)
        plain(tree, *rest)

    builtins.__compared__ = compared
    _pytest.assertion.rewrite.rewrite_asserts = watched
    _pytest.assertion.rewrite._read_pyc = lambda *_: None
    sys.dont_write_bytecode = True


def pytest_addoption(parser):
    parser.addoption("--tolerances-to", type=Path, required=True)


def pytest_configure():
    watch_asserts()
    watch_approx()
    for module in (torch, np):
        for name in ("isclose", "allclose"):
            watch_function(module, name, 1e-5, 1e-8)
    watch_function(np.testing, "assert_allclose", 1e-7, 0)
    hypothesis.settings.register_profile("the same examples", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("the same examples")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    running.append(item.nodeid)
    return (yield)


def pytest_runtest_logreport(report):
    if report.skipped:
        skipped.append(report.nodeid)


def pytest_sessionfinish(session):
    session.config.getoption("--tolerances-to").write_text(json.dumps({"found": found, "skipped": skipped}))
