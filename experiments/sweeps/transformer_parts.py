"""What a stack of Transformer blocks can still do without one of its parts: for the lesson on the Transformer."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, tasks
from attention_course.course import training
from attention_course.positions import SinusoidalPositions

COMMON = {"n_heads": 4, "length": 8, "batch": 32, "test_examples": 500, "test_seed": 1000}
EXPERIMENTS = {
    "code book, 2 blocks": {"task": "code book", "n_symbols": 26, "n_blocks": 2, "steps": 500},
    "sorting, 2 blocks": {"task": "sorting", "n_symbols": 16, "n_blocks": 2, "steps": 300},
    "sorting, 8 blocks": {"task": "sorting", "n_symbols": 16, "n_blocks": 8, "steps": 300},
}
# The rest is made wider where a part with many parameters is missing, so that every model has about as many: but once,
# to see what that does.
WIDTHS = {
    None: {"d_model": 32, "d_hidden": 128},
    "attention": {"d_model": 32, "d_hidden": 192},
    "feed-forward": {"d_model": 56, "d_hidden": 0},
    "feed-forward, no wider": {"d_model": 32, "d_hidden": 0},
    "residual": {"d_model": 32, "d_hidden": 128},
    "norm": {"d_model": 32, "d_hidden": 128},
}
PEAK_LRS = [0.001, 0.003, 0.01, 0.03]
SEEDS = [0, 1, 2]
# What failed, once more with a multiple of the steps.
PATIENCE = [
    {"experiment": "code book, 2 blocks", "without": "feed-forward, no wider", "times": 3, "peak_lr": 0.01},
    {"experiment": "code book, 2 blocks", "without": "residual", "times": 4, "peak_lr": 0.003},
    {"experiment": "code book, 2 blocks", "without": "attention", "times": 4, "peak_lr": 0.01},
    {"experiment": "sorting, 8 blocks", "without": "residual", "times": 4, "peak_lr": 0.001},
    {"experiment": "sorting, 8 blocks", "without": "residual", "times": 4, "peak_lr": 0.0003},
    {"experiment": "sorting, 8 blocks", "without": "residual", "times": 4, "peak_lr": 0.0001},
]


class FeedForward(nn.Module):
    """The lesson's."""

    def __init__(self, d_model: int, d_hidden: int):
        super().__init__()
        self.expand = nn.Linear(d_model, d_hidden)
        self.contract = nn.Linear(d_hidden, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.contract(F.gelu(self.expand(tokens)))


class Block(nn.Module):
    """The lesson's, from which one part may be missing."""

    def __init__(self, d_model: int, n_heads: int, d_hidden: int, without: str | None):
        super().__init__()
        norm = nn.Identity if without == "norm" else nn.LayerNorm
        self.attention_norm, self.feed_forward_norm = norm(d_model), norm(d_model)
        self.attention = None if without == "attention" else MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_hidden) if d_hidden else None
        self.residual = without != "residual"

    def forward(self, tokens: Tensor) -> Tensor:
        if self.attention is not None:
            tokens = self._add(tokens, self.attention(self.attention_norm(tokens))[0])
        if self.feed_forward is not None:
            tokens = self._add(tokens, self.feed_forward(self.feed_forward_norm(tokens)))
        return tokens

    def _add(self, tokens: Tensor, update: Tensor) -> Tensor:
        return tokens + update if self.residual else update


class Stack(nn.Module):
    """The lesson's model, from whose blocks one part may be missing."""

    def __init__(self, n_symbols: int, n_blocks: int, without: str | None, n_heads: int = 4):
        super().__init__()
        d_model, d_hidden = WIDTHS[without].values()
        self.embedding = nn.Embedding(n_symbols, d_model)
        self.positions = SinusoidalPositions(d_model)
        self.blocks = nn.Sequential(*(Block(d_model, n_heads, d_hidden, without) for _ in range(n_blocks)))
        self.norm = nn.Identity() if without == "norm" else nn.LayerNorm(d_model)
        self.logits = nn.Linear(d_model, n_symbols)

    def forward(self, symbols: Tensor) -> Tensor:
        return self.logits(self.norm(self.blocks(self.positions(self.embedding(symbols)))))


def code_book(n_examples: int, length: int, n_symbols: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random letters in a ring; the target is what a fixed random book says of each letter and the one before it."""
    book = torch.randint(n_symbols, (n_symbols, n_symbols), generator=torch.Generator().manual_seed(7))
    source = torch.randint(n_symbols, (n_examples, length), generator=generator)
    return source, book[source.roll(1, dims=1), source]


def sorting(n_examples: int, length: int, n_symbols: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random numbers; the target is the source in ascending order."""
    pairs = tasks.sorting(n_examples, length, n_symbols, generator)
    return pairs.source, pairs.target


TASKS = {"sorting": sorting, "code book": code_book}


def run() -> dict:
    """Every model at every rate, and at its best rate with more seeds; then norms at the largest rate, and patience."""
    results = []
    for experiment, changes in EXPERIMENTS.items():
        settings = COMMON | changes
        for without in WIDTHS:
            first = [_train_and_test(settings, without, rate, SEEDS[0]) for rate in PEAK_LRS]
            best = min(first, key=lambda run: math.inf if run["loss"] is None else run["loss"])
            more = [_train_and_test(settings, without, best["peak_lr"], seed) for seed in SEEDS[1:]]
            results += [{"experiment": experiment, "without": without} | run for run in first + more]
            print(experiment, without, [(run["peak_lr"], run["accuracy"]) for run in first + more], flush=True)
    return {
        "settings": {
            "common": COMMON,
            "experiments": EXPERIMENTS,
            "widths": [{"without": without} | widths for without, widths in WIDTHS.items()],
            "peak_lrs": PEAK_LRS,
            "seeds": SEEDS,
            "patience": PATIENCE,
        },
        "results": results,
        "largest_rate": _at_the_largest_rate(),
        "patience": _with_patience(),
    }


def _at_the_largest_rate() -> list[dict]:
    """With and without norms, every seed: one seed alone would call a model lost that learns from another."""
    return [
        {"experiment": experiment, "without": without} | _train_and_test(COMMON | changes, without, PEAK_LRS[-1], seed)
        for experiment, changes in EXPERIMENTS.items()
        for without in (None, "norm")
        for seed in SEEDS
    ]


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
    model = Stack(settings["n_symbols"], settings["n_blocks"], without, settings["n_heads"])
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
