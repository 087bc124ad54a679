"""Which 24 layers train without a warm-up, pre-norm or post-norm, over learning rates: for the transformer chapter."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import tasks
from attention_course.positions import SinusoidalPositions
from attention_course.transformer import Encoder

SETTINGS = {
    "n_layers": 24,
    "d_model": 32,
    "n_heads": 4,
    "n_symbols": 16,
    "length": 8,
    "batch": 32,
    "steps": 100,
    "last_steps": 20,
    "test_examples": 500,
    "test_seed": 1000,
}
WARM_UPS = [0, 50]
RATES = [0.0003, 0.001, 0.003, 0.01]
SEEDS = [0, 1, 2]
XAVIER_RATES = [0.0003, 0.001]  # without a warm-up, with larger matrices than nn.Linear draws


class Sorter(nn.Module):
    """The model that the chapter defines: an encoder that puts the i-th smallest number in place i."""

    def __init__(self, n_symbols: int, d_model: int, n_heads: int, n_layers: int, norm_first: bool):
        super().__init__()
        self.embedding = nn.Embedding(n_symbols, d_model)
        self.positions = SinusoidalPositions(d_model)
        self.encoder = Encoder(d_model, n_heads, n_layers, norm_first=norm_first)
        self.logits = nn.Linear(d_model, n_symbols)

    def forward(self, numbers: Tensor) -> Tensor:
        tokens, _ = self.encoder(self.positions(self.embedding(numbers)))
        return self.logits(tokens)


def run() -> dict:
    """Train with every norm, warm-up, rate and seed; `{"settings": ..., "results": ..., "xavier_results": ...}`."""
    results = []
    for norm_first in (True, False):
        for warm_up in WARM_UPS:
            for rate in RATES:
                for seed in SEEDS:
                    scores = _train_and_test(norm_first, warm_up, rate, seed)
                    print("pre" if norm_first else "post", warm_up, rate, seed, scores, flush=True)
                    results.append({"norm_first": norm_first, "warm_up": warm_up, "rate": rate, "seed": seed} | scores)
    varied = {"warm_ups": WARM_UPS, "rates": RATES, "seeds": SEEDS, "xavier_rates": XAVIER_RATES}
    return {"settings": SETTINGS | varied, "results": results, "xavier_results": _run_xavier()}


def _run_xavier() -> list[dict]:
    results = []
    for norm_first in (True, False):
        for rate in XAVIER_RATES:
            for seed in SEEDS:
                scores = _train_and_test(norm_first, 0, rate, seed, xavier=True)
                print("Xavier", "pre" if norm_first else "post", rate, seed, scores, flush=True)
                results.append({"norm_first": norm_first, "rate": rate, "seed": seed} | scores)
    return results


def _train_and_test(norm_first: bool, warm_up: int, rate: float, seed: int, xavier: bool = False) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    sizes = (SETTINGS[name] for name in ("n_symbols", "d_model", "n_heads", "n_layers"))
    model = Sorter(*sizes, norm_first)
    if xavier:
        _draw_xavier(model.encoder)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / (warm_up + 1)))
    losses = []
    for _ in range(SETTINGS["steps"]):
        loss = _loss(model, SETTINGS["batch"], generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return {"loss": round(sum(losses[-SETTINGS["last_steps"] :]) / SETTINGS["last_steps"], 4)} | _test(model)


def _draw_xavier(model: nn.Module):
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.xavier_normal_(parameter)


def _loss(model: nn.Module, batch: int, generator: torch.Generator) -> Tensor:
    pairs = tasks.sorting(batch, SETTINGS["length"], SETTINGS["n_symbols"], generator)
    return F.cross_entropy(model(pairs.source).flatten(0, 1), pairs.target.flatten())


@torch.no_grad()
def _test(model: nn.Module) -> dict:
    generator = torch.Generator().manual_seed(SETTINGS["test_seed"])
    pairs = tasks.sorting(SETTINGS["test_examples"], SETTINGS["length"], SETTINGS["n_symbols"], generator)
    right = model(pairs.source).argmax(-1) == pairs.target
    return {"accuracy": round(right.float().mean().item(), 4)}
