"""Accuracy against the number of heads, and every chance we could think of for one head, for the multi-head chapter."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, tasks
from attention_course.course import training

COMMON = {
    "n_people": 8,
    "n_names": 16,
    "n_letters": 8,
    "n_relations": 2,
    "n_heads": 1,
    "d_model": 32,
    "d_hidden": 0,
    "batch": 64,
    "steps": 400,
    "peak_lr": 0.01,
    "test_examples": 2000,
    "test_seed": 1000,
}
LONG = 4000
# Each experiment: the settings that differ from COMMON, once for each model to train.
EXPERIMENTS = {
    "heads": [
        # Four relations take longer to learn, with any number of heads.
        {"n_relations": n_relations, "steps": steps, "n_heads": n_heads}
        for n_relations, steps in ((1, 400), (2, 400), (4, 1600))
        for n_heads in (1, 2, 4, 8, 16, 32)
    ],
    "one head": [
        *({"peak_lr": rate} for rate in (0.001, 0.003, 0.01, 0.03)),
        *({"peak_lr": rate, "steps": LONG} for rate in (0.003, 0.01)),
        {"d_model": 128},
    ],
    "one head, nonlinear readout": [{"d_hidden": 128}, {"d_hidden": 128, "steps": LONG}],
    "two heads, three relations": [
        {"n_relations": 3, "n_heads": 2},
        {"n_relations": 3, "n_heads": 2, "steps": LONG},
    ],
    "32 heads": [{"n_heads": 32, "steps": LONG}],
}
VARIED = ("n_relations", "n_heads", "d_model", "d_hidden", "steps", "peak_lr")
SEEDS = [0, 1, 2]


class Reader(nn.Module):
    """The model that the chapter defines: one attention layer and a linear readout."""

    def __init__(self, n_heads: int, n_relations: int = 2, d_model: int = 32):
        super().__init__()
        self.n_relations = n_relations
        self.name = nn.Embedding(COMMON["n_names"], d_model)
        self.letter = nn.Embedding(COMMON["n_letters"], d_model)
        self.asked = nn.Embedding(n_relations * COMMON["n_names"], d_model)
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.readout = nn.Linear(d_model, n_relations * COMMON["n_letters"])

    def forward(self, people: tasks.RelatedLetters) -> Tensor:
        """Logits `(batch, n_people, n_relations, n_letters)`."""
        asked = people.asked + COMMON["n_names"] * torch.arange(self.n_relations)
        tokens = self.name(people.name) + self.letter(people.letter) + self.asked(asked).sum(-2)
        attended, _ = self.attention(tokens)
        return self.readout(attended).unflatten(-1, (self.n_relations, -1))


def run() -> dict:
    """Train every model with every seed; `{"settings": ..., "results": ...}`."""
    results = []
    for experiment, models in EXPERIMENTS.items():
        for changes in models:
            settings = COMMON | changes
            for seed in SEEDS:
                scores = _train_and_test(settings, seed)
                print(experiment, changes, seed, scores["relations"], flush=True)
                varied = {name: settings[name] for name in VARIED}
                results.append({"experiment": experiment, **varied, "seed": seed} | scores)
    return {"settings": COMMON, "results": results}


def _train_and_test(settings: dict, seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    d_model = settings["d_model"]
    model = Reader(settings["n_heads"], settings["n_relations"], d_model)
    if settings["d_hidden"]:
        hidden = nn.Linear(d_model, settings["d_hidden"])
        model.readout = nn.Sequential(hidden, nn.ReLU(), nn.Linear(settings["d_hidden"], model.readout.out_features))

    def make(n_examples, generator):
        sizes = [settings[name] for name in ("n_people", "n_names", "n_letters", "n_relations")]
        return tasks.related_letters(n_examples, *sizes, generator)

    training.train(
        model,
        lambda: make(settings["batch"], generator),
        lambda model, people: F.cross_entropy(model(people).flatten(0, 2), people.target.flatten()),
        steps=settings["steps"],
        peak_lr=settings["peak_lr"],
        every=settings["steps"],
    )
    people = make(settings["test_examples"], torch.Generator().manual_seed(settings["test_seed"]))
    with torch.no_grad():
        right = model(people).argmax(-1) == people.target  # (batch, n_people, n_relations)
    return {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "relations": [round(share, 4) for share in right.float().mean((0, 1)).tolist()],
        "all_right": round(right.all(-1).float().mean().item(), 4),
    }
