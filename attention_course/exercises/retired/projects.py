"""Exercises of the page "Now you", and what its notebooks import besides."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception, Verdict


def grade_dates(written, pairs) -> Verdict:
    """What a notebook calls that was handed out: nothing judges the projects any more."""
    return Verdict("projects", "not attempted", "Nothing judges the projects any more: their page was dissolved.")


grade_names = grade_pairs = grade_dates

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
