"""Exercises of the page "What trained attention fails at as texts grow"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal


def step(state, symbol, table, sharp):
    n_states, n_symbols, _ = table.shape
    scores = sharp * (state[:, None] + symbol).flatten()
    return scores.softmax(0) @ table.reshape(n_states * n_symbols, n_states)


def _step_inputs(size, generator):
    n_states, n_symbols = size + 1, 2 + (size + 1) % 4
    state = torch.eye(n_states)[integer(0, n_states - 1, generator)]
    symbol = torch.eye(n_symbols)[integer(0, n_symbols - 1, generator)]
    table = normal(generator, n_states, n_symbols, n_states).softmax(-1)
    return state, symbol, table, 1.0 + size / 4


def _symbol_first(state, symbol, table, sharp):
    scores = sharp * (symbol[:, None] + state).flatten()
    return scores.softmax(0) @ table.flatten(0, 1)


STEP = Exercise(
    "limits.step",
    step,
    _step_inputs,
    (
        Misconception(
            "the symbol alone",
            lambda state, symbol, table, sharp: (
                (sharp * symbol).expand(len(state), -1).flatten().softmax(0) @ table.flatten(0, 1)
            ),
            "The state has no influence: rows that fit the symbol get the same score, whatever the state.",
        ),
        Misconception(
            "the state alone",
            lambda state, symbol, table, sharp: (
                (sharp * state)[:, None].expand(-1, len(symbol)).flatten().softmax(0) @ table.flatten(0, 1)
            ),
            "The symbol has no influence: rows that fit the state get the same score, whatever was read.",
        ),
        Misconception(
            "rows in the other order",
            _symbol_first,
            "Your scores run through the states for each symbol; the table runs through the symbols for each state.",
        ),
        Misconception(
            "a product of scores",
            lambda state, symbol, table, sharp: (
                (sharp * state[:, None] * symbol).flatten().softmax(0) @ table.flatten(0, 1)
            ),
            "You multiplied the two matches. A score is a dot product of one query with one key, and there the matches "
            "add up: a row that fits by half has half of the score.",
        ),
        Misconception(
            "no softmax",
            lambda state, symbol, table, sharp: (state[:, None] * symbol).flatten() @ table.flatten(0, 1),
            "This looks the row up exactly, and is no head: there are no scores and no softmax.",
        ),
        Misconception(
            "two heads, multiplied",
            lambda state, symbol, table, sharp: (
                ((sharp * state).softmax(0)[:, None] * (sharp * symbol).softmax(0)).flatten() @ table.flatten(0, 1) * 2
            ),
            "The weights sum to more than 1.",
        ),
    ),
)

EXERCISES = (STEP,)
