"""Bits per character when another attention takes a trained model's place and is trained further, for `efficient`.

The model and its text are those of `decay`, trained for longer. Beside each stands what it learns from scratch: here in
as many steps as the model was trained for, in `decay` in 250. Exact attention in its own place shows what further
training does by itself. Every rate is tried with the first seed, the best one with the others.
"""

import math

import _text
import decay
import torch
from torch import nn

from attention_course import tasks
from attention_course.course import training
from attention_course.language_model import CausalLanguageModel
from attention_course.mechanism import Mechanism

SETTINGS = decay.SETTINGS | {
    "steps": 1500,
    "peak_lrs": decay.PEAK_LRS,
    "further_steps": [50, 250],
    "further_lrs": [0.001, 0.003, 0.01, 0.03, 0.1],
}
FROM_SCRATCH = ["exact", "linear", "decay"]
MECHANISMS = ["exact", "window", "linear", "learned features", "decay"]
SEEDS = [0, 1, 2]


class LearnedFeatures(Mechanism):
    """Linear attention on the features of Hedgehog: the softmax of a learned matrix times each vector, and of minus it.

    Zhang et al. 2024, *The Hedgehog & the Porcupine: Expressive Linear Attentions with Softmax Mimicry*. There the
    matrices first learn to give the weights of the model's softmax; here they learn with the model alone.
    """

    causal = True
    caches = False

    def __init__(self, n_heads: int, d_head: int):
        super().__init__()
        eye = torch.eye(d_head).repeat(n_heads, 1, 1)
        self.of_queries, self.of_keys = nn.Parameter(eye.clone()), nn.Parameter(eye.clone())

    def forward(self, query, key, value, mask=None, **options):
        query, key = self._features(query @ self.of_queries), self._features(key @ self.of_keys)
        similarity = (query @ key.mT).tril()
        return similarity @ value / similarity.sum(-1, keepdim=True), None

    @staticmethod
    def _features(x):
        return torch.cat([x, -x], dim=-1).softmax(-1)


def make_model(name: str, n_symbols: int) -> CausalLanguageModel:
    """An untrained model with the mechanism of that name."""
    sizes = (SETTINGS[size] for size in ("d_model", "n_heads", "n_layers"))
    if name == "learned features":
        # Of queries and keys that were turned, as in the paper: turned after them, they take half a bit more.
        learned = LearnedFeatures(SETTINGS["n_heads"], SETTINGS["d_model"] // SETTINGS["n_heads"])
        return CausalLanguageModel(n_symbols, *sizes, attention=_text.Rotated(learned))
    return decay.make_model(name, n_symbols, rotated=True)


def run() -> dict:
    """Train three models for each seed, and exchange attention in one; `{"settings": ..., "results": ...}`."""
    text = tasks.python_help()
    results, trained, best = [], {}, {}

    def record(model, **described):
        bits = _text.bits(model, text.validation, SETTINGS["window"])
        results.append(described | {"bits": round(bits, 4) if math.isfinite(bits) else None})
        print(results[-1], flush=True)
        return results[-1]

    def from_scratch(name, seed, peak_lr):
        torch.manual_seed(seed)
        model = make_model(name, len(text.vocabulary))
        _train(model, text, SETTINGS["steps"], peak_lr, seed)
        trained[name, seed, peak_lr] = model.state_dict()
        return record(model, start="scratch", mechanism=name, seed=seed, steps=SETTINGS["steps"], peak_lr=peak_lr)

    def further(name, seed, steps, peak_lr):
        model = make_model(name, len(text.vocabulary)).eval()
        model.load_state_dict(trained["exact", seed, best["exact"]], strict=False)  # features are not in it
        if steps:
            _train(model, text, steps, peak_lr, 1000 + seed)
        return record(model, start="exact", mechanism=name, seed=seed, steps=steps, peak_lr=peak_lr)

    for name in FROM_SCRATCH:
        best[name] = best_rate([from_scratch(name, SEEDS[0], peak_lr) for peak_lr in SETTINGS["peak_lrs"]])
        for seed in SEEDS[1:]:
            from_scratch(name, seed, best[name])
    for name in MECHANISMS:
        for steps in [0, *SETTINGS["further_steps"]]:
            rates = SETTINGS["further_lrs"] if steps else [0.0]
            rate = best_rate([further(name, SEEDS[0], steps, peak_lr) for peak_lr in rates])
            for seed in SEEDS[1:]:
                further(name, seed, steps, rate)
    return {"settings": SETTINGS, "results": results}


def best_rate(rows: list[dict]) -> float:
    """The learning rate of the row with the fewest bits; a run that broke has none."""
    return min((row for row in rows if row["bits"] is not None), key=lambda row: row["bits"])["peak_lr"]


def _train(model, text, steps: int, peak_lr: float, seed: int):
    generator = torch.Generator().manual_seed(seed)
    training.train(
        model,
        lambda: tasks.windows(text.train, SETTINGS["batch"], SETTINGS["window"] + 1, generator),
        _text.loss,
        steps=steps,
        peak_lr=peak_lr,
        every=steps,
    )
