"""Digits for the page on pictures: a Transformer beside its rivals, and what erasing patches costs it."""

import time

import torch
import torch.nn.functional as F
from torch import nn

from attention_course import tasks
from attention_course.classifiers import Classifier
from attention_course.course import training
from attention_course.transformer import Encoder

DIGITS = {"batch": 128, "patch_size": 2, "sizes": [32, 4, 2], "set_aside": 300}  # width, heads, layers
PEAK_LRS = [0.003, 0.0045, 0.006, 0.009, 0.012]
TUNING_SEEDS = [100, 101]  # the rate is chosen with these, on training digits set aside
SEEDS = [0, 1, 2, 3, 4]
ERASED = [1, 2, 4]
DRAWS = 3  # of random patches to erase
# Steps of training; and where it differs, a model's kind, how the pictures are shuffled, and what tells tokens apart.
MODELS = {
    "as on the page": {"steps": 250},
    "no places": {"steps": 250, "places": False},
    "a readout for each place": {"steps": 250, "kind": "each place"},
    "as on the page, longer": {"steps": 700},
    "convolutions": {"steps": 250, "kind": "convolutions"},
    "convolutions, patches shuffled": {"steps": 250, "kind": "convolutions", "shuffled": "patches"},
    "convolutions, pixels shuffled": {"steps": 250, "kind": "convolutions", "shuffled": "pixels"},
    "MLP": {"steps": 250, "kind": "MLP"},
}


class PictureTokens(nn.Module):
    """A token for each patch: its pixels' linear map, plus, if wanted, vectors for its row and column."""

    def __init__(self, d_model: int, *, places: bool = True):
        super().__init__()
        size = DIGITS["patch_size"]
        self.proj = nn.Linear(size**2, d_model)
        self.row = nn.Parameter(torch.randn(8 // size, d_model)) if places else None
        self.column = nn.Parameter(torch.randn(8 // size, d_model)) if places else None

    def forward(self, images):
        """Images `(batch, 8, 8)` to tokens `(batch, 16, d_model)`."""
        tokens = self.proj(cut(images))
        if self.row is not None:
            tokens = tokens + (self.row[:, None] + self.column).flatten(0, 1)
        return tokens


class EachPlace(nn.Module):
    """The page's Transformer without a pooling: the logits read every token with weights of their own."""

    def __init__(self, embed: nn.Module, d_model: int, n_heads: int, n_layers: int):
        super().__init__()
        self.embed = embed
        self.encoder = Encoder(d_model, n_heads, n_layers)
        self.logits = nn.Linear(16 * d_model, 10)

    def forward(self, images):
        """Logits `(batch, 10)`, and no weights."""
        return self.logits(self.encoder(self.embed(images))[0].flatten(1)), None


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


def mlp() -> nn.Sequential:
    """Two hidden layers on the 64 pixels, with about as many parameters."""
    layers = [nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 32), nn.GELU(), nn.Linear(32, 10)]
    return nn.Sequential(nn.Flatten(), *layers)


def cut(images):
    """Images `(batch, 8, 8)` to patches `(batch, 16, pixels)`."""
    size = DIGITS["patch_size"]
    return F.unfold(images[:, None], size, stride=size).transpose(1, 2)


def glue(patches):
    """The images that patches were cut from."""
    size = DIGITS["patch_size"]
    return F.fold(patches.transpose(1, 2), 8, size, stride=size)[:, 0]


def shuffle(images, what: str, seed: int):
    """All images with their patches or their pixels in one and the same other order."""
    generator = torch.Generator().manual_seed(seed)
    if what == "patches":
        return glue(cut(images)[:, torch.randperm(16, generator=generator)])
    return images.flatten(1)[:, torch.randperm(64, generator=generator)].view_as(images)


def run() -> dict:
    """Every model at every rate, and at its best rate with five seeds of its own."""
    torch.set_num_threads(1)
    tried = [_try(name, rate, seed) for name in MODELS for rate in PEAK_LRS for seed in TUNING_SEEDS]
    rates = {name: best_rate(tried, name) for name in MODELS}
    results = [_measure(name, rates[name], seed) for name in MODELS for seed in SEEDS]
    settings = DIGITS | {"models": MODELS, "peak_lrs": PEAK_LRS, "seeds": SEEDS, "erased": ERASED, "draws": DRAWS}
    return {"settings": settings, "tried": tried, "best_rates": rates, "results": results}


def best_rate(tried: list[dict], name: str) -> float:
    """The rate with the smallest mean loss on the digits set aside."""
    of = {rate: [row["loss"] for row in tried if (row["model"], row["peak_lr"]) == (name, rate)] for rate in PEAK_LRS}
    return min(PEAK_LRS, key=lambda rate: sum(of[rate]))


def make(*, kind: str = "pooled", places: bool = True) -> nn.Module:
    """A model, untrained."""
    if kind in ("convolutions", "MLP"):
        return convolutions() if kind == "convolutions" else mlp()
    d_model, n_heads, n_layers = DIGITS["sizes"]
    embed = PictureTokens(d_model, places=places)
    if kind == "each place":
        return EachPlace(embed, d_model, n_heads, n_layers)
    return Classifier(embed, 10, d_model, n_heads, n_layers, pooling="attention")


def logits_of(model: nn.Module, images):
    """What a model says of images; an encoder returns its weights, too."""
    return model(images) if isinstance(model, nn.Sequential) else model(images)[0]


def _train(train, seed: int, peak_lr: float, *, steps: int, shuffled: str | None = None, **options):
    """A trained model, and how the pictures that it reads are to be shuffled."""

    def seen(images):
        return shuffle(images, shuffled, seed) if shuffled else images

    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model, train = make(**options), tasks.Digits(seen(train.images), train.labels)
    training.train(
        model,
        lambda: train[torch.randint(len(train), (DIGITS["batch"],), generator=generator)],
        lambda model, digits: F.cross_entropy(logits_of(model, digits.images), digits.labels),
        steps=steps,
        peak_lr=peak_lr,
        every=steps,
    )
    return model, seen


@torch.no_grad()
def _try(name: str, peak_lr: float, seed: int) -> dict:
    digits, _ = tasks.handwritten_digits()
    order = torch.randperm(len(digits), generator=torch.Generator().manual_seed(seed))
    aside, rest = digits[order[: DIGITS["set_aside"]]], digits[order[DIGITS["set_aside"] :]]
    with torch.enable_grad():
        model, seen = _train(rest, seed, peak_lr, **MODELS[name])
    logits = logits_of(model, seen(aside.images))
    result = {"model": name, "peak_lr": peak_lr, "seed": seed, "accuracy": _share_right(logits, aside.labels)}
    result["loss"] = round(F.cross_entropy(logits, aside.labels).item(), 4)
    print(result, flush=True)
    return result


def _measure(name: str, peak_lr: float, seed: int) -> dict:
    train, test = tasks.handwritten_digits()
    start = time.process_time()
    model, seen = _train(train, seed, peak_lr, **MODELS[name])
    result = {"model": name, "seed": seed, "peak_lr": peak_lr, "cpu_seconds": round(time.process_time() - start, 1)}
    result["parameters"] = sum(parameter.numel() for parameter in model.parameters())
    with torch.no_grad():
        result["accuracy"] = _share_right(logits_of(model, seen(test.images)), test.labels)
    if name == "as on the page":
        result |= _looked(model, test)
    print(result, flush=True)
    return result


@torch.no_grad()
def _looked(model: Classifier, test) -> dict:
    """Where the pooling looks, how long the longest tokens are, and what erasing patches costs."""
    streams = []
    hooks = [block.register_forward_hook(lambda *a: streams.append(a[-1][0])) for block in model.encoder.blocks]
    _, weights = model(test.images, need_weights=True)
    for hook in hooks:
        hook.remove()
    norms = [stream.norm(dim=-1) for stream in streams]
    favourites = weights.pooling.mean(0).topk(3)
    return {
        "favourites": sorted(place + 1 for place in favourites.indices.tolist()),
        "on them": round(favourites.values.sum().item(), 4),
        "longest token": [round((norm.amax(1) / norm.median(1).values).max().item(), 2) for norm in norms],
        "erased": _erase(model, test, weights.pooling),
    }


def _erase(model, test, attention) -> dict:
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
            means = [sum(accuracy(model, test, keep) for keep in kept) / len(kept) for kept in keeps]
            erased[what][name] = [round(mean, 4) for mean in means]
    return erased


def _without_tokens(model, test, keep) -> float:
    return _share_right(model(test.images, keep)[0], test.labels)


def _without_pixels(model, test, keep) -> float:
    return _share_right(model(glue(cut(test.images) * keep[:, :, None]))[0], test.labels)


def _share_right(logits, labels) -> float:
    return round((logits.argmax(1) == labels).float().mean().item(), 4)
