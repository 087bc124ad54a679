"""Recall against the number of things to choose from, for attention and its variants, for the page on recall."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, scaled_dot_product_attention, tasks
from attention_course.course import training
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.linformer import LinformerAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.efficient.performer import PerformerAttention
from attention_course.efficient.reformer import LSHAttention

COMMON = {
    "n_letters": 8,
    "d_model": 32,
    "n_features": 64,
    "rank": 16,
    "window": 4,
    "bucket_size": 8,
    "n_rounds": 2,
    "batch": 64,
    "steps": 400,
    "peak_lr": 0.01,
    "test_examples": 500,
    "test_seed": 1000,
}
N_PEOPLE = [8, 16, 32, 64]
MECHANISMS = ["exact", "linear", "Performer", "Linformer", "window"]
# A second chance for those that fall behind: twice as wide, or three times as long.
CHANCES = [
    {"mechanism": mechanism, "n_people": 32} | change
    for mechanism, change in (
        ("linear", {"d_model": 64}),
        ("linear", {"steps": 1200}),
        ("Performer", {"d_model": 64}),
        ("Linformer", {"d_model": 64}),
    )
]
# Hashing needs queries and keys to be one projection; what that costs by itself is seen on exact attention.
ONE_PROJECTION = [{"mechanism": name, "n_people": 32} for name in ("exact, one projection", "LSH")]
SEEDS = [0, 1, 2]


class Reader(nn.Module):
    """One attention layer of one head, and a linear readout: whose letter is asked for?"""

    def __init__(self, n_people: int, d_model: int, n_letters: int, attention):
        super().__init__()
        self.name = nn.Embedding(2 * n_people, d_model)
        self.letter = nn.Embedding(n_letters, d_model)
        self.asked = nn.Embedding(2 * n_people, d_model)
        self.attention = MultiHeadAttention(d_model, 1, attention=attention)
        self.readout = nn.Linear(d_model, n_letters)

    def forward(self, people: tasks.RelatedLetters) -> Tensor:
        """Logits `(batch, n_people, n_letters)`."""
        tokens = self.name(people.name) + self.letter(people.letter) + self.asked(people.asked[..., 0])
        attended, _ = self.attention(tokens)
        return self.readout(attended)


def make_mechanism(name: str, n_people: int, settings: dict):
    """The attention of that name, drawn from PyTorch's own generator where it is random."""
    return {
        "exact": lambda: scaled_dot_product_attention,
        "linear": lambda: LinearAttention(),
        "Performer": lambda: PerformerAttention(settings["d_model"], settings["n_features"]),
        "Linformer": lambda: LinformerAttention(n_people, settings["rank"]),
        "window": lambda: LongformerAttention(settings["window"]),
        "exact, one projection": lambda: scaled_dot_product_attention,
        "LSH": lambda: LSHAttention(settings["bucket_size"], settings["n_rounds"]),
    }[name]()


def run() -> dict:
    """Train every mechanism with every number of people and seed; `{"settings": ..., "results": ...}`."""
    models = [{"mechanism": name, "n_people": n} for name in MECHANISMS for n in N_PEOPLE]
    models += CHANCES + ONE_PROJECTION
    results = []
    for model in models:
        settings = COMMON | model
        for seed in SEEDS:
            score = _train_and_test(settings, seed)
            print(model, seed, score, flush=True)
            varied = {name: settings[name] for name in ("mechanism", "n_people", "d_model", "steps")}
            results.append(varied | {"seed": seed, "right": score})
    return {"settings": COMMON, "results": results}


def _train_and_test(settings: dict, seed: int) -> float:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    n_people = settings["n_people"]
    attention = make_mechanism(settings["mechanism"], n_people, settings)
    model = Reader(n_people, settings["d_model"], settings["n_letters"], attention)

    if settings["mechanism"] in ("exact, one projection", "LSH"):
        model.attention.key_proj = model.attention.query_proj

    def make(n_examples, generator):
        return tasks.related_letters(n_examples, n_people, 2 * n_people, settings["n_letters"], 1, generator)

    training.train(
        model,
        lambda: make(settings["batch"], generator),
        lambda model, people: F.cross_entropy(model(people).flatten(0, 1), people.target.flatten()),
        steps=settings["steps"],
        peak_lr=settings["peak_lr"],
        every=settings["steps"],
    )
    people = make(settings["test_examples"], torch.Generator().manual_seed(settings["test_seed"]))
    with torch.no_grad():
        right = model(people).argmax(-1) == people.target[..., 0]
    return round(right.float().mean().item(), 4)
