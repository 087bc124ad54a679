"""Where the weights of an anomaly detector point, seed by seed, and what stands in for what is taken away."""

import torch
import torch.nn.functional as F
from torch import nn

from attention_course.classifiers import Classifier
from attention_course.course import training
from attention_course.positions import SinusoidalPositions
from attention_course.tasks.anomalies import anomalous_series

SETTINGS = {
    "patch": 8,
    "d_model": 32,
    "n_heads": 4,
    "batch": 64,
    "steps": 300,
    "peak_lrs": [0.005, 0.01, 0.02, 0.04, 0.08, 0.16],
    "test_series": 2000,
    "test_seed": 1,
}
# The number of blocks, the pooling, and whether the tokens of a block read each other.
MODELS = {
    "mean": (0, "mean", True),
    "no block": (0, "attention", True),
    "block": (1, "attention", True),
    "block, no reading": (1, "attention", False),
}
SEEDS = list(range(10))
TRAINING_SEED = 100  # and the model's seed: of the series that it is trained on
N_TOKENS = 16


class Alone(nn.Module):
    """An encoder whose tokens may each read themselves only."""

    def __init__(self, encoder: nn.Module):
        super().__init__()
        self.encoder = encoder

    def forward(self, tokens, mask=None, *, need_weights=False):
        itself = torch.eye(tokens.size(1), dtype=torch.bool)
        return self.encoder(tokens, itself if mask is None else itself & mask, need_weights=need_weights)


def run() -> dict:
    """Train every model with every seed, each at its best rate; `{"settings": ..., "results": ...}`."""
    test = anomalous_series(SETTINGS["test_series"], torch.Generator().manual_seed(SETTINGS["test_seed"]))
    results = []
    for name, plan in MODELS.items():
        tried = []
        for rate in SETTINGS["peak_lrs"]:
            models = [{"model": name, "peak_lr": rate, "seed": seed} for seed in SEEDS]
            tried.append([model | measure(train(*plan, rate, model["seed"]), test) for model in models])
            print(name, rate, [model["accuracy"] for model in tried[-1]], flush=True)
        results += max(tried, key=lambda models: sum(model["accuracy"] for model in models))
    return {"settings": SETTINGS, "results": results}


def train(n_layers: int, pooling: str, reads: bool, peak_lr: float, seed: int) -> Classifier:
    """A detector, trained on series that are drawn as it goes."""
    torch.manual_seed(seed)
    width = SETTINGS["d_model"]
    embed = nn.Sequential(
        nn.Unflatten(1, (N_TOKENS, SETTINGS["patch"])),
        nn.Linear(SETTINGS["patch"], width),
        nn.GELU(),
        nn.Linear(width, width),
    )
    positions = SinusoidalPositions(width) if n_layers else None
    model = Classifier(embed, 2, width, SETTINGS["n_heads"], n_layers, pooling=pooling, positions=positions)
    if not reads:
        model.encoder = Alone(model.encoder)
    generator = torch.Generator().manual_seed(TRAINING_SEED + seed)
    training.train(
        model,
        lambda: anomalous_series(SETTINGS["batch"], generator),
        lambda model, batch: F.cross_entropy(model(batch.series)[0], batch.labels),
        steps=SETTINGS["steps"],
        peak_lr=peak_lr,
        every=SETTINGS["steps"],
    )
    return model


@torch.no_grad()
def measure(model, test) -> dict:
    """How often the model is right, where its weights point, what erasing finds, and how often it cries wolf."""
    found, normal = test[test.labels == 1], test[test.labels == 0]
    gold = gold_tokens(found)
    weights = model(found.series, need_weights=True)[1]
    before = logit(model, found.series)
    removed = torch.stack([before - logit(model, found.series, without(t, len(found))) for t in range(N_TOKENS)], 1)
    blanked = torch.stack([before - logit(model, blank(found.series, t)) for t in range(N_TOKENS)], 1)
    result = {
        "accuracy": (model(test.series)[0].argmax(1) == test.labels).float().mean().item(),
        "chance": gold.float().mean().item(),
        "share": share(weights.pooling, gold),
        "hits": hit_rate(weights.pooling, gold),
        "removed": hit_rate(removed, gold),
        "blanked": hit_rate(blanked, gold),
    }
    if weights.blocks:
        for name, pointer in followed(weights).items():
            result |= {f"{name}_share": share(pointer, gold), f"{name}_hits": hit_rate(pointer, gold)}
    substitutes = {
        "alarms": lambda token: logit(model, normal.series),
        "alarms_removed": lambda token: logit(model, normal.series, without(token, len(normal))),
        "alarms_blank": lambda token: logit(model, blank(normal.series, token)),
        "alarms_swapped": lambda token: logit(model, swapped(normal.series, token)),
    }
    for name, answer in substitutes.items():
        alarms = torch.stack([answer(token) > 0 for token in range(N_TOKENS)])
        result[name] = alarms.float().mean().item()
    return {name: round(number, 4) for name, number in result.items()}


def followed(weights) -> dict[str, torch.Tensor]:
    """The pooling's weights, handed on to the tokens that were read; and half of them kept: `(series, 16)` each."""
    read = weights.blocks[0].mean(1)  # (series, 16, 16), mean of the heads
    traced = (weights.pooling[:, None] @ read).squeeze(1)
    return {"traced": traced, "rollout": (traced + weights.pooling) / 2}


def gold_tokens(series) -> torch.Tensor:
    """The tokens that hold a step of the segment: boolean `(series, 16)`."""
    return series.gold.unflatten(1, (N_TOKENS, SETTINGS["patch"])).any(-1)


def share(pointer, gold) -> float:
    """Of the pointer's weight on gold tokens."""
    return (pointer * gold).sum(1).mean().item()


def hit_rate(pointer, gold) -> float:
    """How often the largest of the pointer's weights lies on a gold token."""
    return gold.gather(1, pointer.argmax(1, keepdim=True)).float().mean().item()


def logit(model, series, mask=None) -> torch.Tensor:
    """How much speaks for an anomaly: `(series,)`."""
    logits = model(series, mask)[0]
    return logits[:, 1] - logits[:, 0]


def without(token: int, n_series: int) -> torch.Tensor:
    """The mask that hides a token."""
    mask = torch.ones(n_series, N_TOKENS, dtype=torch.bool)
    mask[:, token] = False
    return mask


def blank(series, token: int) -> torch.Tensor:
    """The series with zeros in place of a token's steps."""
    return _replaced(series, token, 0.0)


def swapped(series, token: int) -> torch.Tensor:
    """The series with the steps that the next series of the batch has there."""
    steps = slice(token * SETTINGS["patch"], (token + 1) * SETTINGS["patch"])
    return _replaced(series, token, series.roll(1, 0)[:, steps])


def _replaced(series, token: int, values) -> torch.Tensor:
    series = series.clone()
    series[:, token * SETTINGS["patch"] : (token + 1) * SETTINGS["patch"]] = values
    return series
