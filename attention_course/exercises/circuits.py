"""Exercises of the page "What do single heads do?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal
from attention_course.interpreting.circuits import induction_score

# --- the induction score of a head ----------------------------------------------------------------


def induction(weights, period):
    return induction_score(weights, period)


def _induction_inputs(size, generator):
    period = integer(3, size + 3, generator)
    n = period + integer(3, size + 3, generator)
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    return normal(generator, n, n).masked_fill(hidden, -torch.inf).softmax(-1), period


def _diagonal(weights, offset, skipped):
    return weights.diagonal(offset)[skipped:].mean()


INDUCTION = Exercise(
    "circuits.induction",
    induction,
    _induction_inputs,
    (
        Misconception(
            "the same symbol",
            lambda weights, period: _diagonal(weights, -period, 0),
            "This is the weight on the query's own symbol, one period back. The answer is the symbol that followed it.",
        ),
        Misconception(
            "one too far",
            lambda weights, period: _diagonal(weights, -period - 1, 0),
            "This is the weight on the token before the query's symbol. The answer came after it.",
        ),
        Misconception(
            "one query too many",
            lambda weights, period: _diagonal(weights, 1 - period, 0),
            "The diagonal is the right one. But its first query is the last token of the first period: its symbol has "
            "not come before.",
        ),
        Misconception(
            "all queries counted",
            lambda weights, period: weights.diagonal(1 - period)[1:].sum() / len(weights),
            "You divided by the number of all queries. Those of the first period have nothing to find: leave them out.",
        ),
        Misconception(
            "queries and keys exchanged",
            lambda weights, period: _diagonal(weights, period - 1, 1),
            "You read the upper half of the weights, where a causal mask leaves only zeros. Rows are queries.",
        ),
        Misconception(
            "previous token",
            lambda weights, period: _diagonal(weights, -1, 0),
            "This is the previous-token score. The induction score looks almost a whole period back.",
        ),
        Misconception(
            "sum",
            lambda weights, period: weights.diagonal(1 - period)[1:].sum(),
            "This is the sum over the queries. Take the mean.",
        ),
    ),
)

# --- an ablation ----------------------------------------------------------------------------------


def remove(weight, head, n_heads):
    width = len(weight) // n_heads
    kept = weight.clone()
    kept[:, head * width : (head + 1) * width] = 0
    return kept


def _rows(weight, head, n_heads):
    return remove(weight.T, head, n_heads).T


def _remove_inputs(size, generator):
    d_model = size * integer(2, 4, generator)
    return normal(generator, d_model, d_model), integer(0, size - 1, generator), size


def _in_place(weight, head, n_heads):
    width = len(weight) // n_heads
    weight[:, head * width : (head + 1) * width] = 0
    return weight


def _one_column(weight, head, n_heads):
    kept = weight.clone()
    kept[:, head] = 0
    return kept


def _only(weight, head, n_heads):
    return weight - remove(weight, head, n_heads)


REMOVE = Exercise(
    "circuits.remove",
    remove,
    _remove_inputs,
    (
        Misconception(
            "one column",
            _one_column,
            "This takes away one number of one head. A head is as wide as d_model divided by the number of heads.",
        ),
        Misconception(
            "in place",
            _in_place,
            "You wrote into the layer's own weight, so that the head could not come back: change a copy. (.detach(), "
            ".data and .numpy() make none: they give the same numbers another name.)",
        ),
        Misconception(
            "kept instead of removed",
            _only,
            "This keeps the head and removes all the others.",
        ),
        Misconception(
            "counted from 1",
            lambda weight, head, n_heads: remove(weight, head - 1, n_heads),
            "This removes the head before it: the first head is number 0.",
        ),
        Misconception(
            "interleaved",
            lambda weight, head, n_heads: weight * (torch.arange(len(weight)) % n_heads != head),
            "You took every n_heads-th column. The heads' answers are laid side by side, one after the other.",
        ),
    ),
    given=_rows,
    kept=("weight",),
)

# --- does a head copy? ----------------------------------------------------------------------------


def _circuit(symbol, value, output, logits):
    return symbol @ value.T @ output.T @ logits.T


def copying(symbol, value, output, logits):
    circuit = _circuit(symbol, value, output, logits)
    return (circuit.argmax(-1) == torch.arange(len(circuit))).float().mean()


def _copying_inputs(size, generator):
    n_symbols, d_model, d_head = 3 * size + 4, size + 5, size + 3
    symbol = normal(generator, n_symbols, d_model)
    value = normal(generator, d_head, d_model)
    output = torch.linalg.pinv(value) + 0.1 * normal(generator, d_model, d_head)
    logits = symbol + 0.4 * normal(generator, n_symbols, d_model)
    return symbol, value, output, logits


COPYING = Exercise(
    "circuits.copying",
    copying,
    _copying_inputs,
    (
        Misconception(
            "positive diagonal",
            lambda *parts: (_circuit(*parts).diagonal() > 0).float().mean(),
            "This counts symbols whose own logit rises. It is to rise more than every other logit.",
        ),
        Misconception(
            "columns",
            lambda *parts: (_circuit(*parts).argmax(0) == torch.arange(len(parts[0]))).float().mean(),
            "You searched the columns: which symbol helps this logit most. Search the rows: which logit this symbol "
            "helps most.",
        ),
        Misconception(
            "mean of the diagonal",
            lambda *parts: _circuit(*parts).diagonal().mean(),
            "This is how much the own logit rises. Asked is the share of symbols for which it rises most.",
        ),
        Misconception(
            "count",
            lambda *parts: copying(*parts) * len(parts[0]),
            "This is the number of symbols. Divide it by how many there are.",
        ),
        Misconception(
            "absolute values",
            lambda *parts: (_circuit(*parts).abs().argmax(-1) == torch.arange(len(parts[0]))).float().mean(),
            "You took the logit that changes most in either direction. A logit that falls is not copied.",
        ),
        Misconception(
            "without the head",
            lambda symbol, value, output, logits: (
                ((symbol @ logits.T).argmax(-1) == torch.arange(len(symbol))).float().mean()
            ),
            "The head's two matrices are missing: this is what the symbol itself says without any attention.",
        ),
    ),
)

EXERCISES = (INDUCTION, REMOVE, COPYING)
