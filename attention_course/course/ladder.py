"""The thread of the first reading: one text, one model that grows by a part a lesson, and its bits for a letter.

The text is Python's help pages. A lesson trains the model as far as it has been built, and compares its bits for a
letter of unread text with `recorded.load("ladder")`: every step with ten seeds, beside its rivals.
"""

import math
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import tasks
from attention_course.course import recorded

WIDTH, STEPS = 64, 400


@dataclass(frozen=True)
class Step:
    """A step of the ladder.

    Attributes:
        lesson: The file of the lesson that adds the part.
        part: What the model has by then, in a few words.
        window: How many letters it reads at once.
        batch: How many windows of the text it reads before it changes.
    """

    lesson: str
    part: str
    window: int
    batch: int


# The first reading, in its order; scaled_dot_product adds a formula, and no step.
LESSONS = (
    "primer",
    "bottleneck",
    "scaled_dot_product",
    "self_attention",
    "multi_head",
    "masking",
    "positions",
    "transformer",
    "language_model",
)
# Before masks a model predicts behind the last letter only, so that nothing has to be hidden; then behind each.
LADDER = {
    "letter": Step("primer", "the letter before", 1, 512),
    "average": Step("bottleneck", "+ the average of 16", 16, 512),
    "one head": Step("self_attention", "one head instead", 16, 512),
    "four heads": Step("multi_head", "four heads", 16, 512),
    "mask": Step("masking", "+ mask, ¼ the text", 64, 32),
    "positions": Step("positions", "+ positions", 64, 32),
    "one block": Step("transformer", "a block", 64, 32),
    "two blocks": Step("transformer", "two blocks", 64, 32),
    "three blocks": Step("language_model", "3 blocks, 128 letters", 128, 16),
}


def train(
    model: nn.Module,
    *,
    window: int,
    batch: int,
    peak_lr: float,
    seed: int = 0,
    steps: int = STEPS,
    every: int = STEPS,
) -> list[dict[str, float]]:
    """Train a model of letters on the help pages, and score it on what it has not read.

    Args:
        model: From letters `(n, window)` to logits: `(n, vocab_size)` where only the last letter asks, else
            `(n, window, vocab_size)`. Trained in place, on its own device.
        window: How many letters it reads at once.
        batch: How many windows a step reads.
        peak_lr: As for `training.train`.
        seed: Of the choice of windows. The model's own numbers are the caller's.
        steps: How many updates.
        every: Steps between two records.

    Returns:
        The records of `training.train`, with `bits`, as `unread_bits`, and `seconds` of training so far.
    """
    from attention_course.course import training  # late: the chart is drawn where no progress bar is installed

    text = tasks.python_help()
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(seed)
    start, scoring = time.perf_counter(), 0.0

    def score(model):
        nonlocal scoring
        began = time.perf_counter()
        bits = unread_bits(model, text.validation, window)
        scoring += time.perf_counter() - began
        return {"bits": bits, "seconds": time.perf_counter() - start - scoring}

    def next_batch():
        return tasks.windows(text.train, batch, window + 1, generator).to(device)

    return training.train(model, next_batch, _loss, steps=steps, peak_lr=peak_lr, evaluate=score, every=every)


def train_step(name: str, model: nn.Module, seed: int = 0) -> float:
    """Train a model as the step of that name was trained for the record, at the rate that was best there.

    Args:
        name: One of `LADDER`.
        model: As for `train`.
        seed: As for `train`.

    Returns:
        Its bits for a letter of unread text.

    Raises:
        ValueError: If there is no such step.
    """
    if name not in LADDER:
        raise ValueError(f"name must be one of {list(LADDER)}, got {name!r}")
    step = LADDER[name]
    peak_lr = recorded.load("ladder")["best_rates"][name]
    return train(model, window=step.window, batch=step.batch, peak_lr=peak_lr, seed=seed)[-1]["bits"]


@torch.no_grad()
def write(name: str, model: nn.Module, start: str = "The ", n_letters: int = 60, seed: int = 0) -> str:
    """Let a model of the help pages write: each letter is drawn from its probabilities.

    Args:
        name: One of `LADDER`: the model reads as many letters at once as that step, spaces where there are fewer.
        model: As for `train`.
        start: What it goes on from.
        n_letters: How many letters it adds.
        seed: Of the draws.

    Returns:
        The start and what was added to it, in one line: `¶` marks where a line ends.
    """
    text = tasks.python_help()
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(seed)
    window = LADDER[name].window
    symbols = text.encode(" " * window + start).tolist()
    for _ in range(n_letters):
        logits = model(torch.tensor([symbols[-window:]], device=device))
        probabilities = logits.reshape(-1, logits.size(-1))[-1].softmax(-1).cpu()
        symbols.append(torch.multinomial(probabilities, 1, generator=generator).item())
    return text.decode(torch.tensor(symbols[window:])).replace("\n", "¶")


@torch.no_grad()
def unread_bits(model: nn.Module, symbols: Tensor, window: int) -> float:
    """Mean bits a letter, for letters that have as many before them as a window has, or at least half as many.

    Args:
        model: As for `train`.
        symbols: The text, `(n_symbols,)`.
        window: How many letters it reads at once. Where every letter asks, windows overlap by half, and the second
            half of each counts.
    """
    device = next(model.parameters()).device
    asks_last = model(symbols[None, :window].to(device)).dim() == 2
    half = window if asks_last else max(1, window // 2)
    losses = []
    for pieces in symbols.unfold(0, window + 1, 1 if asks_last else half).split(16384 // window):
        logits, targets = _asked(model, pieces.to(device))
        losses.append(F.cross_entropy(logits[:, -half:].flatten(0, 1), targets[:, -half:].flatten(), reduction="none"))
    return torch.cat(losses).mean().item() / math.log(2)


def _asked(model: nn.Module, pieces: Tensor) -> tuple[Tensor, Tensor]:
    """What a model says of pieces `(n, window + 1)`, `(n, asked, vocab_size)`, and the letters it was asked for."""
    logits = model(pieces[:, :-1])
    return (logits[:, None], pieces[:, -1:]) if logits.dim() == 2 else (logits, pieces[:, 1:])


def _loss(model: nn.Module, pieces: Tensor) -> Tensor:
    logits, targets = _asked(model, pieces)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
