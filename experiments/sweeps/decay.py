"""Bits per character of a small language model with and without decay in its linear attention, for `efficient`.

Each mechanism runs at three learning rates.
"""

import _text
import torch

from attention_course import scaled_dot_product_attention, tasks
from attention_course.course import training
from attention_course.efficient.linear import elu_plus_one
from attention_course.efficient.longformer import LongformerAttention
from attention_course.language_model import CausalLanguageModel
from attention_course.mechanism import Mechanism, as_mechanism
from attention_course.positions import rotate

SETTINGS = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "window": 128,
    "batch": 16,
    "steps": 250,
    "peak_lr": 0.01,
    "rotated": True,
    "decays": [0.5, 0.75, 0.875, 0.9375],  # one for each head
}
MECHANISMS = ["exact", "window", "linear", "decay"]
PEAK_LRS = [0.003, 0.01, 0.03]
# Does the decay need positions beside it, and would the sums without it do better without them?
WITHOUT_POSITIONS = [{"mechanism": name, "rotated": False} for name in ("linear", "decay")]
SEEDS = [0, 1, 2, 3, 4]  # at the rate of the settings
FEWER_SEEDS = [0, 1, 2]  # of what is only there to be fair


class Decay(Mechanism):
    """Linear attention in which a key weighs less with every step back: each head by its own factor.

    Positions turn its features, and not what it divides by, which stays positive. Su et al. 2021, arXiv:2104.09864,
    equation 19.

    Args:
        decays: The factors, one for each head.
        rotated: Whether features are turned by their positions.
    """

    causal = True
    caches = False

    def __init__(self, decays, *, rotated: bool):
        super().__init__()
        self.rotated = rotated
        self.register_buffer("decays", torch.tensor(decays).view(-1, 1, 1), persistent=False)
        self.register_buffer("factors", torch.empty(len(decays), 0, 0), persistent=False)

    def forward(self, query, key, value, mask=None, **options):
        place = torch.arange(query.size(-2), device=query.device)
        if self.factors.size(-1) != len(place):
            self.factors = (self.decays ** (place[:, None] - place).clamp(min=0)).tril()
        query, key = elu_plus_one(query), elu_plus_one(key)
        total = (query @ key.mT * self.factors).sum(-1, keepdim=True)
        if self.rotated:
            query, key = rotate(query, place), rotate(key, place)
        return (query @ key.mT * self.factors) @ value / total, None


def make_mechanism(name: str, *, rotated: bool) -> Mechanism:
    """The causal attention of that name."""
    if name in ("linear", "decay"):
        return Decay(SETTINGS["decays"] if name == "decay" else [1.0] * SETTINGS["n_heads"], rotated=rotated)
    mechanism = scaled_dot_product_attention if name == "exact" else LongformerAttention(16, causal=True)
    return _text.Rotated(mechanism) if rotated else as_mechanism(mechanism)


def make_model(name: str, n_symbols: int, *, rotated: bool) -> CausalLanguageModel:
    """An untrained model with the mechanism of that name."""
    sizes = (SETTINGS[size] for size in ("d_model", "n_heads", "n_layers"))
    return CausalLanguageModel(n_symbols, *sizes, attention=make_mechanism(name, rotated=rotated))


def wanted() -> list[dict]:
    """What is varied, one dictionary a training."""
    usual = SETTINGS["peak_lr"]
    models = [{"mechanism": name, "rotated": True, "peak_lr": rate} for name in MECHANISMS for rate in PEAK_LRS]
    runs = [
        model | {"seed": seed} for model in models for seed in (SEEDS if model["peak_lr"] == usual else FEWER_SEEDS)
    ]
    return runs + [model | {"peak_lr": usual, "seed": seed} for model in WITHOUT_POSITIONS for seed in FEWER_SEEDS]


def run() -> dict:
    """Train every mechanism at every rate; `{"settings": ..., "results": ...}`."""
    text = tasks.python_help()
    results = []
    for training_run in wanted():
        results.append(training_run | {"bits": _train_and_test(text, SETTINGS | training_run)})
        print(results[-1], flush=True)
    return {"settings": SETTINGS, "results": results}


def _train_and_test(text, settings: dict) -> float:
    torch.manual_seed(settings["seed"])
    generator = torch.Generator().manual_seed(settings["seed"])
    model = make_model(settings["mechanism"], len(text.vocabulary), rotated=settings["rotated"])
    training.train(
        model,
        lambda: tasks.windows(text.train, settings["batch"], settings["window"] + 1, generator),
        _text.loss,
        steps=settings["steps"],
        peak_lr=settings["peak_lr"],
        every=settings["steps"],
    )
    return round(_text.bits(model, text.validation, settings["window"]), 4)
