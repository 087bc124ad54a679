"""Bits per character of a small language model with and without decay in its linear attention, for `efficient`.

Each mechanism runs at three learning rates.
"""

import _text
import torch
import torch.nn.functional as F

from attention_course import scaled_dot_product_attention, tasks
from attention_course.course import training
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.language_model import CausalLanguageModel
from attention_course.mechanism import Mechanism

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

    Args:
        decays: The factors, one for each head.
    """

    causal = True
    caches = False

    def __init__(self, decays):
        super().__init__()
        self.register_buffer("decays", torch.tensor(decays).view(-1, 1, 1), persistent=False)
        self.register_buffer("factors", torch.empty(len(decays), 0, 0), persistent=False)

    def forward(self, query, key, value, mask=None, **options):
        n_tokens = query.size(-2)
        if self.factors.size(-1) != n_tokens:
            place = torch.arange(n_tokens, device=query.device)
            self.factors = (self.decays ** (place[:, None] - place).clamp(min=0)).tril()
        similarity = (F.elu(query) + 1) @ (F.elu(key) + 1).mT * self.factors
        return similarity @ value / similarity.sum(-1, keepdim=True), None


def make_mechanism(name: str):
    """The causal attention of that name."""
    return {
        "exact": lambda: scaled_dot_product_attention,
        "window": lambda: LongformerAttention(16, causal=True),
        "linear": lambda: LinearAttention(causal=True),
        "decay": lambda: Decay(SETTINGS["decays"]),
    }[name]()


def make_model(name: str, n_symbols: int, *, rotated: bool) -> CausalLanguageModel:
    """An untrained model with the mechanism of that name."""
    mechanism = make_mechanism(name)
    return CausalLanguageModel(
        n_symbols,
        SETTINGS["d_model"],
        SETTINGS["n_heads"],
        SETTINGS["n_layers"],
        attention=_text.Rotated(mechanism) if rotated else mechanism,
    )


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
