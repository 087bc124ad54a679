"""Random letters that come twice: what a model of three blocks and a recurrent network make of the second copy."""

import math
from concurrent.futures import ProcessPoolExecutor

import ladder as sweep
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.course import training

SETTINGS = {"n_symbols": 26, "copied": 32, "batch": 32, "test_texts": 500, "test_seed": 1000}
# Model and steps: the recurrent network has as many parameters, and four times as many steps as well.
MODELS = [("three blocks", 400), ("GRU, three blocks", 400), ("GRU, three blocks", 1600)]
PEAK_LRS = [0.003, 0.01, 0.03, 0.1]
TUNING_SEED = 100  # the rate is chosen with it, and measured with others
SEEDS = [0, 1, 2, 3, 4]


def run() -> dict:
    """Every model at every rate, and at its best rate with five seeds of its own."""
    with ProcessPoolExecutor(2) as pool:
        jobs = [(*model, rate, TUNING_SEED) for model in MODELS for rate in PEAK_LRS]
        tried = [row for row, _ in pool.map(measure, jobs)]
        rates = {model: best_rate(tried, *model) for model in MODELS}
        measured = list(pool.map(measure, [(*model, rates[model], seed) for model in MODELS for seed in SEEDS]))
    return {
        "settings": SETTINGS | {"peak_lrs": PEAK_LRS, "seeds": SEEDS},
        "tried": tried,
        "results": [row for row, _ in measured],
        "by_place": [
            {"model": row["model"], "steps": row["steps"], "bits": bits}
            for row, bits in measured
            if row["seed"] == SEEDS[0]
        ],
    }


def best_rate(tried: list[dict], name: str, steps: int) -> float:
    """The rate at which a letter of the second copy costs least."""
    of = [row for row in tried if (row["model"], row["steps"]) == (name, steps)]
    return min(of, key=lambda row: row["second"])["peak_lr"]


def draw(n_texts: int, generator: torch.Generator) -> Tensor:
    """Random letters, and the same again: `(n_texts, 2 * copied)`."""
    letters = torch.randint(SETTINGS["n_symbols"], (n_texts, SETTINGS["copied"]), generator=generator)
    return torch.cat([letters, letters], 1)


def measure(job: tuple[str, int, float, int]) -> tuple[dict, list[float]]:
    """Train one model on one thread: bits for a letter of either copy, on new texts, and at each place from 2 on."""
    name, steps, peak_lr, seed = job
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = sweep.MODELS[name](SETTINGS["n_symbols"])
    training.train(
        model,
        lambda: draw(SETTINGS["batch"], generator),
        lambda model, texts: costs(model, texts).mean(),
        steps=steps,
        peak_lr=peak_lr,
        every=steps,
    )
    unread = draw(SETTINGS["test_texts"], torch.Generator().manual_seed(SETTINGS["test_seed"]))
    with torch.no_grad():
        bits = costs(model.eval(), unread).mean(0) / math.log(2)
    second = SETTINGS["copied"] - 1
    row = {"model": name, "steps": steps, "peak_lr": peak_lr, "seed": seed}
    row |= {"first": round(bits[:second].mean().item(), 4), "second": round(bits[second:].mean().item(), 4)}
    print(row, flush=True)
    return row, [round(x, 3) for x in bits.tolist()]


def costs(model: nn.Module, texts: Tensor) -> Tensor:
    """The cross-entropy of every letter but the first, in nats: `(n_texts, 2 * copied - 1)`."""
    return F.cross_entropy(model(texts[:, :-1]).transpose(1, 2), texts[:, 1:], reduction="none")
