"""Looking back a fixed number of places, by position and beyond the trained length, for the page `length`."""

import torch
import torch.nn.functional as F
from torch import nn

from attention_course import tasks
from attention_course.course.training import train
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import (
    ALiBiAttention,
    LearnedPositions,
    RotaryAttention,
    ShawAttention,
    SinusoidalPositions,
)

SETTINGS = {
    "n_symbols": 16,
    "distance": 4,
    "train_length": 32,
    "test_length": 256,
    "window": 8,
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "max_distance": 16,
    "batch": 32,
    "steps": 800,
    "test_examples": 200,
    "test_seed": 1000,
}
METHODS = ["none", "learned", "sinusoidal", "shaw", "rotary", "alibi", "sinusoidal, random start"]
PEAK_LRS = [0.001, 0.003, 0.01]
SEEDS = [0, 1, 2]
# What is trained besides: without a start symbol to count from, and looking back less or more far.
WITHOUT_START = ["none", "alibi"]
OTHER_DISTANCES = {"alibi": [1, 2]}
# Rates beyond the grid, for the method that fits badly at all of them.
HIGHER_LRS = {"alibi": [0.02, 0.03]}
LONGER_STEPS = {"alibi": 3200}  # which was still learning


class RandomStart(nn.Module):
    """In training, let each batch start at a random position of those that will be tested."""

    def __init__(self, positions: nn.Module, n_positions: int):
        super().__init__()
        self.positions, self.n_positions = positions, n_positions

    def forward(self, tokens, start=0):
        if self.training:
            start = int(torch.randint(self.n_positions - tokens.size(1) + 1, ()))
        return self.positions(tokens, start)


def run() -> dict:
    """Every method at every rate, more seeds at its best one; `{"settings": ..., "results": ...}`."""
    results = []
    for method in METHODS:
        results += _at_best_rate(method, start_symbol=True)
    for method in WITHOUT_START:
        results += _at_best_rate(method, start_symbol=False)
        rate = results[-1]["peak_lr"]
        for distance in OTHER_DISTANCES.get(method, []):
            results += [_train_and_test(method, rate, seed, distance, start_symbol=False) for seed in SEEDS]
        for higher in HIGHER_LRS.get(method, []):
            results += [_train_and_test(method, higher, seed, SETTINGS["distance"], False) for seed in SEEDS]
        if method in LONGER_STEPS:
            distance, steps = SETTINGS["distance"], LONGER_STEPS[method]
            results += [_train_and_test(method, rate, seed, distance, False, steps) for seed in SEEDS]
    settings = SETTINGS | {"longer_steps": LONGER_STEPS, "peak_lrs": PEAK_LRS, "seeds": SEEDS}
    return {"settings": settings, "results": results}


def _at_best_rate(method: str, start_symbol: bool) -> list[dict]:
    """One seed at every rate, then the others at the rate chosen by what training knows: the trained length."""
    distance = SETTINGS["distance"]
    first = [_train_and_test(method, rate, SEEDS[0], distance, start_symbol) for rate in PEAK_LRS]
    best = min(first, key=lambda result: result["loss"])["peak_lr"]
    return first + [_train_and_test(method, best, seed, distance, start_symbol) for seed in SEEDS[1:]]


def _train_and_test(
    method: str, peak_lr: float, seed: int, distance: int, start_symbol: bool, steps: int | None = None
) -> dict:
    torch.manual_seed(seed)
    generator, steps = torch.Generator().manual_seed(seed), steps or SETTINGS["steps"]
    model = make_model(method)

    def make(n_examples, length, generator):
        return tasks.looking_back(
            n_examples, length, SETTINGS["n_symbols"], distance, generator, start_symbol=start_symbol
        )

    def next_batch():
        return make(SETTINGS["batch"], SETTINGS["train_length"], generator)

    train(model, next_batch, lookback_loss, steps=steps, peak_lr=peak_lr, every=steps)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    result = {"method": method, "start_symbol": start_symbol, "distance": distance, "peak_lr": peak_lr, "seed": seed}
    result |= {"steps": steps, "parameters": parameters} | score(model, make)
    print(*result.values(), flush=True)
    return result


def make_model(method: str) -> CausalLanguageModel:
    """The model of a method, untrained."""
    width, longest = SETTINGS["d_model"], SETTINGS["test_length"]
    d_head = width // SETTINGS["n_heads"]
    mechanism = {
        "none": lambda: {},
        "learned": lambda: {"positions": LearnedPositions(longest, width)},
        "sinusoidal": lambda: {"positions": SinusoidalPositions(width)},
        "sinusoidal, random start": lambda: {"positions": RandomStart(SinusoidalPositions(width), longest)},
        "shaw": lambda: {"attention": ShawAttention(d_head, SETTINGS["max_distance"])},
        "rotary": lambda: {"attention": RotaryAttention()},
        "alibi": lambda: {"attention": ALiBiAttention()},
    }[method]()
    return CausalLanguageModel(SETTINGS["n_symbols"] + 1, width, SETTINGS["n_heads"], SETTINGS["n_layers"], **mechanism)


def lookback_loss(model, lookbacks: tasks.Lookbacks) -> torch.Tensor:
    """Mean cross-entropy of the places that have an answer."""
    logits, _ = model(lookbacks.symbols)
    return F.cross_entropy(logits.flatten(0, 1), lookbacks.target.flatten())


@torch.no_grad()
def score(model, make, mask=None) -> dict:
    """The loss on unseen sequences of the trained length, and the accuracy in each window of positions of long ones."""
    generator = torch.Generator().manual_seed(SETTINGS["test_seed"])
    loss = lookback_loss(model, make(SETTINGS["test_examples"], SETTINGS["train_length"], generator))
    lookbacks = make(SETTINGS["test_examples"], SETTINGS["test_length"], generator)
    right = asked = 0
    for symbols, target in zip(lookbacks.symbols.split(50), lookbacks.target.split(50), strict=True):
        logits, _ = model(symbols, mask)
        right = right + (logits.argmax(-1) == target).sum(0)
        asked = asked + (target != tasks.NOTHING).sum(0)
    # Causal attention: a position's answer does not depend on what follows, so one long test holds all shorter ones.
    right, asked = (count.unflatten(0, (-1, SETTINGS["window"])).sum(1) for count in (right, asked))
    return {"loss": round(loss.item(), 5), "accuracy": [round(share, 4) for share in (right / asked).tolist()]}
