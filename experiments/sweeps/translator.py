"""Train the translator that the course records whole, after a third of its training and at its end."""

import itertools
import time
from functools import partial

import torch

from attention_course.course import training
from attention_course.course.checkpoints import make_translator, translator_parts
from attention_course.decoding import cut_after
from attention_course.support import float16_weights
from attention_course.tasks import translation
from attention_course.tasks.sequences import SequencePairs

SETTINGS = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "batch": 64,
    "steps": 300,
    "recorded_at": [100, 300],
    "peak_lr": 0.003,
    "seed": 0,
    "test_sentences": 500,
    "test_seed": 1000,
}


def run() -> dict:
    """Train once; `{"settings": ..., "vocabulary": ..., "parameters": ..., "models": {"100": ..., "300": ...}}`."""
    torch.manual_seed(SETTINGS["seed"])
    generator = torch.Generator().manual_seed(SETTINGS["seed"])
    test = torch.Generator().manual_seed(SETTINGS["test_seed"])
    held_out = translation.translation_pairs(SETTINGS["test_sentences"], test)
    model = make_translator(SETTINGS)
    models = {}
    between = SETTINGS["recorded_at"][0]
    counter = itertools.count(0, between)  # the first look is before the first step
    start = time.perf_counter()

    def keep(model) -> dict[str, float]:
        steps = next(counter)
        if steps not in SETTINGS["recorded_at"]:
            return {}
        packed = float16_weights.pack(translator_parts(model))
        as_recorded = make_translator(SETTINGS).eval()
        float16_weights.unpack(packed, translator_parts(as_recorded))
        seconds = round(time.perf_counter() - start, 1)
        measured = {"seconds": seconds} | measure(as_recorded, held_out)  # what is measured is what is recorded
        models[str(steps)] = measured | packed
        return measured

    training.train(
        model,
        lambda: translation.translation_pairs(SETTINGS["batch"], generator),
        partial(training.sequence_loss, pad=translation.PAD),
        steps=SETTINGS["steps"],
        peak_lr=SETTINGS["peak_lr"],
        evaluate=keep,
        every=between,
    )
    return {
        "settings": SETTINGS,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "threads": torch.get_num_threads(),
        "vocabulary": list(translation.VOCABULARY),
        "models": models,
    }


@torch.no_grad()
def measure(model, pairs: SequencePairs) -> dict[str, float]:
    """Loss in nats a word, and the share of sentences that greedy decoding translates without a mistake."""
    written = cut_after(model.generate(pairs.source, translation.N_TARGET), translation.END, translation.PAD)
    return {
        "loss": round(training.sequence_loss(model, pairs, pad=translation.PAD).item(), 4),
        "exact": round(training.accuracy(written, pairs.target)["sequences"], 4),
    }
