"""Exercises of the page "Now you", and the grades of its projects, which take what a model wrote."""

import torch

from attention_course.exercises.judging.checking import NOT_BEGUN, Exercise, Misconception, Verdict
from attention_course.tasks import dates, spelling, translation

GOALS = {"dates": 0.96, "names": 0.93, "pairs": 0.9}  # shares of what was written rightly


# --- what a model wrote ------------------------------------------------------------------------------


def grade_dates(written, pairs) -> Verdict:
    """Judge the ISO dates that a model wrote: the goal is about dates that can mean one day only.

    Args:
        written: Integers `(batch, N_TARGET)`, or `...` where nothing was written yet.
        pairs: What `tasks.dates.written_dates` drew.
    """
    trouble = _trouble("dates", written, pairs.target)
    if trouble:
        return trouble
    written = written.cpu()
    meant = [dates.readings(dates.to_text(source)) for source in pairs.source]
    one = torch.tensor([len(readings) == 1 for readings in meant])
    target = pairs.target.cpu()
    right = (written == target).all(1)
    share = _share(right[one])
    said = f"{share:.1%} of the dates with one reading are right"
    if not one.all():
        texts = [dates.to_text(row) for row in written]
        possible = torch.tensor([text in readings for text, readings in zip(texts, meant, strict=True)])
        said += (
            f". Of those with two, {_share(right[~one]):.1%} are the day that was meant, "
            f"and {_share(possible[~one]):.1%} one of the two readings"
        )
    exchanged = torch.cat([target[:, :5], target[:, 8:], target[:, 7:8], target[:, 5:7]], dim=1)
    if _share((written == exchanged).all(1)[one]) > 0.3:
        return _wrong(
            "dates", f"{said}. Day and month stand in each other's place: ISO has the month first.", "exchanged"
        )
    if share < GOALS["dates"]:
        parts = {"year": slice(0, 4), "month": slice(5, 7), "day": slice(8, 10)}
        missed = {part: 1 - _share((written == target)[one][:, places].all(1)) for part, places in parts.items()}
        said += ". Wrong: " + ", ".join(f"the {part} in {share:.1%}" for part, share in missed.items())
    return _reached("dates", share, said)


def grade_names(written, digits) -> Verdict:
    """Judge the names that a model wrote to images of digits.

    Args:
        written: Integers `(batch, N_TARGET)`, or `...` where nothing was written yet.
        digits: A part of `tasks.spelling.spelled_digits`.
    """
    trouble = _trouble("names", written, digits.target, end=spelling.END)
    if trouble:
        return trouble
    written = written.cpu()
    right = (written == digits.target.cpu()).all(1)
    names = [spelling.to_text(row) for row in written]
    no_name = sum(name not in spelling.NAMES for name in names)
    share = _share(right)
    return _reached("names", share, f"{share:.1%} of the names are right, and {no_name} of {len(names)} name no digit")


def grade_pairs(written, pairs) -> Verdict:
    """Judge translations of sentences that hold a pair of words which training never showed.

    Args:
        written: Integers `(batch, N_TARGET)`, or `...` where nothing was written yet.
        pairs: Sentences with such pairs, drawn by `tasks.translation_pairs`.
    """
    trouble = _trouble("pairs", written, pairs.target, end=translation.END)
    if trouble:
        return trouble
    written, target = written.cpu(), pairs.target.cpu()
    share = _share((written == target).all(1))
    words = _share((written == target)[target != translation.PAD])
    return _reached("pairs", share, f"{share:.1%} of the sentences are right, and {words:.1%} of their words")


def _trouble(goal: str, written, target, end: int | None = None) -> Verdict | None:
    """What keeps these outputs from being judged at all, or explains all of their mistakes."""
    if written is ...:
        return Verdict(f"projects, {goal}", "not attempted", NOT_BEGUN)
    target = target.cpu()
    if not isinstance(written, torch.Tensor):
        return _wrong(goal, f"Give the symbols as a tensor, got {type(written).__name__}.", "no tensor")
    if written.is_floating_point():
        if written.ndim == 3:
            return _wrong(goal, "These are logits, not symbols: let the model write with `generate`.", "logits")
        return _wrong(goal, f"Give symbols as whole numbers, got {written.dtype}.", "no whole numbers")
    if written.shape != target.shape:
        expected, got = tuple(target.shape), tuple(written.shape)
        return _wrong(goal, f"Expected symbols of shape {expected}, one row a source, got {got}.", "shape")
    if (written.cpu() == target).all(1).float().mean() > 0.5:
        return None
    return _one_reason(goal, written.cpu(), target, end)


def _one_reason(goal: str, written, target, end: int | None) -> Verdict | None:
    if (written[:, 1:] == target[:, :-1]).all(1).float().mean() > 0.5:
        return _wrong(goal, "All is one place late: leave the start symbol out.", "one place late")
    if (written == written[:1]).all() and not (target == target[:1]).all():
        message = "Every row is the same, whatever the source. Does the decoder get the memory?"
        return _wrong(goal, message, "the same for all")
    if end is not None:
        before = (target == end).int().cumsum(1) - (target == end).int() == 0  # up to the period itself
        if ((written == target) | ~before).all(1).float().mean() > 0.5:
            message = "Up to the period most rows are right, and something stands behind it: use `cut_after`."
            return _wrong(goal, message, "not cut")
    return None


def _share(right) -> float:
    return right.double().mean().item()  # in 32 bits 90% is less than 0.9


def _wrong(goal: str, message: str, misconception: str | None = None) -> Verdict:
    return Verdict(f"projects, {goal}", "wrong", message, misconception)


def _reached(goal: str, share: float, said: str) -> Verdict:
    reached = share >= GOALS[goal]
    outcome = "reached" if reached else "not reached yet"
    return Verdict(
        f"projects, {goal}", "passed" if reached else "wrong", f"{said}. Goal of {GOALS[goal]:.0%} {outcome}."
    )


# --- the best that any reader could do ---------------------------------------------------------------


def reachable(counts):
    return counts.max(1).values.sum() / counts.sum()


def _counts(size, generator):
    counts = torch.randint(0, 9, (size + 2, 2 + size % 2), generator=generator)
    counts[0] = torch.arange(counts.size(1)) + 3  # two readings, not equally often
    counts[1, 1:], counts[1, 0] = 0, 7  # one reading
    counts[2:, 0] += 1  # each text was written
    return (counts,)


REACHABLE = Exercise(
    "projects.reachable",
    reachable,
    _counts,
    (
        Misconception(
            "mean over texts",
            lambda counts: (counts.max(1).values / counts.sum(1)).mean(),
            "You gave every text the same say. A text that is written often counts as often.",
        ),
        Misconception(
            "one reading only",
            lambda counts: counts[(counts > 0).sum(1) == 1].sum() / counts.sum(),
            "You counted only the texts with one reading. Of the others the commoner reading can be got right, too.",
        ),
        Misconception(
            "guessing in proportion",
            lambda counts: (counts.square().sum(1) / counts.sum(1)).sum() / counts.sum(),
            "This reader guesses each reading as often as it is meant. To write always the commoner one is better.",
        ),
        Misconception(
            "guessing evenly",
            lambda counts: (counts.sum(1) / (counts > 0).sum(1)).sum() / counts.sum(),
            "This reader tosses a coin between the readings. The counts say which of them is commoner.",
        ),
        Misconception(
            "a number of dates",
            lambda counts: counts.max(1).values.sum(),
            "This is how many dates can be got right. Divide by how many there are.",
        ),
        Misconception(
            "commonest of all",
            lambda counts: counts.sum(0).max() / counts.sum(),
            "You chose one column for all texts. The best reader chooses for each text.",
        ),
    ),
)


# --- which letters survive another image --------------------------------------------------------------


def kept(written, told, shown):
    differ = told != shown
    return ((written == told) & differ).sum(0) / differ.sum(0)


def _kept_everywhere(written, told, shown):
    return (written == told).float().mean(0)


def _three_names(size, generator):
    n, t = 4 * size + 3, size + 1
    told, shown = (torch.randint(0, 4, (n, t), generator=generator) for _ in range(2))
    told[0], shown[0] = 1, 2  # in each place some names differ
    told[1], shown[1] = 3, 3  # and some are alike
    as_told = torch.rand(n, t, generator=generator) < 0.6
    written = torch.where(as_told, told, shown)
    written[2] = 5  # neither
    return written, told, shown


KEPT = Exercise(
    "projects.kept",
    kept,
    _three_names,
    (
        Misconception(
            "the image's letters",
            lambda written, told, shown: kept(written, shown, told),
            "This is how often the letter of the image is written. Asked is the letter of the name that was told.",
        ),
        Misconception(
            "divided by all",
            lambda written, told, shown: ((written == told) & (told != shown)).float().mean(0),
            "You left out places where the names agree, and still divide by all rows. Divide by the rows that differ.",
        ),
        Misconception(
            "one number",
            lambda written, told, shown: (written == told)[told != shown].float().mean(),
            "This is one share over all places. Return one for each place of the name.",
        ),
        Misconception(
            "a share a name",
            lambda written, told, shown: (
                ((written == told) & (told != shown)).sum(1) / (told != shown).sum(1).clamp_min(1)
            ),
            "This is one share a row. Count down the rows: the places stay.",
        ),
        Misconception(
            "rows that differ somewhere",
            lambda written, told, shown: (written == told)[(told != shown).any(1)].float().mean(0),
            "You left out rows whose names are the same throughout. Two different names may still agree in this place.",
        ),
    ),
    given=_kept_everywhere,
)

EXERCISES = (REACHABLE, KEPT)
