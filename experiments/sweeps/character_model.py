"""Train the character models that the course records whole: one causally, and one that could see what it predicts."""

import time

import _text
import torch

from attention_course import tasks
from attention_course.course import training
from attention_course.course.checkpoints import make_character_model
from attention_course.support import float16_weights

SHARED = {"n_heads": 4, "window": 128, "batch": 16, "peak_lr": 0.01, "seed": 0}
SETTINGS = {
    "causal": SHARED | {"d_model": 80, "n_layers": 3, "steps": 1400},
    "unmasked": SHARED | {"d_model": 64, "n_layers": 2, "steps": 400},
}
SAMPLE = 2_000  # characters of held-out text that travel with a model, as its proof


class Unmasked(torch.nn.Module):
    """A model whose every symbol sees the whole text."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, symbols):
        """As the model, with the future in sight."""
        return self.model(symbols, causal=False)


def run() -> dict:
    """Train both; `{"models": {"causal": ..., "unmasked": ...}}`."""
    text = tasks.python_help()
    return {"models": {name: _train_and_pack(text, name) for name in SETTINGS}}


def _train_and_pack(text, name: str) -> dict:
    settings = SETTINGS[name]
    torch.manual_seed(settings["seed"])
    generator = torch.Generator().manual_seed(settings["seed"])
    model = make_character_model(len(text.vocabulary), settings)
    start = time.perf_counter()
    training.train(
        Unmasked(model) if name == "unmasked" else model,
        lambda: tasks.windows(text.train, settings["batch"], settings["window"] + 1, generator),
        _text.loss,
        steps=settings["steps"],
        peak_lr=settings["peak_lr"],
        every=100,
    )
    seconds = time.perf_counter() - start
    packed = float16_weights.pack(model)
    float16_weights.unpack(packed, model)  # what is measured is what is recorded
    as_trained, otherwise = (Unmasked(model), model) if name == "unmasked" else (model, Unmasked(model))
    result = {
        "settings": settings,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "threads": torch.get_num_threads(),
        "seconds": round(seconds, 1),
        "bits": round(_text.bits(as_trained, text.validation, settings["window"]), 4),
        "bits_otherwise": round(_text.bits(otherwise, text.validation, settings["window"]), 4),
        "sample": {
            "text": text.decode(text.validation[:SAMPLE]),
            "bits": round(_text.bits(as_trained, text.validation[:SAMPLE], settings["window"]), 4),
        },
        "vocabulary": text.vocabulary,
    }
    print(result, flush=True)
    return result | packed
