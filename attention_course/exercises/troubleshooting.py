"""Exercises of the page "It does not learn: what now?"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- which sentences have gone bad? ------------------------------------------------------------------


def sick_sentences(output):
    return output.isnan().flatten(1).any(-1)


def _outputs(size, generator):
    output = normal(generator, 5, size, size + 1)
    output[0, -1, 0] = torch.nan  # one number
    output[3, 0, -1] = torch.nan
    output[1] = torch.nan  # all of them
    output[2, 0, 0], output[2, -1, -1] = torch.inf, -torch.inf  # whose sum is NaN
    order = torch.randperm(5, generator=generator)
    return (output[order],)


SICK = Exercise(
    "troubleshooting.sick_sentences",
    sick_sentences,
    _outputs,
    (
        Misconception(
            "all of it",
            lambda output: output.isnan().flatten(1).all(-1),
            "You ask whether all numbers of a sentence are NaN. One is enough.",
        ),
        Misconception(
            "compared with NaN",
            lambda output: (output == torch.nan).flatten(1).any(-1),
            "NaN is not equal to anything, itself included, so `== nan` is false everywhere. Use `isnan`.",
        ),
        Misconception(
            "infinity too",
            lambda output: ~output.isfinite().flatten(1).all(-1),
            "You count infinite numbers as NaN. They are worth a look of their own, but the question is about NaN.",
        ),
        Misconception(
            "over the batch",
            lambda output: output.isnan().any(0),
            "You went over the batch: whether any sentence has a NaN at a place. Keep the first dimension.",
        ),
        Misconception(
            "one dimension left",
            lambda output: output.isnan().any(-1),
            "That is one answer for each token. A sentence is sick if any of its tokens is.",
        ),
        Misconception(
            "the healthy ones",
            lambda output: ~output.isnan().flatten(1).any(-1),
            "These are the healthy sentences.",
        ),
    ),
)


# --- when to stop ------------------------------------------------------------------------------------


def stop_at(losses, patience):
    best, best_at = float("inf"), 0
    for step, loss in enumerate(losses.tolist()):
        if loss < best:
            best, best_at = loss, step
        elif step - best_at >= patience:
            break
    return torch.tensor(best_at)  # a tensor, so that a float is no index


def _curve_inputs(size, generator):
    """A curve that zigzags between its lowest losses: as long as patience lasts, and then longer; it ends in a rise.

    All but endless patience stops in the second zigzag. What comes later tells by how much others wait too long.
    """
    patience = integer(2, 2 + size // 2, generator)
    losses = (5 + torch.arange(integer(1, size, generator), 0, -1)).tolist()
    for low, waits in enumerate((patience - 1, patience, patience + 1, 0)):
        losses.append(4.0 - low)
        losses += [(5.0, 4.0 - low)[place % 2] for place in range(waits)]  # each second one is as low
    losses += [2.0 + rise for rise in range(patience)] + [0.0]
    noise = torch.rand((), generator=generator)  # one for all, so that what is equal remains so
    return torch.tensor(losses) + noise, len(losses) if size % 3 == 0 else patience


def _first_rise(losses, patience):
    for step in range(1, len(losses)):
        if losses[step] > losses[step - 1]:
            return step - 1
    return len(losses) - 1


def _rises_in_a_row(losses, patience):
    best_at, rises = 0, 0
    for step in range(1, len(losses)):
        rises = rises + 1 if losses[step] > losses[step - 1] else 0
        if losses[step] < losses[best_at]:
            best_at = step
        if rises >= patience:
            break
    return best_at


def _stopped_step(losses, patience):
    best_at = 0
    for step in range(1, len(losses)):
        if losses[step] < losses[best_at]:
            best_at = step
        elif step - best_at >= patience:
            return step
    return len(losses) - 1


EARLY_STOPPING = Exercise(
    "troubleshooting.early_stopping",
    stop_at,
    _curve_inputs,
    (
        Misconception(
            "lowest of all",
            lambda losses, patience: losses.argmin().item(),
            "This is the lowest loss of the whole curve. Early stopping does not see what comes after it stops.",
        ),
        Misconception(
            "stops at the first rise",
            _first_rise,
            "You stopped at the first rise. Held-out losses are noisy; patience says how many records to wait for "
            "a new lowest one.",
        ),
        Misconception(
            "one record too long",
            lambda losses, patience: stop_at(losses, patience + 1),
            "You waited for one record more than `patience`.",
        ),
        Misconception(
            "one record too short",
            lambda losses, patience: stop_at(losses, patience - 1),
            "You waited for one record less than `patience`.",
        ),
        Misconception(
            "returns where it stopped",
            _stopped_step,
            "This is where training stopped. The weights to keep are those of the lowest loss before it, patience "
            "records earlier.",
        ),
        Misconception(
            "counts rises in a row",
            _rises_in_a_row,
            "You counted rises from one record to the next. A loss that zigzags above its lowest value never rises "
            "often in a row: compare with the lowest so far.",
        ),
    ),
)


# --- a test of padding that cannot fail ----------------------------------------------------------------


def padding_moves(model, tokens, mask):
    noise = torch.roll(tokens, 1, 1) + 1
    other = torch.where(mask[:, :, None], tokens, noise)
    return (model(other, mask) - model(tokens, mask)).abs().max()


def _given(model, tokens, mask):
    noise = torch.roll(tokens, 1, 1) + 1
    other = torch.where(mask[:, :, None], noise, tokens)
    return (model(other, mask) - model(tokens, mask)).abs().max()


def _padded(size, generator):
    """A model that pools with every pad at a small weight, tokens, and a mask with pads in most rows."""
    n, batch = size + 2, 1 + size % 3
    tokens = normal(generator, batch, n, size)
    mask = torch.arange(n) < torch.tensor([[1], [n - 1], [n]])[:batch]
    vote = 0.1 + torch.rand((), generator=generator).item()

    def model(tokens, mask):
        weights = mask + vote * ~mask
        return (weights[:, :, None] * tokens).sum(1) / weights.sum(1, keepdim=True)

    return model, tokens, mask


PADDING = Exercise(
    "troubleshooting.padding_moves",
    padding_moves,
    _padded,
    (
        Misconception(
            "without the mask",
            lambda model, tokens, mask: (
                (
                    (model(torch.where(mask[:, :, None], tokens, torch.roll(tokens, 1, 1) + 1), torch.ones_like(mask)))
                    - model(tokens, torch.ones_like(mask))
                )
                .abs()
                .max()
            ),
            "You call the model without its mask. Then pads count in every model: hand the mask on, both times.",
        ),
        Misconception(
            "both changed",
            lambda model, tokens, mask: (model(torch.roll(tokens, 1, 1) + 1, mask) - model(tokens, mask)).abs().max(),
            "You changed the real tokens, too. Then logits move in a sound model: change the pads alone.",
        ),
        Misconception(
            "the mask turned",
            lambda model, tokens, mask: (
                (
                    model(torch.where(mask[:, :, None], tokens, torch.roll(tokens, 1, 1) + 1), ~mask)
                    - model(tokens, ~mask)
                )
                .abs()
                .max()
            ),
            "You turned the mask that the model gets. The mask is right: what stands in the wrong order is `where`.",
        ),
        Misconception(
            "moves added up",
            lambda model, tokens, mask: (
                (model(torch.where(mask[:, :, None], tokens, torch.roll(tokens, 1, 1) + 1), mask) - model(tokens, mask))
                .abs()
                .sum()
            ),
            "You added the moves up, so that the number grows with the batch. Return the largest.",
        ),
    ),
    given=_given,
)

EXERCISES = (SICK, EARLY_STOPPING, PADDING)
