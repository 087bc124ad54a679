"""Does the text begin with a 1? Asked far beyond the trained length: for the page on limits."""

import torch
import torch.nn.functional as F
from formal_languages import Recurrent, Transformer
from torch import Tensor, nn

from attention_course.course import training

SETTINGS = {
    "train_length": 32,
    "places": [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    "batch": 32,
    "peak_lr": 0.003,
    "test_pairs": 20,
    "test_seed": 1000,
}
# Model and steps of training.
MODELS = [("transformer", 60), ("transformer", 240), ("gru", 240)]
SEEDS = [0, 1, 2, 3, 4]


def texts(n_examples: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random bits, and after each of them what the first one was: both `(n_examples, length)`."""
    bits = torch.randint(2, (n_examples, length), generator=generator)
    return bits, bits[:, :1].expand(-1, length)


def run() -> dict:
    """Train both models with every seed; `{"settings": ..., "results": ...}`."""
    results = []
    for kind, steps in MODELS:
        for seed in SEEDS:
            results.append({"model": kind, "steps": steps, "seed": seed} | test(train(kind, steps, seed)))
            print(results[-1], flush=True)
    return {"settings": SETTINGS | {"seeds": SEEDS}, "results": results}


def train(kind: str, steps: int, seed: int) -> nn.Module:
    """Train one model on short texts."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Recurrent(2, 2) if kind == "gru" else Transformer(2, 2, n_blocks=2, rotary=False)

    def next_batch():
        return texts(SETTINGS["batch"], SETTINGS["train_length"], generator)

    def loss(model, batch):
        bits, first = batch
        return F.cross_entropy(model(bits).flatten(0, 1), first.flatten())

    training.train(model, next_batch, loss, steps=steps, peak_lr=SETTINGS["peak_lr"], every=steps)
    return model


@torch.no_grad()
def test(model: nn.Module) -> dict:
    """Test texts that begin with 0, and the same with a 1 instead, after as many symbols as `places` say.

    Returns:
        The share of right answers, the cross-entropy in bits, and how far the first bit moves the probability of a 1.
    """
    generator = torch.Generator().manual_seed(SETTINGS["test_seed"])
    bits, _ = texts(SETTINGS["test_pairs"], max(SETTINGS["places"]), generator)
    asked = torch.tensor(SETTINGS["places"]) - 1
    logits = []
    for first in (0, 1):
        bits[:, 0] = first
        logits.append(torch.cat([model(some)[:, asked] for some in bits.split(5)]))
    logs = torch.stack(logits).log_softmax(-1)  # (2, pairs, places, 2)
    right = torch.stack([logs[first, ..., first] for first in (0, 1)])
    scores = {
        "accuracy": (right.exp() > 0.5).float().mean((0, 1)),
        "bits": -right.mean((0, 1)) / torch.tensor(2.0).log(),
        "moved": (logs[1, ..., 1].exp() - logs[0, ..., 1].exp()).abs().mean(0),
    }
    return {name: [round(x, 4) + 0.0 for x in score.tolist()] for name, score in scores.items()}
