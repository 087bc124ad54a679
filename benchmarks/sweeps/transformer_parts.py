"""What a stack of Transformer layers can still do without one of its parts: for the transformer chapter."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, tasks, training
from attention_course.positions import SinusoidalPositions
from attention_course.transformer import FeedForward

COMMON = {"d_model": 32, "n_heads": 4, "length": 8, "batch": 32, "test_examples": 500, "test_seed": 1000}
EXPERIMENTS = {
    "sorting, 2 blocks": {"task": "sorting", "n_symbols": 16, "n_layers": 2, "steps": 300},
    "table, 2 blocks": {"task": "table", "n_symbols": 32, "n_layers": 2, "steps": 500},
    "sorting, 8 blocks": {"task": "sorting", "n_symbols": 16, "n_layers": 8, "steps": 300},
}
WITHOUT = [None, "attention", "feed-forward", "residual", "layer norm"]
PEAK_LRS = [0.001, 0.003, 0.01, 0.03]
SEEDS = [0, 1, 2]
# What failed, once more with a multiple of the steps.
PATIENCE = [
    {"experiment": "table, 2 blocks", "without": "feed-forward", "times": 3, "peak_lr": 0.01},
    {"experiment": "table, 2 blocks", "without": "residual", "times": 4, "peak_lr": 0.003},
    {"experiment": "sorting, 8 blocks", "without": "residual", "times": 4, "peak_lr": 0.001},
    {"experiment": "sorting, 8 blocks", "without": "residual", "times": 4, "peak_lr": 0.0003},
]


class SelfAttention(MultiHeadAttention):
    """Returns the output alone."""

    def forward(self, tokens: Tensor) -> Tensor:
        return super().forward(tokens)[0]


class Layer(nn.Module):
    """One of the two layers of a block, with what stands around it."""

    def __init__(self, function: nn.Module, d_model: int, norm: bool, residual: bool):
        super().__init__()
        self.function, self.residual = function, residual
        self.norm = nn.LayerNorm(d_model) if norm else nn.Identity()

    def forward(self, tokens: Tensor) -> Tensor:
        update = self.function(self.norm(tokens))
        return tokens + update if self.residual else update


class Stack(nn.Module):
    """The model that the chapter defines: pre-norm blocks, from which one part may be missing everywhere."""

    def __init__(self, n_symbols: int, n_layers: int, without: str | None, d_model: int = 32, n_heads: int = 4):
        super().__init__()
        norm, residual = without != "layer norm", without != "residual"
        self.embedding = nn.Embedding(n_symbols, d_model)
        self.positions = SinusoidalPositions(d_model)
        self.layers = nn.Sequential()
        for _ in range(n_layers):
            if without != "attention":
                self.layers.append(Layer(SelfAttention(d_model, n_heads), d_model, norm, residual))
            if without != "feed-forward":
                self.layers.append(Layer(FeedForward(d_model), d_model, norm, residual))
        self.norm = nn.LayerNorm(d_model) if norm else nn.Identity()
        self.logits = nn.Linear(d_model, n_symbols)

    def forward(self, symbols: Tensor) -> Tensor:
        tokens = self.layers(self.positions(self.embedding(symbols)))
        return self.logits(self.norm(tokens))


def table(n_examples: int, length: int, n_symbols: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random symbols; the target is what a fixed random table says of a symbol and of the one before it."""
    answers = torch.randint(n_symbols, (n_symbols, n_symbols), generator=torch.Generator().manual_seed(7))
    source = torch.randint(n_symbols, (n_examples, length), generator=generator)
    return source, answers[source, source.roll(1, dims=1)]


def sorting(n_examples: int, length: int, n_symbols: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random numbers; the target is the source in ascending order."""
    pairs = tasks.sorting(n_examples, length, n_symbols, generator)
    return pairs.source, pairs.target


TASKS = {"sorting": sorting, "table": table}


def run() -> dict:
    """Every model at every rate, and at its best rate with more seeds; then some with more steps."""
    results = []
    for experiment, changes in EXPERIMENTS.items():
        settings = COMMON | changes
        for without in WITHOUT:
            first = [_train_and_test(settings, without, rate, SEEDS[0]) for rate in PEAK_LRS]
            best = min(first, key=lambda run: math.inf if run["loss"] is None else run["loss"])
            more = [_train_and_test(settings, without, best["peak_lr"], seed) for seed in SEEDS[1:]]
            results += [{"experiment": experiment, "without": without} | run for run in first + more]
            print(experiment, without, [(run["peak_lr"], run["accuracy"]) for run in first + more], flush=True)
    return {
        "settings": {
            "common": COMMON,
            "experiments": EXPERIMENTS,
            "peak_lrs": PEAK_LRS,
            "seeds": SEEDS,
            "patience": PATIENCE,
        },
        "results": results,
        "patience": _with_patience(),
    }


def _with_patience() -> list[dict]:
    results = []
    for longer in PATIENCE:
        settings = COMMON | EXPERIMENTS[longer["experiment"]]
        settings = settings | {"steps": longer["times"] * settings["steps"]}
        for seed in SEEDS:
            results.append(longer | _train_and_test(settings, longer["without"], longer["peak_lr"], seed))
            print(results[-1], flush=True)
    return results


def _train_and_test(settings: dict, without: str | None, peak_lr: float, seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Stack(settings["n_symbols"], settings["n_layers"], without, settings["d_model"], settings["n_heads"])
    make, sizes = TASKS[settings["task"]], (settings["length"], settings["n_symbols"])
    history = training.train(
        model,
        lambda: make(settings["batch"], *sizes, generator),
        loss_of,
        steps=settings["steps"],
        peak_lr=peak_lr,
    )
    source, target = make(settings["test_examples"], *sizes, torch.Generator().manual_seed(settings["test_seed"]))
    with torch.no_grad():
        accuracy = (model(source).argmax(-1) == target).float().mean().item()
    loss = history[-1]["loss"]  # over the last 100 steps
    return {
        "peak_lr": peak_lr,
        "seed": seed,
        "loss": round(loss, 4) if math.isfinite(loss) else None,
        "accuracy": round(accuracy, 4),
    }


def loss_of(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Mean cross-entropy in nats."""
    source, target = batch
    return F.cross_entropy(model(source).flatten(0, 1), target.flatten())
