"""Digits for the page on pictures: what places, a shuffle and registers change, and what erasing patches costs."""

import time

import torch
import torch.nn.functional as F
from torch import nn

from attention_course import tasks
from attention_course.classifiers import Classifier
from attention_course.course import training

DIGITS = {"batch": 128, "peak_lr": 0.004, "patch_size": 2, "n_registers": 4, "small": 0.02}
SHORT = {"sizes": [32, 4, 2], "steps": 250}  # width, heads, layers
LONG = {"sizes": [48, 4, 2], "steps": 700}
ERASED = [1, 2, 4]
DRAWS = 3  # of random patches to erase
SEEDS = [0, 1, 2, 3, 4]
# Of a Transformer: how it is told places, their size at the start, registers, and whether patches are shuffled.
VARIANTS = {
    "as on the page": {},
    "no places": {"places": "none"},
    "shuffled": {"shuffled": True},
    "small start": {"start": DIGITS["small"]},
    "registers": {"n_registers": DIGITS["n_registers"]},
    "registers, small start": {"n_registers": DIGITS["n_registers"], "start": DIGITS["small"]},
}
LONG_VARIANTS = {
    "long": {},
    "long, a vector a place": {"places": "each"},
    "long, small start": {"start": DIGITS["small"]},
}


class PictureTokens(nn.Module):
    """Registers, if any, and a token for each patch: its pixels' linear map, plus vectors for its row and column."""

    def __init__(self, d_model: int, *, start: float = 1.0, n_registers: int = 0, places: str = "row + column"):
        super().__init__()
        size = DIGITS["patch_size"]
        self.proj = nn.Linear(size**2, d_model)
        by_line = places == "row + column"
        self.row = nn.Parameter(start * torch.randn(8 // size, d_model)) if by_line else None
        self.column = nn.Parameter(start * torch.randn(8 // size, d_model)) if by_line else None
        self.each = nn.Parameter(start * torch.randn((8 // size) ** 2, d_model)) if places == "each" else None
        self.registers = nn.Parameter(torch.randn(n_registers, d_model))

    def forward(self, images):
        """Images `(batch, 8, 8)` to tokens `(batch, n_registers + 16, d_model)`."""
        tokens = self.proj(cut(images))
        if self.row is not None:
            tokens = tokens + (self.row[:, None] + self.column).flatten(0, 1)
        if self.each is not None:
            tokens = tokens + self.each
        return torch.cat([self.registers.expand(len(tokens), -1, -1), tokens], dim=1)


def convolutions() -> nn.Sequential:
    """Two layers of convolutions with about as many parameters as the page's Transformer."""
    return nn.Sequential(
        nn.Unflatten(1, (1, 8)),
        nn.Conv2d(1, 32, 3, padding=1),
        nn.GELU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.GELU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * 16, 10),
    )


def cut(images):
    """Images `(batch, 8, 8)` to patches `(batch, 16, pixels)`."""
    size = DIGITS["patch_size"]
    return F.unfold(images[:, None], size, stride=size).transpose(1, 2)


def glue(patches):
    """The images that patches were cut from."""
    size = DIGITS["patch_size"]
    return F.fold(patches.transpose(1, 2), 8, size, stride=size)[:, 0]


def run() -> dict:
    """Train every model with every seed; `{"settings": ..., "results": ...}`."""
    results = []
    for name, options in VARIANTS.items():
        results += [{"model": name, "seed": seed} | _transformer(SHORT, seed, **options) for seed in SEEDS]
        print(results[-1], flush=True)
    for shuffled in (False, True):
        name = "convolutions, shuffled" if shuffled else "convolutions"
        results += [{"model": name, "seed": seed} | _convolutions(seed, shuffled) for seed in SEEDS]
        print(results[-1], flush=True)
    for name, options in LONG_VARIANTS.items():
        results += [{"model": name, "seed": seed} | _transformer(LONG, seed, **options) for seed in SEEDS]
        print(results[-1], flush=True)
    settings = DIGITS | {"short": SHORT, "long": LONG, "erased": ERASED, "draws": DRAWS}
    return {"settings": settings, "results": results}


def _transformer(lengths: dict, seed: int, *, shuffled: bool = False, **tokens) -> dict:
    torch.manual_seed(seed)
    d_model, n_heads, n_layers = lengths["sizes"]
    model = Classifier(PictureTokens(d_model, **tokens), 10, d_model, n_heads, n_layers, pooling="attention")
    test, seconds = _train(model, lambda images: model(images)[0], lengths["steps"], seed, shuffled)
    with torch.no_grad():
        logits, weights = model(test.images, need_weights=True)
    n_registers = tokens.get("n_registers", 0)
    return _scores(model, logits, test, seconds) | {
        "three favourites": round(weights.pooling.mean(0).topk(3).values.sum().item(), 4),
        "on registers": round(weights.pooling[:, :n_registers].sum(1).mean().item(), 4),
        "erased": _erase(model, test, weights.pooling[:, n_registers:], n_registers),
    }


def _convolutions(seed: int, shuffled: bool) -> dict:
    torch.manual_seed(seed)
    model = convolutions()
    test, seconds = _train(model, model, SHORT["steps"], seed, shuffled)
    with torch.no_grad():
        return _scores(model, model(test.images), test, seconds)


def _train(model, logits_of, steps: int, seed: int, shuffled: bool):
    """Train a model; the test digits, shuffled like those it has seen, and its CPU seconds."""
    generator = torch.Generator().manual_seed(seed)
    train, test = tasks.handwritten_digits()
    if shuffled:  # one order for all pictures
        order = torch.randperm(16, generator=generator)
        train, test = (tasks.Digits(glue(cut(part.images)[:, order]), part.labels) for part in (train, test))
    start = time.process_time()
    training.train(
        model,
        lambda: train[torch.randint(len(train), (DIGITS["batch"],), generator=generator)],
        lambda model, digits: F.cross_entropy(logits_of(digits.images), digits.labels),
        steps=steps,
        peak_lr=DIGITS["peak_lr"],
        every=steps,
    )
    return test, round(time.process_time() - start, 1)


def _scores(model, logits, test, seconds: float) -> dict:
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    return {"accuracy": _share_right(logits, test.labels), "parameters": n_parameters, "cpu_seconds": seconds}


@torch.no_grad()
def _erase(model, test, attention, n_registers: int) -> dict:
    """Accuracy without patches, erased as tokens or as pixels, in four orders, for each number in `ERASED`."""
    ink = cut(test.images).sum(2)
    draws = [torch.rand(ink.shape, generator=torch.Generator().manual_seed(seed)) for seed in range(DRAWS)]
    orders = {
        "most attended": [attention],
        "the same for all": [attention.mean(0).expand_as(attention)],
        "most ink": [ink],
        "random": draws,
    }
    erased = {"tokens": {}, "pixels": {}}
    for name, ranked in orders.items():
        keeps = [[order.argsort(1, descending=True).argsort(1) >= n for order in ranked] for n in ERASED]
        for what, accuracy in (("tokens", _without_tokens), ("pixels", _without_pixels)):
            means = [sum(accuracy(model, test, keep, n_registers) for keep in kept) / len(kept) for kept in keeps]
            erased[what][name] = [round(mean, 4) for mean in means]
    return erased


def _without_tokens(model, test, keep, n_registers: int) -> float:
    return _share_right(model(test.images, F.pad(keep, (n_registers, 0), value=True))[0], test.labels)


def _without_pixels(model, test, keep, n_registers: int) -> float:
    return _share_right(model(glue(cut(test.images) * keep[:, :, None]))[0], test.labels)


def _share_right(logits, labels) -> float:
    return round((logits.argmax(1) == labels).float().mean().item(), 4)
