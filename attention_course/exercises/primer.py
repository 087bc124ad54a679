"""Exercises of the lesson "Before you start"."""

import torch
import torch.nn.functional as F

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- cross-entropy from logits ------------------------------------------------------------


def cross_entropy(logits, target):
    probabilities = logits.softmax(-1)
    right = probabilities.gather(-1, target[:, None]).squeeze(-1)
    return -right.log().mean()


def _classification(size, generator):
    """Logits `(batch, classes)` and targets; a batch of one is among them."""
    batch, classes = size - 1, size + 2
    return normal(generator, batch, classes), torch.randint(classes, (batch,), generator=generator)


CROSS_ENTROPY = Exercise(
    "primer.cross_entropy",
    cross_entropy,
    _classification,
    (
        Misconception(
            "no logarithm",
            lambda logits, target: -logits.softmax(-1).gather(-1, target[:, None]).mean(),
            "You averaged the probabilities themselves. The loss is minus their logarithm, so that being sure "
            "and wrong costs much.",
        ),
        Misconception(
            "no softmax",
            lambda logits, target: -logits.gather(-1, target[:, None]).mean(),
            "You used the logits as they are. A logit is not a logarithm of a probability until the softmax has "
            "made the probabilities sum to 1.",
        ),
        Misconception(
            "sign",
            lambda logits, target: -cross_entropy(logits, target),
            "The sign is wrong: a logarithm of a probability is negative, and a loss should be smaller the better "
            "the model is.",
        ),
        Misconception(
            "sum instead of mean",
            lambda logits, target: cross_entropy(logits, target) * len(logits),
            "You added the losses of the batch up. Take their mean, or a larger batch would mean a larger step.",
        ),
        Misconception(
            "softmax over the batch",
            lambda logits, target: -logits.softmax(0).gather(-1, target[:, None]).log().mean(),
            "Your softmax ran over the batch, so the examples compete with each other. The classes of one example "
            "must sum to 1: the last dimension.",
        ),
        Misconception(
            "bits",
            lambda logits, target: cross_entropy(logits, target) / torch.tensor(2.0).log(),
            "This is the loss in bits. PyTorch and this course use the natural logarithm: nats.",
        ),
        Misconception(
            "every target's probability",
            lambda logits, target: -logits.softmax(-1)[:, target].log().mean(),
            "This takes, of every row, the probability of every target. Pair each row with its own.",
        ),
        Misconception(
            "logarithm of the mean",
            lambda logits, target: -logits.softmax(-1).gather(-1, target[:, None]).mean().log(),
            "You averaged first. Take the logarithm of each probability, then the mean.",
        ),
        Misconception(
            "no mean",
            lambda logits, target: F.cross_entropy(logits, target, reduction="none"),
            "You returned one loss for each row. Return their mean.",
        ),
        Misconception(
            "mean over the classes too",
            lambda logits, target: cross_entropy(logits, target) / logits.size(-1),
            "You also divided by the number of classes. Each row has one right class: average over rows alone.",
        ),
        Misconception(
            "softmax twice",
            lambda logits, target: F.cross_entropy(logits.softmax(-1), target),
            "F.cross_entropy takes logits and does the softmax itself: yours is the second one.",
        ),
        Misconception(
            "likeliest instead of right",
            lambda logits, target: -logits.softmax(-1).max(-1).values.log().mean(),
            "You took the largest probability of each row. The loss asks for the probability of the right class, "
            "whether the model likes that class or not.",
        ),
    ),
    differentiable=True,
)


# --- one step of gradient descent, given with mistakes --------------------------------------


def step(table, letters, followers, learning_rate):
    table = table.clone().requires_grad_()
    loss = F.cross_entropy(table[letters], followers)
    loss.backward()
    return table.detach() - learning_rate * table.grad


def given_step(table, letters, followers, learning_rate):
    """What the page prints: it runs, and it is wrong in two places."""
    return _descend(table, letters, followers, learning_rate, twice=True, sign=1)


def _descend(table, letters, followers, learning_rate, twice=False, sign=-1):
    table = table.clone().requires_grad_()
    logits = table[letters]
    loss = F.cross_entropy(logits.softmax(-1) if twice else logits, followers)
    loss.backward()
    return table.detach() + sign * learning_rate * table.grad


def _without_logarithm(table, letters, followers, learning_rate):
    table = table.clone().requires_grad_()
    F.nll_loss(table[letters].softmax(-1), followers).backward()
    return table.detach() - learning_rate * table.grad


def _table_inputs(size, generator):
    n_letters, batch = size + 1, size + 3
    letters, followers = torch.randint(n_letters, (2, batch), generator=generator)
    return normal(generator, n_letters, n_letters), letters, followers, 0.1 * size


STEP = Exercise(
    "primer.step",
    step,
    _table_inputs,
    (
        Misconception(
            "softmax twice",
            lambda *arguments: _descend(*arguments, twice=True),
            "The direction is right now. But F.cross_entropy takes logits and does the softmax itself: yours is the "
            "second one, and with it the loss can never come near 0.",
        ),
        Misconception(
            "no logarithm",
            _without_logarithm,
            "This loss lacks the logarithm: F.nll_loss takes logarithms of probabilities, and F.cross_entropy logits.",
        ),
        Misconception(
            "uphill",
            lambda *arguments: _descend(*arguments, sign=1),
            "The loss is right now. But the gradient points to where the loss grows, and you walk that way.",
        ),
        Misconception(
            "the rate is not used",
            lambda table, letters, followers, learning_rate: step(table, letters, followers, 1.0),
            "Your step has the gradient's full length. Multiply by the learning rate.",
        ),
        Misconception(
            "returns the gradient",
            lambda table, letters, followers, learning_rate: table - step(table, letters, followers, 1.0),
            "This is the gradient. The exercise asks for the table after one step.",
        ),
        Misconception(
            "divides by the rate",
            lambda table, letters, followers, learning_rate: step(table, letters, followers, 1 / learning_rate),
            "You divided by the learning rate. A smaller rate must give a smaller step.",
        ),
    ),
    given=given_step,
)

EXERCISES = (CROSS_ENTROPY, STEP)
