"""Who reads a negation that stands far from its adjective: counts of words, averages, GRU, convolutions, attention."""

from functools import cache
from itertools import combinations

import poolings
import torch
import torch.nn.functional as F
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from attention_course import scaled_dot_product_attention
from attention_course.course import training
from attention_course.positions import SinusoidalPositions
from attention_course.tasks.negation import PAD, VOCABULARY, Reviews
from attention_course.transformer import Encoder

SETTINGS = {name: poolings.SETTINGS[name] for name in ("n_train", "test_examples", "batch")}
SETTINGS |= {"d_hidden": 128}  # of the two layers behind the mean of word vectors
SETTINGS |= {"d_gru": 64, "channels": 48, "kernel": 5, "dilations": [1, 2, 4]}
# Each way is tried on reviews of the tuning seed; the best is measured on others.
TUNING_SEED, SEEDS = 100, [0, 1, 2, 3, 4]
VALIDATION, TEST = 2000, 1000  # added to a seed
LIKE_LESSON = {name: poolings.SETTINGS[name] for name in ("peak_lr", "steps")}
LONGER = [{"peak_lr": 0.01, "steps": 600}, {"peak_lr": 0.005, "steps": 1200}]
COSTS = [1.0, 10.0]
WAYS = {
    **{f"runs up to {longest}": [{"longest": longest, "C": cost} for cost in COSTS] for longest in (1, 2, 4, 6, 8, 10)},
    "mean of word vectors": [LIKE_LESSON, *LONGER],
    "untrained encoder": [{"d_model": width, "C": cost} for width in (32, 128) for cost in COSTS],
    "even weights": [LIKE_LESSON, *LONGER, {"peak_lr": 0.005, "steps": 4000}],
    "ordered word pairs": [{"C": 1.0}],
    "one-way GRU": [LIKE_LESSON],
    "dilated convolutions": [LIKE_LESSON],
    "attention": [LIKE_LESSON],
}
NEAR = ["runs up to 1", "runs up to 2", "runs up to 4", "attention"]  # on reviews that are not far, too


class MeanOfWords(nn.Module):
    """Two layers on the mean of the word vectors: what words occur, and nothing of their order."""

    def __init__(self):
        super().__init__()
        d_model = poolings.SETTINGS["d_model"]
        self.embedding = nn.Embedding(len(VOCABULARY), d_model)
        self.layers = nn.Sequential(
            nn.Linear(d_model, SETTINGS["d_hidden"]), nn.ReLU(), nn.Linear(SETTINGS["d_hidden"], 2)
        )

    def forward(self, symbols: Tensor) -> tuple[Tensor, None]:
        real = (symbols != PAD).float()[..., None]
        return self.layers((self.embedding(symbols) * real).sum(1) / real.sum(1)), None


class OneWayGRU(nn.Module):
    """A GRU that reads the words in order, and the logits from its state at the last."""

    def __init__(self):
        super().__init__()
        d_model, d_state = poolings.SETTINGS["d_model"], SETTINGS["d_gru"]
        self.embedding = nn.Embedding(len(VOCABULARY), d_model)
        self.gru = nn.GRU(d_model, d_state, batch_first=True)
        self.logits = nn.Linear(d_state, 2)

    def forward(self, symbols: Tensor) -> tuple[Tensor, None]:
        states, _ = self.gru(self.embedding(symbols))
        last = (symbols != PAD).sum(1) - 1
        return self.logits(states[torch.arange(len(symbols)), last]), None


class Convolutions(nn.Module):
    """Convolutions, each dilated twice as far as the one before, and the maximum over the words."""

    def __init__(self):
        super().__init__()
        d_model, kernel, channels = poolings.SETTINGS["d_model"], SETTINGS["kernel"], SETTINGS["channels"]
        self.embedding = nn.Embedding(len(VOCABULARY), d_model)
        self.layers = nn.ModuleList(
            nn.Conv1d(channels if number else d_model, channels, kernel, padding="same", dilation=dilation)
            for number, dilation in enumerate(SETTINGS["dilations"])
        )
        self.logits = nn.Linear(channels, 2)

    def forward(self, symbols: Tensor) -> tuple[Tensor, None]:
        real = (symbols != PAD)[:, None]
        tokens = self.embedding(symbols).mT * real
        for layer in self.layers:
            tokens = F.gelu(layer(tokens)) * real  # pads stay zeros, as what lies beyond the review
        return self.logits(tokens.masked_fill(~real, float("-inf")).amax(2)), None


def even_weights(query, key, value, mask=None, **options):
    """In place of attention: every token that may be seen has the same weight."""
    return scaled_dot_product_attention(torch.zeros_like(query), key, value, mask, **options)


def run() -> dict:
    """Every way of every model on near reviews and on far ones, and the best way with five seeds."""
    torch.set_num_threads(1)
    draw, tried, results = cache(poolings.draw), [], []
    for name, far in [(name, False) for name in NEAR] + [(name, True) for name in WAYS]:
        if len(WAYS[name]) > 1:
            aside = draw(TUNING_SEED, TUNING_SEED + VALIDATION, far)
            tried += [_measure(name, far, way, TUNING_SEED, *aside) for way in WAYS[name]]
        best = best_way(tried, name, far)
        results += [_measure(name, far, best, seed, *draw(seed, seed + TEST, far)) for seed in SEEDS]
    settings = SETTINGS | {"ways": WAYS, "near": NEAR, "seeds": SEEDS, "tuning_seed": TUNING_SEED}
    return {"settings": settings, "tried": tried, "results": results}


def best_way(tried: list[dict], name: str, far: bool) -> dict:
    """The way in which a model is right most often on the mixed reviews set aside, or its only one."""
    if len(WAYS[name]) == 1:
        return WAYS[name][0]
    of = [row for row in tried if (row["model"], row["far"]) == (name, far)]
    return WAYS[name][max(range(len(of)), key=lambda number: of[number]["mixed"])]


def _measure(name: str, far: bool, way: dict, seed: int, train: Reviews, test: Reviews) -> dict:
    torch.manual_seed(seed)
    if name == "ordered word pairs" or "longest" in way:
        said, n_inputs = by_counts(train, test, way)
    elif "C" in way:
        said, n_inputs = by_untrained(train, test, way), way["d_model"]
    else:
        said, n_inputs = by_training(name, train, test, way, seed), None
    right = said == test.label
    result = {"far": far, "model": name, **way, "seed": seed, "inputs": n_inputs}
    result |= {"right": _share(right), "mixed": _share(right[test.mixed])}
    print(result, flush=True)
    return result


def by_counts(train: Reviews, test: Reviews, way: dict) -> tuple[Tensor, int]:
    """What logistic regression says, and how many numbers it has of a review.

    They are counts of the runs of 1 to `longest` words or, without `longest`, which ordered pairs of words occur.
    """
    if "longest" in way:
        counts = CountVectorizer(ngram_range=(1, way["longest"]), token_pattern=r"\S+")
    else:
        counts = CountVectorizer(analyzer=ordered_pairs, binary=True)
    model = LogisticRegression(C=way["C"], max_iter=1000)
    model.fit(counts.fit_transform(_texts(train)), train.label)
    return torch.from_numpy(model.predict(counts.transform(_texts(test)))), len(counts.vocabulary_)


def ordered_pairs(text: str) -> list[tuple[str, str]]:
    """Each word with every word behind it, however far."""
    return list(combinations(text.split(), 2))


@torch.no_grad()
def by_untrained(train: Reviews, test: Reviews, way: dict) -> Tensor:
    """What logistic regression says from the mean of the tokens that leave an encoder which learns nothing."""
    width = way["d_model"]
    read = nn.Sequential(nn.Embedding(len(VOCABULARY), width), SinusoidalPositions(width))
    encoder = Encoder(width, poolings.SETTINGS["n_heads"], poolings.SETTINGS["n_blocks"])

    def vectors(batch):
        pieces = [_masked_mean(encoder(read(some.tokens), some.mask[:, None, None])[0], some.mask) for some in batch]
        return torch.cat(pieces)

    model = LogisticRegression(C=way["C"], max_iter=1000)
    model.fit(vectors(_pieces(train)), train.label)
    return torch.from_numpy(model.predict(vectors(_pieces(test))))


def by_training(name: str, train: Reviews, test: Reviews, way: dict, seed: int) -> Tensor:
    """What a model says that was trained with the padding masked."""
    model = make_model(name)
    generator = torch.Generator().manual_seed(seed)
    training.train(
        model,
        lambda: train[torch.randint(len(train), (SETTINGS["batch"],), generator=generator)],
        lambda model, batch: F.cross_entropy(model(batch.tokens)[0], batch.label),
        **way,
        every=way["steps"],
    )
    with torch.no_grad():
        return model(test.tokens)[0].argmax(1)


LEARNERS = {"mean of word vectors": MeanOfWords, "one-way GRU": OneWayGRU, "dilated convolutions": Convolutions}


def make_model(name: str) -> nn.Module:
    """One that returns logits and something else."""
    if name in LEARNERS:
        return LEARNERS[name]()
    return poolings.Pooled("mean", causal=False, attention=even_weights if name == "even weights" else None)


def _texts(batch: Reviews) -> list[str]:
    return [" ".join(batch.words(row)) for row in range(len(batch))]


def _pieces(batch: Reviews) -> list[Reviews]:
    return [batch[start : start + 500] for start in range(0, len(batch), 500)]


def _masked_mean(tokens: Tensor, mask: Tensor) -> Tensor:
    return (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


def _share(right: Tensor) -> float:
    return round(right.float().mean().item(), 4)
