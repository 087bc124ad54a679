"""Exercises of the page "What does a beam find?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- one step of beam search ------------------------------------------------------------------------


def beam_step(scores, log_probs):
    best = (scores[:, None] + log_probs).flatten().topk(len(scores)).indices
    return torch.stack([best // log_probs.size(1), best % log_probs.size(1)], dim=1)


def _beam_inputs(size, generator):
    width = size - 1
    log_probs = (2 * normal(generator, width, size + 3)).log_softmax(-1)
    return -1.5 * torch.rand(width, generator=generator), log_probs


def _pairs(totals, width):
    best = totals.flatten().topk(width).indices
    return torch.stack([best // totals.size(1), best % totals.size(1)], dim=1)


BEAM = Exercise(
    "search.beam_step",
    beam_step,
    _beam_inputs,
    (
        Misconception(
            "one child each",
            lambda scores, log_probs: torch.stack([torch.arange(len(scores)), log_probs.argmax(-1)], dim=1),
            "Every beginning kept its own best continuation: that is greedy decoding done several times. They "
            "compete: two may come from one beginning, and none from another.",
        ),
        Misconception(
            "forgets the past",
            lambda scores, log_probs: _pairs(log_probs, len(scores)),
            "You compared the last symbols alone. A beginning that was unlikely so far stays so.",
        ),
        Misconception(
            "multiplies logarithms",
            lambda scores, log_probs: _pairs(scores[:, None] * log_probs, len(scores)),
            "Probabilities are multiplied, so their logarithms are added.",
        ),
        Misconception(
            "symbol and beginning swapped",
            lambda scores, log_probs: beam_step(scores, log_probs).flip(1),
            "First the beginning, then the symbol.",
        ),
        Misconception(
            "divides by the width",
            lambda scores, log_probs: torch.stack(
                [
                    (best := (scores[:, None] + log_probs).flatten().topk(len(scores)).indices) // len(scores),
                    best % len(scores),
                ],
                dim=1,
            ),
            "Flattening laid the rows end to end, and a row is as long as the vocabulary: divide by that.",
        ),
        Misconception(
            "least likely",
            lambda scores, log_probs: _pairs(-(scores[:, None] + log_probs), len(scores)),
            "You kept the least likely ones. Logarithms of probabilities are negative; the likeliest is nearest to 0.",
        ),
    ),
)


# --- scores of long and short sentences ---------------------------------------------------------------


def penalised(scores, lengths, alpha):
    return scores / ((5 + lengths) / 6) ** alpha


def _penalised_inputs(size, generator):
    lengths = torch.randperm(2 * size, generator=generator)[:size] + 1
    return -0.5 - 6 * torch.rand(size, generator=generator), lengths, integer(3, 9, generator) / 10


def _multiplied(scores, lengths, alpha):
    return scores * ((5 + lengths) / 6) ** alpha


PENALISED = Exercise(
    "search.penalised",
    penalised,
    _penalised_inputs,
    (
        Misconception(
            "no penalty",
            lambda scores, lengths, alpha: scores,
            "These are the scores as they came: the lengths were never used.",
        ),
        Misconception(
            "divided by the length",
            lambda scores, lengths, alpha: scores / lengths,
            "You divided by the length itself, which is another penalty: it has neither a 5 nor an alpha.",
        ),
        Misconception(
            "alpha as a factor",
            lambda scores, lengths, alpha: scores / (alpha * (5 + lengths) / 6),
            "Alpha is the exponent. At alpha 0 the penalty is 1 for every length, and the scores stay as they are.",
        ),
        Misconception(
            "alpha forgotten",
            lambda scores, lengths, alpha: scores / ((5 + lengths) / 6),
            "This is the penalty at alpha 1, whatever alpha is.",
        ),
        Misconception(
            "not for one word",
            lambda scores, lengths, alpha: scores / (5 + lengths) ** alpha,
            "The 6 is missing: a sentence of one symbol is to keep its score.",
        ),
        Misconception(
            "the best alone",
            lambda scores, lengths, alpha: penalised(scores, lengths, alpha).max(),
            "This is the score of the best sentence. Asked are the scores of all.",
        ),
    ),
    given=_multiplied,
)


EXERCISES = (BEAM, PENALISED)
