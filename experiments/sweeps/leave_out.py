"""Two blocks without one of their parts, and the rates that learn with and without norms, on the help pages."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, tasks
from attention_course.course import ladder, training
from attention_course.course.ladder import WIDTH
from attention_course.positions import RotaryAttention

# From the middle outwards: the rate beyond the worse of the middle two is not tried.
PEAK_LRS = [0.003, 0.01, 0.03, 0.1]
TUNING_SEEDS = [100, 101]  # the second decides between two rates that are close
CLOSE = 0.03
SEEDS = [0, 1, 2, 3, 4]
SETTINGS = {"width": WIDTH, "n_heads": 4, "n_blocks": 2, "window": 64, "batch": 32, "steps": ladder.STEPS}
# What is changed in the two blocks. Wider ones and more of them have as many parameters.
CHANGES = {
    "nothing": {},
    "attention": {"without": "attention"},
    "feed-forward": {"without": "feed-forward"},
    "feed-forward, wider": {"without": "feed-forward", "d_model": 112},
    "feed-forward, more blocks": {"without": "feed-forward", "n_blocks": 6},
    "norms": {"without": "norms"},
    "residuals": {"without": "residuals"},
    "positions": {"without": "positions"},
}
# Short trainings that show which rates learn at all, scored on the first unread letters.
BRIEFLY = {
    "depths": [1, 2, 4, 8],
    "peak_lrs": [0.01, 0.02, 0.04, 0.08, 0.16],
    "steps": 80,
    "window": 32,
    "batch": 16,
    "unread": 20_000,
    "seeds": [0, 1],
}


class CausalSelfAttention(nn.Module):
    """Attention behind the mask, without its weights."""

    def __init__(self, d_model: int, positions: nn.Module | None):
        super().__init__()
        self.layer = MultiHeadAttention(d_model, SETTINGS["n_heads"], attention=positions)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.layer(tokens, causal=True)[0]


class Block(nn.Module):
    """The lesson's, from which one part may be missing."""

    def __init__(self, d_model: int, without: str | None):
        super().__init__()
        norm = nn.Identity if without == "norms" else nn.LayerNorm
        positions = None if without == "positions" else RotaryAttention()
        self.residuals = without != "residuals"
        self.layers = nn.ModuleList()
        if without != "attention":
            self.layers.append(nn.Sequential(norm(d_model), CausalSelfAttention(d_model, positions)))
        if without != "feed-forward":
            feed_forward = (nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))
            self.layers.append(nn.Sequential(norm(d_model), *feed_forward))

    def forward(self, tokens: Tensor) -> Tensor:
        for layer in self.layers:
            tokens = tokens + layer(tokens) if self.residuals else layer(tokens)
        return tokens


class Stack(nn.Module):
    """A model of the help pages' letters, from whose blocks one part may be missing."""

    def __init__(self, without: str | None = None, n_blocks: int = SETTINGS["n_blocks"], d_model: int = WIDTH):
        super().__init__()
        vocab_size = len(tasks.python_help().vocabulary)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.Sequential(*(Block(d_model, without) for _ in range(n_blocks)))
        self.norm = nn.Identity() if without == "norms" else nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size)

    def forward(self, letters: Tensor) -> Tensor:
        return self.lm_head(self.norm(self.blocks(self.embedding(letters))))


def measure(name: str, peak_lr: float, seed: int) -> dict:
    """Train two blocks without a part, at one rate with one seed."""
    torch.manual_seed(seed)
    model = Stack(**CHANGES[name])
    sizes = {size: SETTINGS[size] for size in ("window", "batch", "steps")}
    last = ladder.train(model, **sizes, peak_lr=peak_lr, seed=seed)[-1]
    result = {"model": name, "peak_lr": peak_lr, "seed": seed, "bits": _finite(last["bits"])}
    result |= {"parameters": _size(model), "seconds": round(last["seconds"], 1)}
    print(result, flush=True)
    return result


def choose_rate(name: str, measure: Callable[[str, float, int], dict] = measure) -> list[dict]:
    """Try rates with one seed, and the better two with another where they are close."""
    lowest, low, high, highest = PEAK_LRS
    tried = [measure(name, peak_lr, TUNING_SEEDS[0]) for peak_lr in (low, high)]
    tried.append(measure(name, lowest if _bits(tried[0]) < _bits(tried[1]) else highest, TUNING_SEEDS[0]))
    better = sorted(tried, key=_bits)[:2]
    if _bits(better[1]) - _bits(better[0]) < CLOSE:
        tried += [measure(name, row["peak_lr"], TUNING_SEEDS[1]) for row in better]
    return tried


def best_rate(tried: list[dict], name: str) -> float:
    """The rate with the fewest bits, among those that were tried most often, in their mean."""
    of = {}
    for row in tried:
        if row["model"] == name:
            of.setdefault(row["peak_lr"], []).append(_bits(row))
    most = max(len(found) for found in of.values())
    return min((rate for rate, found in of.items() if len(found) == most), key=lambda rate: sum(of[rate]))


def try_briefly(norms: bool, n_blocks: int, peak_lr: float, seed: int) -> dict:
    """Train blocks with or without norms for a few steps."""
    torch.manual_seed(seed)
    model, text = Stack(None if norms else "norms", n_blocks), tasks.python_help()
    generator = torch.Generator().manual_seed(seed)
    training.train(
        model,
        lambda: tasks.windows(text.train, BRIEFLY["batch"], BRIEFLY["window"] + 1, generator),
        lambda model, pieces: F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten()),
        steps=BRIEFLY["steps"],
        peak_lr=peak_lr,
    )
    bits = ladder.unread_bits(model, text.validation[: BRIEFLY["unread"]], BRIEFLY["window"])
    result = {"norms": norms, "n_blocks": n_blocks, "peak_lr": peak_lr, "seed": seed, "bits": _finite(bits)}
    print(result, flush=True)
    return result


def run() -> dict:
    """The rates that learn, by depth; then every part left out, each at its best rate with five seeds of its own."""
    briefly = [
        try_briefly(norms, n_blocks, peak_lr, seed)
        for n_blocks in BRIEFLY["depths"]
        for norms in (True, False)
        for peak_lr in BRIEFLY["peak_lrs"]
        for seed in BRIEFLY["seeds"]
    ]
    tried = [row for name in CHANGES for row in choose_rate(name)]
    rates = {name: best_rate(tried, name) for name in CHANGES}
    return {
        "settings": SETTINGS
        | {"changes": CHANGES, "briefly": BRIEFLY, "peak_lrs": PEAK_LRS, "tuning_seeds": TUNING_SEEDS, "seeds": SEEDS},
        "briefly": briefly,
        "tried": tried,
        "best_rates": rates,
        "results": [measure(name, rates[name], seed) for name in CHANGES for seed in SEEDS],
    }


def _bits(row: dict) -> float:
    return math.inf if row["bits"] is None else row["bits"]


def _finite(bits: float) -> float | None:
    return round(bits, 4) if math.isfinite(bits) else None


def _size(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
