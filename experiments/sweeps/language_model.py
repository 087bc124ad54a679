"""Bits per character of a small causal language model against its training time, for the lesson on language models."""

import math
import time

import _text
import torch

from attention_course import tasks
from attention_course.course import training
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

SETTINGS = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 3,
    "window": 128,
    "batch": 16,
    "peak_lr": 0.01,
}
# Each number of steps is a training of its own: the learning rate falls to 0 at its end.
STEPS = [100, 250, 550, 1200]
SEEDS = [0, 1, 2]


def run() -> dict:
    """Train for every number of steps with every seed; `{"settings": ..., "results": ...}`."""
    text = tasks.python_help()
    results = []
    for steps in STEPS:
        for seed in SEEDS:
            result = {"steps": steps, "seed": seed} | _train_and_test(text, steps, seed)
            print(result, flush=True)
            results.append(result)
    return {"settings": SETTINGS | {"steps": STEPS}, "results": results}


def _train_and_test(text, steps: int, seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = CausalLanguageModel(
        len(text.vocabulary),
        SETTINGS["d_model"],
        SETTINGS["n_heads"],
        SETTINGS["n_layers"],
        attention=RotaryAttention(),
    )
    start = time.perf_counter()
    history = training.train(
        model,
        lambda: tasks.windows(text.train, SETTINGS["batch"], SETTINGS["window"] + 1, generator),
        _text.loss,
        steps=steps,
        peak_lr=SETTINGS["peak_lr"],
        every=50,
    )
    seconds = time.perf_counter() - start
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "threads": torch.get_num_threads(),
        "seconds": round(seconds, 1),
        "train_bits": round(history[-1]["loss"] / math.log(2), 4),
        "bits": round(_text.bits(model, text.validation, SETTINGS["window"]), 4),
    }
