"""Accuracies for the lesson on classifiers: five poolings on far reviews, and what padding does to a mean."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import causal_mask
from attention_course.course import training
from attention_course.positions import SinusoidalPositions
from attention_course.tasks.negation import PAD, VOCABULARY, Reviews, reviews
from attention_course.transformer import Block

SETTINGS = {
    "d_model": 32,
    "n_heads": 4,
    "n_blocks": 2,
    "n_train": 8000,
    "batch": 32,
    "steps": 600,
    "peak_lr": 0.005,
    "test_examples": 2000,
    "test_seed": 1000,
    "pads": [0, 4, 16, 64, 256],
    "query_scales": {"small query": 0.02, "random query": 1.0},  # of the numbers it starts at; elsewhere they are zeros
}
# Pooling, whether the blocks are causal, and whether padding is masked in training.
MODELS = [
    ("mean", False, True),
    ("max", False, True),
    ("query", False, True),
    ("small query", False, True),
    ("random query", False, True),
    ("cls", False, True),
    ("last", True, True),
    ("cls", True, True),
    ("mean", False, False),
]
SEEDS = [0, 1, 2, 3, 4]
CLS = len(VOCABULARY)  # a word of its own, which stands in front of each review


class Pooled(nn.Module):
    """The model that the lesson defines: an encoder, a pooling, and logits of two classes."""

    def __init__(self, how: str, causal: bool, attention: Callable | None = None):
        super().__init__()
        self.how, self.causal, d_model = how, causal, SETTINGS["d_model"]
        words = 0.2 * torch.randn(CLS + 1, d_model)
        self.embedding = nn.Embedding.from_pretrained(words, freeze=False)
        self.positions = SinusoidalPositions(d_model)
        self.blocks = nn.ModuleList(
            Block(d_model, SETTINGS["n_heads"], attention=attention) for _ in range(SETTINGS["n_blocks"])
        )
        self.norm = nn.LayerNorm(d_model)
        self.query = nn.Parameter(torch.zeros(d_model))
        self.logits = nn.Linear(d_model, 2)
        nn.init.normal_(self.query, std=SETTINGS["query_scales"].get(how, 0.0))

    def forward(self, symbols: Tensor, forget: tuple[str, ...] = ()) -> tuple[Tensor, Tensor]:
        """Logits `(batch, 2)`, and each token's share in the pooled vector `(batch, n_tokens)`.

        Args:
            symbols: Integers `(batch, n_tokens)`.
            forget: Where the padding mask is left out: `"blocks"`, `"pool"`, both or neither.
        """
        if self.how == "cls":
            symbols = F.pad(symbols, (1, 0), value=CLS)
        real = symbols != PAD
        everything = torch.ones_like(real)
        seen = (everything if "blocks" in forget else real)[:, None, None]
        tokens = self.positions(self.embedding(symbols))
        for block in self.blocks:
            tokens, _ = block(tokens, seen & causal_mask(symbols.size(1)) if self.causal else seen)
        pooled, shares = pool(self.norm(tokens), everything if "pool" in forget else real, self.how, self.query)
        return self.logits(pooled), shares


def pool(tokens: Tensor, mask: Tensor, how: str, query: Tensor) -> tuple[Tensor, Tensor]:
    """One vector for each sequence `(batch, d)`, and each token's share in it `(batch, n_tokens)`."""
    place = torch.arange(mask.size(1))
    if how == "max":
        largest, where = tokens.masked_fill(~mask[..., None], float("-inf")).max(1)
        return largest, F.one_hot(where, mask.size(1)).float().mean(1)
    if how == "cls":
        shares = (place == 0).float().expand(mask.shape)
    elif how == "last":
        shares = (place == mask.sum(1, keepdim=True) - 1).float()
    else:
        scores = torch.zeros(mask.shape) if how == "mean" else tokens @ query
        shares = scores.masked_fill(~mask, float("-inf")).softmax(1)
    return (shares[:, None] @ tokens)[:, 0], shares


def run() -> dict:
    """Train every model with every seed; `{"settings": ..., "results": ...}`."""
    train, test = draw(0, SETTINGS["test_seed"], far=True)
    results = []
    for how, causal, masked in MODELS:
        for seed in SEEDS:
            model = train_one(train, how, causal, masked, seed)
            result = {"pooling": how, "causal": causal, "masked": masked, "seed": seed} | _test(model, test)
            print(result, flush=True)
            results.append(result)
    return {"settings": SETTINGS, "results": results}


def draw(seed: int, test_seed: int, far: bool) -> tuple[Reviews, Reviews]:
    """Reviews to train on, and to test on others that are not among them."""
    train = reviews(SETTINGS["n_train"], torch.Generator().manual_seed(seed), far=far)
    test = reviews(SETTINGS["test_examples"], torch.Generator().manual_seed(test_seed), far=far)
    met = {tuple(train.words(row)) for row in range(len(train))}
    return train, test[torch.tensor([tuple(test.words(row)) not in met for row in range(len(test))])]


def train_one(train: Reviews, how: str, causal: bool, masked: bool, seed: int) -> Pooled:
    """Train a model, with the padding masked everywhere or nowhere."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Pooled(how, causal)
    forget = () if masked else ("blocks", "pool")
    training.train(
        model,
        lambda: train[torch.randint(len(train), (SETTINGS["batch"],), generator=generator)],
        lambda model, batch: F.cross_entropy(model(batch.tokens, forget)[0], batch.label),
        steps=SETTINGS["steps"],
        peak_lr=SETTINGS["peak_lr"],
        every=SETTINGS["steps"],
    )
    return model


@torch.no_grad()
def _test(model: Pooled, test: Reviews) -> dict:
    """Accuracy with the mask, on all and on mixed reviews; for a mean also with pads that are not masked."""
    logits, shares = model(test.tokens)
    on_gold = (shares[:, -test.gold.size(1) :] * test.gold).sum(1)
    scores = {
        "right": _share_right(logits, test.label),
        "mixed": _share_right(logits[test.mixed], test.label[test.mixed]),
        "share of deciding words": round(on_gold.mean().item(), 4),
    }
    if model.how == "mean":
        scores["right when padded"] = _share_right(model(test.tokens, ("blocks", "pool"))[0], test.label)
        places = {
            "forgotten in the pooling": ("pool",),
            "forgotten in the blocks": ("blocks",),
            "forgotten": ("blocks", "pool"),
        }
        for name, forget in places.items():
            scores[name] = [_right_with_pads(model, test, pads, forget) for pads in SETTINGS["pads"]]
    return scores


def _right_with_pads(model: Pooled, test: Reviews, pads: int, forget: tuple[str, ...]) -> float:
    """Accuracy with so many pads behind each review; those of one length make a batch."""
    right, lengths = 0, test.mask.sum(1)
    for length in lengths.unique().tolist():
        rows = test[lengths == length]
        logits, _ = model(F.pad(rows.tokens[:, :length], (0, pads)), forget)
        right += (logits.argmax(1) == rows.label).sum().item()
    return round(right / len(test), 4)


def _share_right(logits: Tensor, labels: Tensor) -> float:
    return round((logits.argmax(1) == labels).float().mean().item(), 4)
