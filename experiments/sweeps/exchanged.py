"""Bits per character when another attention takes the place of a trained model's own, on short text and on long.

For the page on approximations: nothing is trained further after the exchange.
"""

import math

import _text
import torch
import torch.nn.functional as F

from attention_course import scaled_dot_product_attention, tasks
from attention_course.course import training
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.efficient.performer import PerformerAttention
from attention_course.language_model import CausalLanguageModel

SETTINGS = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "window": 512,
    "batch": 8,
    "steps": 750,
    "peak_lr": 0.01,
    "every": 4,  # of the test's pieces, which overlap by half, so many are left out between two
}
TEXTS = [128, 512]  # characters that are read at once
WINDOWS = [8, 16, 32, 64, 128, 256]
SINKS = [0, 4]
FEATURES = [64, 256, 1024]
SEEDS = [0, 1, 2]


def make_model(attention, n_symbols: int) -> CausalLanguageModel:
    """An untrained model with this attention in it."""
    sizes = (SETTINGS[name] for name in ("d_model", "n_heads", "n_layers"))
    return CausalLanguageModel(n_symbols, *sizes, attention=_text.Rotated(attention))


def substitutes() -> list[tuple[dict, object]]:
    """What takes the place of exact attention: its description, and itself."""
    d_head = SETTINGS["d_model"] // SETTINGS["n_heads"]
    windows = [
        ({"mechanism": "window", "budget": w, "sinks": sinks}, LongformerAttention(w, n_global=sinks, causal=True))
        for sinks in SINKS
        for w in WINDOWS
    ]
    performers = [
        ({"mechanism": "Performer", "budget": m}, PerformerAttention(d_head, m, causal=True)) for m in FEATURES
    ]
    others = [
        ({"mechanism": "exact"}, scaled_dot_product_attention),
        ({"mechanism": "linear"}, LinearAttention(causal=True)),
    ]
    return others + windows + performers


def run() -> dict:
    """Train a model for each seed, and exchange its attention; `{"settings": ..., "results": ...}`."""
    text = tasks.python_help()
    results = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(seed)
        model = make_model(scaled_dot_product_attention, len(text.vocabulary))
        training.train(
            model,
            lambda generator=generator: tasks.windows(text.train, SETTINGS["batch"], SETTINGS["window"] + 1, generator),
            _text.loss,
            steps=SETTINGS["steps"],
            peak_lr=SETTINGS["peak_lr"],
            every=SETTINGS["steps"],
        )
        for described, attention in substitutes():
            other = make_model(attention, len(text.vocabulary)).eval()
            other.load_state_dict(model.state_dict(), strict=False)  # random directions are not in it
            for n in TEXTS:
                result = described | {"seed": seed, "text": n, "bits": round(bits(other, text.validation, n), 4)}
                print(result, flush=True)
                results.append(result)
    return {"settings": SETTINGS, "results": results}


@torch.no_grad()
def bits(model, symbols, n: int) -> float:
    """Bits per character on the second halves of some pieces of `n` characters."""
    half = n // 2
    losses = []
    for pieces in symbols.unfold(0, 2 * half + 1, half)[:: SETTINGS["every"]].split(16):
        logits, _ = model(pieces[:, :-1])
        losses.append(F.cross_entropy(logits[:, half:].transpose(1, 2), pieces[:, half + 1 :], reduction="none"))
    return torch.cat(losses).mean().item() / math.log(2)
