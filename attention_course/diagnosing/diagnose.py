"""What is wrong with an attention of your own? `diagnose`, and `python -m attention_course diagnose FILE:NAME`."""

import argparse
import importlib.util
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from torch import Tensor, nn

from attention_course.diagnosing.caches import ask_cache, ask_remembers
from attention_course.diagnosing.calling import find_subject
from attention_course.diagnosing.findings import ORDER, Finding
from attention_course.diagnosing.hiding import ask_corner, ask_future, ask_masks, ask_others
from attention_course.diagnosing.knowledge import Knowledge, Told, learn
from attention_course.diagnosing.layouts import LAYOUTS
from attention_course.diagnosing.numbers import ask_empty, ask_finite, ask_gradient, ask_large, ask_writes
from attention_course.diagnosing.precision import ask_autocast, ask_half
from attention_course.diagnosing.scales import ask_scale
from attention_course.diagnosing.subject import USUAL, Sizes
from attention_course.diagnosing.weighing import ask_batch, ask_dropout, ask_heads, ask_lengths, ask_weights

QUESTIONS = (
    ask_dropout, ask_batch, ask_weights, ask_heads, ask_masks, ask_others, ask_future, ask_corner, ask_empty, ask_large,
    ask_cache, ask_remembers, ask_lengths, ask_scale, ask_gradient, ask_writes, ask_half, ask_autocast,
)  # fmt: skip
SMALLER = [Sizes(batch, n, n + more) for batch in (1, 2) for n in (2, 3, 4) for more in (0, 1, 2)]


class Report(list):
    """Findings, most serious first, then notes.

    Attributes:
        seems: How the attention wants to be called.
        unasked: The questions that its code did not let be asked, with the error.
    """

    def __init__(self):
        super().__init__()
        self.seems: str = ""
        self.unasked: dict[str, str] = {}

    @property
    def wrong(self) -> list[Finding]:
        """The findings that are not notes."""
        return [finding for finding in self if not finding.note]

    def __str__(self) -> str:
        lines = [self.seems]
        for finding in self:
            kind = "note " if finding.note else "WRONG" if finding is self[0] else "also "
            lines.append(f"{kind} {finding.name}: {finding.sentence}")
            lines += [f"  shown by {finding.shown}", f"  explained in chapters/{finding.lesson}"]
        if len(self.wrong) > 1:
            lines.append("what is found besides the first may follow from it: fix that, and ask again")
        lines += [f"not asked: {question}, {error}" for question, error in self.unasked.items()]
        if not self.wrong:
            n_asked = len(QUESTIONS) - len(self.unasked)
            found = "only notes, which depend on what you meant" if self else "nothing wrong"
            lines.append(f"{n_asked} questions found {found}, as far as they apply")
            lines.append("(few tokens, one mask at a time; causal=True asks whether it hides the future)")
        return "\n".join(lines)


def diagnose(
    my_attention: Callable | nn.Module | type,
    *,
    layout: str | None = None,
    mask_means: str | None = None,
    causal: bool | None = None,
    scale: str | float | None = None,
) -> Report:
    """Call somebody's attention in many ways, and tell what is wrong with it.

    How it wants to be called is tried out, and told. What cannot be decided from inputs is a note until it is said
    what was meant: an inverted mask is the other convention, a missing scale is T5's.

    Args:
        my_attention: A function of a sequence, of two, or of query, key and value; a module; or a class of modules,
            which is made with numbers chosen by the names of its arguments. PyTorch, or functions of NumPy arrays.
        layout: Where batch, heads and tokens stand, such as `"(batch, n, d)"`.
        mask_means: `"attend"` or `"hide"`: what True, or 1, is meant to do in a mask.
        causal: Whether later tokens are to be hidden where nothing is passed that asks for it.
        scale: What dot products are meant to be multiplied by: a number, or `"1/sqrt(d)"`.

    Returns:
        The report: a list of findings, which prints as text.

    Raises:
        TypeError: If it cannot be called at all.
        ValueError: If no way of calling it was found, or an argument is none of those above.
    """
    if not callable(my_attention):
        raise TypeError(f"my_attention must be a function, a module or a class of modules, got {type(my_attention)}")
    if mask_means not in (None, "attend", "hide"):
        raise ValueError(f"mask_means must be 'attend' or 'hide', got {mask_means!r}")
    if scale not in (None, "1/sqrt(d)") and not _is_number(scale):
        raise ValueError(f"scale must be a number or '1/sqrt(d)', got {scale!r}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of calls that were only tried
        known = learn(find_subject(my_attention, layout), Told(mask_means, causal, scale, layout))
        report = _asked(known)
    report.sort(key=lambda finding: (finding.note, ORDER.index(finding.name)))
    return report


def _is_number(said: str | float) -> bool:
    try:
        return math.isfinite(float(said))
    except (TypeError, ValueError):
        return False


def _asked(known: Knowledge) -> Report:
    """What each question has found, in the order of the questions."""
    report = Report()
    for question in (ask_finite, *QUESTIONS):
        try:
            finding = question(known, USUAL)
        except Exception as error:  # whatever somebody's code may raise
            report.unasked[question.__name__] = f"{type(error).__name__}: {error}"
            continue
        if finding is not None:
            smallest, tokens = _smallest(known, question, finding)
            report.append(replace(smallest, shown=_told(tokens), inputs=tuple(known.subject.arguments(tokens))))
            if question is ask_finite:  # where numbers are NaN for ordinary inputs, no other one has an answer
                break
    report.seems = _seems(known)
    return report


def _smallest(known: Knowledge, question: Callable, finding: Finding) -> tuple[Finding, list[Tensor]]:
    """The same finding on the smallest input that shows it, and this input."""
    for sizes in SMALLER:
        try:
            again = question(known, sizes)
        except Exception:  # whatever somebody's code may raise at a size
            continue
        if again is not None and again.name == finding.name:
            return again, known.subject.draw(sizes)
    return finding, known.subject.draw(USUAL)


def _told(tokens):
    batch, _, n_queries, width = tokens[0].shape
    n_keys = tokens[1].size(2)
    count = f"{n_queries} tokens" if n_keys == n_queries else f"{n_queries} queries and {n_keys} keys"
    return f"a batch of {batch} with {count} of width {width}"


def _seems(known: Knowledge) -> str:
    """How it wants to be called."""
    subject = known.subject
    told = {"self": "one sequence", "cross": "two sequences", "triple": "query, key and value"}[subject.kind]
    arrays = " of NumPy" if subject.numpy else ""
    parts = [f"{told}{arrays}, {subject.layout.name}"]
    for argument, works in known.masks.items():
        if works is None:
            parts.append(f"`{argument}`, which in none of {len(known.ran[argument])} forms hides what it should")
        else:
            parts.append(f"`{argument}`, {works.form.meaning}, {works.form.shape}")
    parts += [f"`{argument}`, {works.form.meaning}, of the first alone" for argument, works in known.own.items()]
    parts += ["a cache"] * known.cached
    return f"it seems to take {' and '.join(parts)}"


def main(arguments: list[str]) -> int:
    """Run the command; returns the exit status: 1 where something is wrong."""
    purpose = diagnose.__doc__.partition("\n")[0]
    asked = "\n".join(f"  {question.__doc__.partition(chr(10))[0]}" for question in (ask_finite, *QUESTIONS))
    parser = argparse.ArgumentParser(
        prog="python -m attention_course diagnose",
        description=purpose,
        epilog=f"questions:\n{asked}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("attention", metavar="FILE:NAME", help="a file and the function or class in it")
    parser.add_argument("--layout", choices=[layout.name for layout in LAYOUTS], help="of its tensors")
    parser.add_argument("--mask-means", choices=("attend", "hide"), help="what True does in a mask")
    parser.add_argument("--causal", action="store_true", default=None, help="it is meant to hide the future")
    parser.add_argument("--scale", help="what dot products are multiplied by: a number, or 1/sqrt(d)")
    given = parser.parse_args(arguments)
    try:
        attention = _load(given.attention)
    except (Exception, SystemExit) as error:  # whatever somebody's file may raise
        print(f"diagnose: {given.attention} cannot be loaded: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    try:
        report = diagnose(
            attention,
            layout=given.layout,
            mask_means=given.mask_means,
            causal=given.causal,
            scale=given.scale,
        )
    except (TypeError, ValueError) as error:
        print(f"diagnose: {error}", file=sys.stderr)
        return 2
    print(report)
    return 1 if report.wrong else 0


def _load(address: str) -> Callable:
    """The thing of that name in that file."""
    file, _, name = address.rpartition(":")
    if not file:
        raise ValueError(f"expected FILE:NAME, such as my_model.py:Attention, got {address!r}")
    # No import asks for a name with a space: it stands for no other module.
    spec = importlib.util.spec_from_file_location(f"diagnosed {Path(file).stem}", file)
    if spec is None:
        raise ValueError(f"expected a Python file, got {file!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where a dataclass looks up its annotations
    sys.path.insert(0, str(Path(file).resolve().parent))  # what it imports beside itself
    spec.loader.exec_module(module)
    return getattr(module, name)
