"""Sizes, dropout and optimisers for one classifier of digits, each at the best of a few rates."""

import time
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from attention_course import tasks
from attention_course.classifiers import Classifier
from attention_course.course import measure
from attention_course.embeddings import ImagePatches
from attention_course.positions import LearnedPositions

SETTINGS = {"batch": 64, "steps": 250, "validation": 300, "repeats": 50}
BASE = {"width": 32, "heads": 4, "layers": 2, "dropout": 0.0, "optimiser": "AdamW"}
# Each row changes one thing about the base.
CHANGES = [
    {},
    *({"width": width} for width in (16, 64, 128, 256)),
    *({"heads": heads} for heads in (1, 2, 8, 16)),
    *({"layers": layers} for layers in (1, 3, 4)),
    *({"dropout": dropout} for dropout in (0.1, 0.3)),
    *({"optimiser": optimiser} for optimiser in ("SGD", "RMSprop", "Adam")),
]
RATES, RATES_OF_WIDE, RATES_OF_SGD = [0.003, 0.01, 0.03], [0.0003, 0.001, 0.003], [0.1, 0.3, 1.0]
WIDE = 128  # from here on
SEEDS = [0, 1, 2]
OPTIMISERS = {
    "SGD": partial(torch.optim.SGD, momentum=0.9),
    "RMSprop": torch.optim.RMSprop,
    "Adam": torch.optim.Adam,
    "AdamW": torch.optim.AdamW,
}


def run() -> dict:
    """Train each configuration at each rate with the first seed, and at the best rate with the others; time it last."""
    start, results = time.process_time(), []
    for change in CHANGES:
        choice = BASE | change
        rates = rates_of(choice)
        tried = [_train_and_test(choice, rate, SEEDS[0]) for rate in rates]
        best = max(range(len(rates)), key=lambda number: tried[number]["validation"])
        runs = [tried[best], *(_train_and_test(choice, rates[best], seed) for seed in SEEDS[1:])]
        result = choice | {"rate": rates[best], "rates": rates, "tried": [one["validation"] for one in tried]}
        result |= {"parameters": sum(parameter.numel() for parameter in _model(choice, 0).parameters())}
        results.append(result | {name: [one[name] for one in runs] for name in ("accuracy", "validation", "loss")})
        print(results[-1], flush=True)
    seconds = round(time.process_time() - start)
    _add_latencies(results)  # all in turns, when nothing else is to be done
    return {"settings": SETTINGS | {"seeds": SEEDS, "base": BASE}, "cpu_seconds": seconds, "results": results}


def rates_of(choice: dict) -> list[float]:
    """The rates that a configuration is tried at."""
    if choice["optimiser"] == "SGD":
        return RATES_OF_SGD
    return RATES_OF_WIDE if choice["width"] >= WIDE else RATES


def _model(choice: dict, seed: int) -> Classifier:
    torch.manual_seed(seed)
    width, heads, layers = choice["width"], choice["heads"], choice["layers"]
    positions = LearnedPositions(16, width)
    return Classifier(ImagePatches(2, width), 10, width, heads, layers, positions=positions, dropout=choice["dropout"])


def _train_and_test(choice: dict, rate: float, seed: int) -> dict:
    """Train at a rate that falls in a line to zero; accuracy on test digits, and on those that choose the rate."""
    train, test = tasks.handwritten_digits()
    held, train = train[: SETTINGS["validation"]], train[SETTINGS["validation"] :]
    model, generator = _model(choice, seed), torch.Generator().manual_seed(seed)
    optimizer = OPTIMISERS[choice["optimiser"]](model.parameters(), lr=rate)
    steps, losses = SETTINGS["steps"], []
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(steps):
        digits = train[torch.randint(len(train), (SETTINGS["batch"],), generator=generator)]
        loss = F.cross_entropy(model(digits.images)[0], digits.labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    model.eval()
    scores = {"accuracy": _share_right(model, test), "validation": _share_right(model, held)}
    return scores | {"loss": round(sum(losses[-20:]) / len(losses[-20:]), 4)}


@torch.no_grad()
def _share_right(model: nn.Module, digits) -> float:
    return round((model(digits.images)[0].argmax(1) == digits.labels).float().mean().item(), 4)


@torch.no_grad()
def _add_latencies(results: list[dict]) -> None:
    """The median time for one image, of all models in turns."""
    image = tasks.handwritten_digits()[1].images[:1]
    models = [_model(result, 0).eval() for result in results]
    calls = {str(number): partial(model, image) for number, model in enumerate(models)}
    timings = measure.time_calls(calls, repeats=SETTINGS["repeats"], warmup=5)
    for result, timing in zip(results, timings.values(), strict=True):
        result["latency_ms"] = round(1000 * timing.median, 3)
