"""Exercises of the page "Can attention read a table?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- statistics that do not leak ----------------------------------------------------------------------


def standardise(train, test):
    return (test - train.mean(0)) / train.std(0, correction=0)


def _split_table(size, generator):
    scale, shift = 0.5 + 2 * torch.rand(size, generator=generator), 3 * normal(generator, size)
    return tuple(scale * normal(generator, n_rows, size) + shift for n_rows in (size + 4, size - 1))


def _by_rows_of(choose):
    """The test rows, standardised with the statistics of other rows."""
    return lambda train, test: (test - choose(train, test).mean(0)) / choose(train, test).std(0, correction=0)


STANDARDISE = Exercise(
    "tables.standardise",
    standardise,
    _split_table,
    (
        Misconception(
            "all rows",
            _by_rows_of(lambda train, test: torch.cat([train, test])),
            "Mean and deviation come from all rows, so the test rows have told the model about themselves before "
            "the test. Use the training rows alone.",
        ),
        Misconception(
            "the test rows' own",
            _by_rows_of(lambda train, test: test),
            "You standardised the test rows by themselves. The model learned on another scale, and a single new "
            "flower would have no deviation at all.",
        ),
        Misconception(
            "over the features",
            lambda train, test: (test - test.mean(1, keepdim=True)) / test.std(1, correction=0, keepdim=True),
            "You took each row's mean over its features: centimetres of sepal mixed with centimetres of petal. "
            "Each column has its own.",
        ),
        Misconception(
            "one number for the table",
            lambda train, test: (test - train.mean()) / train.std(correction=0),
            "You used one mean and one deviation for the whole table. Each column has its own: dimension 0.",
        ),
        Misconception(
            "variance",
            lambda train, test: (test - train.mean(0)) / train.var(0, correction=0),
            "You divided by the variance. Its root has the unit of the column.",
        ),
        Misconception(
            "centred only",
            lambda train, test: test - train.mean(0),
            "The columns are centred but not scaled: divide by the standard deviation.",
        ),
        Misconception(
            "divided by n - 1",
            lambda train, test: (test - train.mean(0)) / train.std(0),
            "The rows are the right ones, but torch divides by n - 1 where nothing is said. Divide by n, as "
            "scikit-learn's StandardScaler does: correction=0.",
        ),
        Misconception(
            "returns the training rows",
            lambda train, test: standardise(train, train),
            "You returned the training rows. Their statistics are right: apply them to the test rows.",
        ),
    ),
)


# --- what a column is worth, given with a mistake -------------------------------------------------------


def falls(predict, x, y):
    return _whole(predict, x, y) - torch.stack([_without(predict, x, y, [c], x.mean(0)) for c in range(x.size(1))])


def _whole(predict, x, y):
    return (predict(x) == y).float().mean()


def _without(predict, x, y, columns, values):
    """Accuracy with some columns set to values, one for each column of the table."""
    erased = x.clone()
    erased[:, columns] = values[columns]
    return _whole(predict, erased, y)


def _one_after_the_other(predict, x, y):
    """What the page prints: no column comes back."""
    worth = [_without(predict, x, y, list(range(c + 1)), x.mean(0)) for c in range(x.size(1))]
    return _whole(predict, x, y) - torch.stack(worth)


def _all_but(predict, x, y):
    others = [[other for other in range(x.size(1)) if other != c] for c in range(x.size(1))]
    return _whole(predict, x, y) - torch.stack([_without(predict, x, y, rest, x.mean(0)) for rest in others])


def _erased_to(values_of):
    """A wrong answer that sets columns to other values than their means."""

    def wrong(predict, x, y):
        values = values_of(x).expand(x.size(1))
        return _whole(predict, x, y) - torch.stack([_without(predict, x, y, [c], values) for c in range(x.size(1))])

    return wrong


def _classified_rows(size, generator):
    """A linear classifier, rows whose columns have different means, and labels on which it is mostly right.

    It is wrong where one column decides, so that without this column it is better.
    """
    n_columns, n_classes = size + 2, 3
    x = normal(generator, 12 * size, n_columns) + 2 * normal(generator, n_columns)
    weights = normal(generator, n_columns, n_classes)
    bias = normal(generator, n_classes) - x.mean(0) @ weights  # with all columns at their means, still one class

    def predict(rows):
        return (rows @ weights + bias).argmax(1)

    misleading = integer(0, n_columns - 1, generator)
    without = x.clone()
    without[:, misleading] = x[:, misleading].mean()
    return predict, x, predict(without)


FALLS = Exercise(
    "tables.falls",
    falls,
    _classified_rows,
    (
        Misconception(
            "set to zero",
            _erased_to(lambda x: torch.zeros(1)),
            "You set the column to 0. Only in a standardised table is that the mean.",
        ),
        Misconception(
            "the mean of the table",
            _erased_to(lambda x: x.mean()),
            "You set the column to the mean of the whole table. Each column has its own mean.",
        ),
        Misconception(
            "all other columns",
            _all_but,
            "You erased all columns but the one in question.",
        ),
        Misconception(
            "accuracy, not its fall",
            lambda predict, x, y: _whole(predict, x, y) - falls(predict, x, y),
            "This is the accuracy that is left. Return by how much it falls.",
        ),
        Misconception(
            "sign",
            lambda predict, x, y: -falls(predict, x, y),
            "The sign is wrong: a column that is missed makes the accuracy fall, and its number should be positive.",
        ),
    ),
    given=_one_after_the_other,
)

EXERCISES = (STANDARDISE, FALLS)
