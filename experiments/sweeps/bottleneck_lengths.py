"""Accuracy and alignment error against length, with and without attention, for the bottleneck chapter."""

import torch

from attention_course import tasks
from attention_course.course import training
from attention_course.seq2seq_rnn import GRUEncoderDecoder

LENGTHS = {
    "reversing": {
        "task": "reversing",
        "n_symbols": 26,
        "train_lengths": [2, 16],
        "test_lengths": [2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32],
        "steps": 600,
    },
    "sorting": {
        "task": "sorting",
        "n_symbols": 100,
        "train_lengths": [2, 10],
        "test_lengths": [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20],
        "steps": 1000,
    },
}
COMMON = {"d_hidden": 64, "batch": 128, "peak_lr": 0.01, "test_examples": 500, "test_seed": 1000}
ATTENTIONS = [None, "additive", "dot", "general", "concat"]
SEEDS = [0, 1, 2]


def run() -> dict:
    """Train every model with every seed; `{"settings": ..., "results": ...}`."""
    results = []
    all_settings = {experiment: settings | COMMON for experiment, settings in LENGTHS.items()}
    for experiment, settings in all_settings.items():
        for attention in ATTENTIONS:
            for seed in SEEDS:
                scores = train_and_test(settings, attention, seed)
                print(experiment, attention, seed, scores["symbols"], flush=True)
                results.append({"experiment": experiment, "attention": attention, "seed": seed} | scores)
    return {"settings": all_settings, "results": results}


def train_and_test(settings: dict, attention: str | None, seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    make = getattr(tasks, settings["task"])
    model = GRUEncoderDecoder(settings["n_symbols"], settings["d_hidden"], attention)
    shortest, longest = settings["train_lengths"]

    def next_batch():
        length = int(torch.randint(shortest, longest + 1, (1,), generator=generator))
        return make(settings["batch"], length, settings["n_symbols"], generator)

    training.train(
        model,
        next_batch,
        training.sequence_loss,
        steps=settings["steps"],
        peak_lr=settings["peak_lr"],
        every=settings["steps"],
    )
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return {"parameters": parameters} | _test_by_length(model, make, settings)


def _test_by_length(model, make, settings: dict) -> dict:
    scores = {"symbols": [], "sequences": [], "alignment_error": []}
    for length in settings["test_lengths"]:
        generator = torch.Generator().manual_seed(settings["test_seed"])
        pairs = make(settings["test_examples"], length, settings["n_symbols"], generator)
        written, weights = model.generate(pairs.source, length)
        for name, number in training.accuracy(written, pairs.target).items():
            scores[name].append(round(number, 4))
        if weights is not None:
            scores["alignment_error"].append(round(training.alignment_error(weights, pairs.gold), 4))
    return scores
