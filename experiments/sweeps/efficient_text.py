"""Bits per character of one small language model with each causal mechanism in it, for the page on recall."""

import _text
import torch

from attention_course import scaled_dot_product_attention, tasks
from attention_course.course import training
from attention_course.efficient.block_sparse import BlockSparseAttention, bigbird_layout
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.efficient.performer import PerformerAttention
from attention_course.efficient.reformer import LSHAttention
from attention_course.language_model import CausalLanguageModel

SETTINGS = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "window": 128,
    "batch": 16,
    "steps": 250,
    "peak_lr": 0.01,
}
MECHANISMS = ["exact", "window", "BigBird", "LSH", "Performer", "linear"]
# Does the last one learn at another rate, or is it only slower?
CHANCES = [
    {"mechanism": "linear", "peak_lr": 0.003},
    {"mechanism": "linear", "peak_lr": 0.03},
    {"mechanism": "linear", "steps": 750},
]
SEEDS = [0, 1, 2]


def make_mechanism(name: str, n_tokens: int, d_head: int = 16):
    """The causal attention of that name for texts of up to `n_tokens` characters, drawn anew where it is random."""
    return {
        "exact": lambda: scaled_dot_product_attention,
        "window": lambda: LongformerAttention(16, causal=True),
        "BigBird": lambda: BlockSparseAttention(bigbird_layout(-(-n_tokens // 16), n_random=1), 16, causal=True),
        "LSH": lambda: LSHAttention(16, 2, causal=True),
        "Performer": lambda: PerformerAttention(d_head, 64, causal=True),
        "linear": lambda: LinearAttention(causal=True),
    }[name]()


def make_model(name: str, n_symbols: int, n_tokens: int) -> CausalLanguageModel:
    """An untrained model with the mechanism of that name."""
    model = CausalLanguageModel(
        n_symbols,
        SETTINGS["d_model"],
        SETTINGS["n_heads"],
        SETTINGS["n_layers"],
        attention=_text.Rotated(make_mechanism(name, n_tokens)),
    )
    if name == "LSH":  # one projection for queries and keys
        for block in model.blocks:
            block.attention.key_proj = block.attention.query_proj
    return model


def run() -> dict:
    """Train every mechanism with every seed; `{"settings": ..., "results": ...}`."""
    text = tasks.python_help()
    results = []
    for model in [{"mechanism": name} for name in MECHANISMS] + CHANCES:
        for seed in SEEDS:
            result = _train_and_test(text, SETTINGS | model, seed)
            print(result, flush=True)
            results.append(result)
    return {"settings": SETTINGS, "results": results}


def _train_and_test(text, settings: dict, seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = make_model(settings["mechanism"], len(text.vocabulary), settings["window"])
    training.train(
        model,
        lambda: tasks.windows(text.train, settings["batch"], settings["window"] + 1, generator),
        _text.loss,
        steps=settings["steps"],
        peak_lr=settings["peak_lr"],
        every=settings["steps"],
    )
    parameters = sum(parameter.numel() for parameter in model.parameters())
    varied = {name: settings[name] for name in ("mechanism", "steps", "peak_lr")}
    return varied | {
        "seed": seed,
        "parameters": parameters,
        "bits": round(_text.bits(model, text.validation, SETTINGS["window"]), 4),
    }
