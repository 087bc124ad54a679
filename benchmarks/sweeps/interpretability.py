"""Which methods find the two coins that decide a trained model's answer: for the chapter on interpretability."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import comparison, tasks, training
from attention_course.tasks.coins import FACES, THINGS, VOCABULARY
from attention_course.transformer import Encoder

SETTINGS = {
    "d_model": 32,
    "n_heads": 4,
    "batch": 64,
    "steps": 300,
    "peak_lr": 0.01,
    "test_examples": 200,
    "test_seed": 1000,
}
# Number of blocks, and what each unit of the question's weight on a coin costs in training.
MODELS = {"one block": (1, 0.0), "two blocks": (2, 0.0), "fined": (2, 1.0)}
SEEDS = [0, 1, 2]
EXAMPLE = ("two blocks", 0)  # the model whose scores of single drawers are recorded


class Judge(nn.Module):
    """The model that the chapter defines: what the question's token has gathered says whether the coins agree."""

    def __init__(self, n_blocks: int, d_model: int = 32, n_heads: int = 4):
        super().__init__()
        self.embedding = nn.Embedding(len(VOCABULARY), d_model)
        self.encoder = Encoder(d_model, n_heads, n_blocks)
        self.readout = nn.Linear(d_model, 1)

    def read(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, list[Tensor]]:
        if mask is not None:
            mask = mask[:, None, None, :]
        x, maps = self.encoder(x, mask, need_weights=True)
        return self.readout(x[:, -1]).squeeze(-1), maps

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, list[Tensor]]:
        return self.read(self.embedding(tokens), mask)


def run() -> dict:
    """Train every model with every seed and score every method; `{"settings": ..., "results": ..., "example": ...}`."""
    results, example = [], None
    for name in MODELS:
        for seed in SEEDS:
            model = train(name, seed)
            results += (scores := _score(name, seed, model))
            print(name, seed, {score["method"]: score["found"] for score in scores}, flush=True)
            if (name, seed) == EXAMPLE:
                example = _example(model)
    return {"settings": SETTINGS | {"models": MODELS, "seeds": SEEDS}, "results": results, "example": example}


def train(name: str, seed: int) -> Judge:
    n_blocks, fine = MODELS[name]
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Judge(n_blocks, SETTINGS["d_model"], SETTINGS["n_heads"])

    def loss(model: Judge, drawers: tasks.Drawers) -> Tensor:
        answer, maps = model(drawers.tokens)
        right = F.binary_cross_entropy_with_logits(answer, drawers.same.float())
        looks = [(weights[:, :, -1] * drawers.gold[:, None]).sum(-1).mean() for weights in maps]
        return right + fine * sum(looks)

    training.train(
        model,
        lambda: tasks.two_coins(SETTINGS["batch"], generator),
        loss,
        steps=SETTINGS["steps"],
        peak_lr=SETTINGS["peak_lr"],
    )
    return model


def average_thing(model: Judge, tokens: Tensor) -> Tensor:
    """A baseline: the average thing at every place, and the question as it is."""
    x = model.embedding(tokens).detach()
    things = model.embedding.weight[len(FACES) : len(FACES) + len(THINGS)].detach()
    x[:, :-1] = things.mean(0)
    return x


def _score(name: str, seed: int, model: Judge) -> list[dict]:
    drawers = _test_drawers()
    with torch.no_grad():
        right = ((model(drawers.tokens)[0] > 0) == drawers.same).float().mean().item()
    scores = comparison.every_method(model, drawers.tokens, average_thing(model, drawers.tokens))
    results = []
    for method, score in scores.items():
        found = comparison.share_found(score[:, :-1], drawers.gold[:, :-1])  # the question is no candidate
        shares = {"found": found, "found_same": found[drawers.same], "found_different": found[~drawers.same]}
        shares = {what: round(share.mean().item(), 4) for what, share in shares.items()}
        results.append({"model": name, "seed": seed, "accuracy": round(right, 4), "method": method} | shares)
    return results


def _example(model: Judge) -> dict:
    """The first test drawer whose coins differ: its words, and the scores of each method."""
    drawers = _test_drawers()
    drawer = drawers[~drawers.same][:1]
    scores = comparison.every_method(model, drawer.tokens, average_thing(model, drawer.tokens))
    return {
        "words": drawer.words(0),
        "gold": drawer.gold[0].tolist(),
        "scores": {method: [round(number, 5) for number in score[0].tolist()] for method, score in scores.items()},
    }


def _test_drawers() -> tasks.Drawers:
    return tasks.two_coins(SETTINGS["test_examples"], torch.Generator().manual_seed(SETTINGS["test_seed"]))
