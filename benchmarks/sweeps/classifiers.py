"""Accuracies for the classifiers chapter: padding and pooling on reviews; digits, by shifts and by configuration."""

import time

import torch
import torch.nn.functional as F
from torch import nn

from attention_course import measure, tasks, training
from attention_course.classifiers import Classifier
from attention_course.embeddings import ImagePatches
from attention_course.positions import LearnedPositions, SinusoidalPositions
from attention_course.tasks.negation import PAD, VOCABULARY, reviews

REVIEWS = {
    "d_model": 32,
    "n_heads": 4,
    "n_layers": 2,
    "n_train": 8000,
    "batch": 64,
    "steps": 250,
    "peak_lr": 0.005,
    "test_examples": 2000,
    "test_seed": 1000,
    "pads": [0, 4, 16, 64, 256],
}
# Pooling, and whether padding is masked in training.
REVIEW_MODELS = [("mean", True), ("cls", True), ("attention", True), ("mean", False)]
DIGITS = {"batch": 128, "peak_lr": 0.004, "patch_size": 2, "long_steps": 700, "short_steps": 250}
# Width, heads, layers; the chapter trains one of them live, and one was trained for longer.
CONFIGURATIONS = [(16, 2, 1), (32, 4, 1), (32, 1, 2), (32, 4, 2), (48, 4, 2), (64, 4, 3)]
LIVE, LONG = (32, 4, 2), (48, 4, 2)
SEEDS = [0, 1, 2]


def run() -> dict:
    """Train every model with every seed; `{"settings": ..., "results": ...}`."""
    settings = {"reviews": REVIEWS, "digits": DIGITS | {"live": list(LIVE), "long": list(LONG)}}
    return {"settings": settings, "results": _review_results() + _digit_results()}


def _review_results() -> list[dict]:
    train = reviews(REVIEWS["n_train"], torch.Generator().manual_seed(0))
    test = reviews(REVIEWS["test_examples"], torch.Generator().manual_seed(REVIEWS["test_seed"]))
    results = []
    for pooling, masked in REVIEW_MODELS:
        for seed in SEEDS:
            model = _train_on_reviews(train, pooling, masked, seed)
            result = {"experiment": "reviews", "pooling": pooling, "masked": masked, "seed": seed}
            result |= _test_on_reviews(model, test)
            print(result, flush=True)
            results.append(result)
    return results


def _train_on_reviews(train, pooling: str, masked: bool, seed: int) -> Classifier:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    d_model = REVIEWS["d_model"]
    words = nn.Embedding.from_pretrained(0.2 * torch.randn(len(VOCABULARY), d_model), freeze=False)
    model = Classifier(
        words,
        2,
        d_model,
        REVIEWS["n_heads"],
        REVIEWS["n_layers"],
        pooling=pooling,
        positions=SinusoidalPositions(d_model),
    )

    def loss(model, batch):
        logits, _ = model(batch.tokens, batch.mask if masked else None)
        return F.cross_entropy(logits, batch.label)

    training.train(
        model,
        lambda: train[torch.randint(len(train), (REVIEWS["batch"],), generator=generator)],
        loss,
        steps=REVIEWS["steps"],
        peak_lr=REVIEWS["peak_lr"],
        every=REVIEWS["steps"],
    )
    return model


@torch.no_grad()
def _test_on_reviews(model, test) -> dict:
    """Accuracy with the mask, and with pads behind each sentence that are not masked."""
    logits, weights = model(test.tokens, test.mask, need_weights=True)
    on_gold = (weights.pooling[:, -test.gold.size(1) :] * test.gold).sum(1)
    scores = {"with mask": _share_right(logits, test.label), "weight on gold": round(on_gold.mean().item(), 4)}
    scores["mixed, with mask"] = _share_right(logits[test.mixed], test.label[test.mixed])
    scores["no mask"] = [_accuracy_with_pads(model, test, pads, False) for pads in REVIEWS["pads"]]
    # With the encoder masked, whatever is lost is lost to the pooling.
    scores["pooling not masked"] = [_accuracy_with_pads(model, test, pads, True) for pads in REVIEWS["pads"]]
    return scores


def _accuracy_with_pads(model, test, pads: int, mask_encoder: bool) -> float:
    right = 0.0
    lengths = test.mask.sum(1)
    for length in lengths.unique().tolist():
        rows = test[lengths == length]
        tokens = F.pad(rows.tokens[:, :length], (0, pads))
        logits = _logits_without_pooling_mask(model, tokens) if mask_encoder else model(tokens)[0]
        right += _share_right(logits, rows.label) * len(rows)
    return round(right / len(test), 4)


def _logits_without_pooling_mask(model, tokens):
    embedded, real = model.positions(model.embed(tokens)), tokens != PAD
    if model.cls_token is not None:
        embedded = torch.cat([model.cls_token.expand(len(tokens), 1, -1), embedded], dim=1)
        real = F.pad(real, (1, 0), value=True)
    encoded, _ = model.encoder(embedded, real[:, None, None, :])
    return model.logits(model.pooling(encoded)[0])


def _digit_results() -> list[dict]:
    results = []
    runs = [("long", LONG, shifted, DIGITS["long_steps"]) for shifted in (True, False)]
    runs += [("configurations", sizes, False, DIGITS["short_steps"]) for sizes in CONFIGURATIONS]
    for experiment, sizes, shifted, steps in runs:
        for seed in SEEDS:
            result = {"experiment": experiment, "sizes": list(sizes), "shifted": shifted, "seed": seed}
            result |= _train_on_digits(sizes, shifted, steps, seed)
            print(result, flush=True)
            results.append(result)
    return results


def _train_on_digits(sizes: tuple[int, int, int], shifted: bool, steps: int, seed: int) -> dict:
    train, test = tasks.handwritten_digits()
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    d_model, n_heads, n_layers = sizes
    embed, positions = ImagePatches(DIGITS["patch_size"], d_model), LearnedPositions(16, d_model)
    model = Classifier(embed, 10, d_model, n_heads, n_layers, pooling="attention", positions=positions)

    def next_batch():
        digits = train[torch.randint(len(train), (DIGITS["batch"],), generator=generator)]
        return tasks.Digits(_shift(digits.images, generator), digits.labels) if shifted else digits

    start = time.process_time()  # CPU seconds: a busy machine does not stretch them
    training.train(
        model,
        next_batch,
        lambda model, digits: F.cross_entropy(model(digits.images)[0], digits.labels),
        steps=steps,
        peak_lr=DIGITS["peak_lr"],
        every=steps,
    )
    seconds = time.process_time() - start
    with torch.no_grad():
        accuracy = _share_right(model(test.images)[0], test.labels)
        one = measure.time_calls({"one image": lambda: model(test.images[:1])}, repeats=30)["one image"]
    return {
        "accuracy": accuracy,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "cpu_seconds": round(seconds, 1),
        "latency_ms": round(1000 * one.median, 3),
    }


def _shift(images, generator):
    """Each image moved by up to half a pixel, across and down, with the grey values in between."""
    moves = torch.eye(2, 3).repeat(len(images), 1, 1)
    moves[:, :, 2] = (2 * torch.rand(len(images), 2, generator=generator) - 1) / 8  # 2 would be the whole width
    grid = F.affine_grid(moves, (len(images), 1, 8, 8), align_corners=False)
    return F.grid_sample(images.unsqueeze(1), grid, align_corners=False).squeeze(1)


def _share_right(logits, labels) -> float:
    return round((logits.argmax(1) == labels).float().mean().item(), 4)
