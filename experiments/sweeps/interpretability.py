"""Which methods find the two coins that decide a trained model's answer: for the chapter on interpretability."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import tasks
from attention_course.course import training
from attention_course.interpreting import comparison, interpret
from attention_course.tasks.coins import FACES, N_TOKENS, THINGS, VOCABULARY
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
SEEDS = list(range(10))
EXAMPLE = ("two blocks", 3)  # the model whose scores of single drawers are recorded
STEPS = [32, 1000]  # of integrated gradients, whose sums are compared with what they should add up to


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
    """Train every model with every seed and score every method on it.

    Returns:
        `{"settings": ..., "models": what each does, "results": what each method finds in each, "examples": what each
        says about a drawer of equal and one of different coins}`.
    """
    models, results, examples = [], [], None
    for name in MODELS:
        for seed in SEEDS:
            model = train(name, seed)
            models.append({"model": name, "seed": seed} | describe(model) | baseline_and_gaps(model))
            results += (scores := _score(name, seed, model))
            print(models[-1], {score["method"]: score["found"] for score in scores}, flush=True)
            if (name, seed) == EXAMPLE:
                examples = _examples(model)
    settings = SETTINGS | {"models": MODELS, "seeds": SEEDS}
    return {"settings": settings, "models": models, "results": results, "examples": examples}


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


@torch.no_grad()
def describe(model: Judge) -> dict:
    """What a model does with its test drawers.

    Returns:
        Its `accuracy`; the mean size of its logits; how many coins of 100 drawers turn no answer when exchanged for the
        other face, and how many things turn one; the share of drawers it calls the same when both coins are hidden; its
        accuracy when coins are hidden from its question in all blocks, and when they are hidden from all other tokens
        in the first; for each block, the share of each face that the question's weights find in drawers with
        different coins; and how much of a coin's gradient points along its embedding (the cosine's size).
    """
    drawers = _test_drawers()
    tokens, gold, different = drawers.tokens, drawers.gold, ~drawers.same
    logits, maps = model(tokens)
    few = drawers[:100]
    kinds = torch.tensor([0] * len(FACES) + [1] * len(THINGS) + [2])
    turns = interpret.exchange(lambda tokens: model(tokens)[0], few.tokens, kinds)
    question, others = torch.ones(2, len(tokens), 1, N_TOKENS, N_TOKENS, dtype=torch.bool)
    question[:, 0, -1] = ~gold
    others[:, 0, :-1] = ~gold[:, None] | torch.eye(N_TOKENS, dtype=torch.bool)[:-1]
    everything = torch.ones_like(question)
    last_blocks = len(model.encoder.blocks) - 1

    def accuracy(logits: Tensor) -> float:
        return _share((logits > 0) == drawers.same)

    chosen = [_highest(weights.mean(1)[different, -1, :-1], 2) for weights in maps]
    x = model.embedding(tokens)
    with torch.enable_grad():
        gradients = interpret.gradients(lambda x: model.read(x)[0], x)
    return {
        "accuracy": accuracy(logits),
        "mean_logit": round(logits.abs().mean().item(), 2),
        "coins_that_turn_nothing": (few.gold & ~turns).sum().item(),
        "things_that_turn_it": (turns & ~few.gold).sum().item(),
        "same_without_coins": _share(model(tokens, ~gold)[0] > 0),
        "question_blind": accuracy(masked(model, tokens, [question] * (last_blocks + 1))),
        "others_blind": accuracy(masked(model, tokens, [others] + [everything] * last_blocks)),
        "faces_found": [
            [_share(block[tokens[different, :-1] == face]) for face in range(len(FACES))] for block in chosen
        ],
        "gradient_along_coin": F.cosine_similarity(gradients, x, dim=-1)[gold].abs().mean().item(),
    }


def baseline_and_gaps(model: Judge) -> dict:
    """What a model answers to the baseline (the same in every drawer), and how far integrated gradients of the first 50
    test drawers are from adding up: the mean size of what their sum misses, in shares of the mean size of what it
    should be, for each number of steps."""

    def answer(x: Tensor) -> Tensor:
        return model.read(x)[0]

    drawers = _test_drawers()[:50]
    x, baseline = model.embedding(drawers.tokens).detach(), average_thing(model, drawers.tokens)
    with torch.no_grad():
        at_baseline = answer(baseline)
        difference = answer(x) - at_baseline
    sums = {steps: interpret.integrated_gradients(answer, x, baseline, steps).sum(1) for steps in STEPS}
    gaps = {
        f"gap_{steps}": round(((total - difference).abs().mean() / difference.abs().mean()).item(), 5)
        for steps, total in sums.items()
    }
    return {"baseline": round(at_baseline.mean().item(), 2)} | gaps


def masked(model: Judge, tokens: Tensor, masks: list[Tensor]) -> Tensor:
    """The model's logits with a mask of its own for each block, `(batch, 1, n, n)`."""
    x = model.embedding(tokens)
    for block, mask in zip(model.encoder.blocks, masks, strict=True):
        x, _ = block(x, mask)
    return model.readout(model.encoder.norm(x)[:, -1]).squeeze(-1)


def _highest(scores: Tensor, count: int) -> Tensor:
    return torch.zeros_like(scores, dtype=torch.bool).scatter_(1, scores.topk(count).indices, True)


def _share(yes: Tensor) -> float:
    return round(yes.float().mean().item(), 4)


def _score(name: str, seed: int, model: Judge) -> list[dict]:
    drawers = _test_drawers()
    scores = comparison.every_method(model, drawers.tokens, average_thing(model, drawers.tokens))
    results = []
    for method, score in scores.items():
        found = comparison.share_found(score[:, :-1], drawers.gold[:, :-1])  # the question is no candidate
        shares = {"found": found, "found_same": found[drawers.same], "found_different": found[~drawers.same]}
        shares = {what: round(share.mean().item(), 4) for what, share in shares.items()}
        results.append({"model": name, "seed": seed, "method": method} | shares)
    return results


def _examples(model: Judge) -> dict[str, dict]:
    """The first test drawers whose coins are equal and different: their words, and the scores of each method."""
    drawers = _test_drawers()
    return {
        "same": _example(model, drawers[drawers.same][:1]),
        "different": _example(model, drawers[~drawers.same][:1]),
    }


def _example(model: Judge, drawer: tasks.Drawers) -> dict:
    scores = comparison.every_method(model, drawer.tokens, average_thing(model, drawer.tokens))
    return {
        "words": drawer.words(0),
        "gold": drawer.gold[0].tolist(),
        "scores": {method: [round(number, 5) for number in score[0].tolist()] for method, score in scores.items()},
    }


def _test_drawers() -> tasks.Drawers:
    return tasks.two_coins(SETTINGS["test_examples"], torch.Generator().manual_seed(SETTINGS["test_seed"]))
