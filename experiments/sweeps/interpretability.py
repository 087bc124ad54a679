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
    "scored_examples": 100,  # of which the methods are asked
    "test_seed": 1000,
    "untrained_seed": 500,  # and the model's own: of the untrained model whose scores are compared
}
# Number of blocks, and the penalty: what each unit of the question's weight on a coin costs in training.
MODELS = {"one block": (1, 0.0), "two blocks": (2, 0.0), "penalised": (2, 1.0)}
SEEDS = list(range(10))
EXAMPLE = ("two blocks", 3)  # the model whose scores of single drawers are recorded
SCORE_STEPS, UNTRAINED_STEPS = 200, 50  # of integrated gradients, in a trained model and in an untrained one
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
            models.append({"model": name, "seed": seed} | describe(model))
            models[-1] |= baseline_and_gaps(model) if name == "two blocks" else {}
            results += (scores := _score(name, seed, model))
            print(models[-1], {score["method"]: score["found_different"] for score in scores}, flush=True)
            if (name, seed) == EXAMPLE:
                examples = _examples(model)
    settings = SETTINGS | {"models": MODELS, "seeds": SEEDS}
    return {"settings": settings, "models": models, "results": results, "examples": examples}


def train(name: str, seed: int) -> Judge:
    n_blocks, penalty = MODELS[name]
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Judge(n_blocks, SETTINGS["d_model"], SETTINGS["n_heads"])

    def loss(model: Judge, drawers: tasks.Drawers) -> Tensor:
        answer, maps = model(drawers.tokens)
        right = F.binary_cross_entropy_with_logits(answer, drawers.same.float())
        looks = [(weights[:, :, -1] * drawers.gold[:, None]).sum(-1).mean() for weights in maps]
        return right + penalty * sum(looks)

    training.train(
        model,
        lambda: tasks.two_coins(SETTINGS["batch"], generator),
        loss,
        steps=SETTINGS["steps"],
        peak_lr=SETTINGS["peak_lr"],
    )
    return model


def everywhere(model: Judge, tokens: Tensor, word: Tensor) -> Tensor:
    """The same embedding at every place, and the question as it is."""
    x = model.embedding(tokens).detach()
    x[:, :-1] = word
    return x


def average_thing(model: Judge, tokens: Tensor) -> Tensor:
    """A baseline: the average thing at every place."""
    return everywhere(model, tokens, _things(model).mean(0))


def substitutes(model: Judge, tokens: Tensor) -> dict[str, Tensor]:
    """What may be put in the place of a word."""
    of = {"zeros": torch.zeros(SETTINGS["d_model"]), "average thing": _things(model).mean(0)}
    of["average coin"] = model.embedding.weight[: len(FACES)].detach().mean(0)
    return {name: everywhere(model, tokens, word) for name, word in of.items()}


def _things(model: Judge) -> Tensor:
    return model.embedding.weight[len(FACES) : len(FACES) + len(THINGS)].detach()


@torch.no_grad()
def describe(model: Judge) -> dict:
    """What a model does with its test drawers.

    Returns:
        Its `accuracy`; the mean size of its logits; how many coins of 100 drawers turn no answer when exchanged for the
        other face, and how many things turn one; the share of drawers it calls the same when both coins are hidden; its
        accuracy when coins are hidden from its question in all blocks, and when they are hidden from all other tokens
        in the first; for each block, the share of each face that the question's weights find in drawers with
        different coins; how much of a coin's gradient points along its embedding (the cosine's size); and in 100
        drawers the share of things whose erasure turns the answer, by what is put in their place.
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
        "things_erased_turn": things_erased(model, few),
    }


@torch.no_grad()
def things_erased(model: Judge, drawers: tasks.Drawers) -> dict[str, float]:
    """The share of things whose erasure turns the answer, for each way to erase."""
    tokens = drawers.tokens
    x, said = model.embedding(tokens), model(tokens)[0] > 0
    ways = {"mask": None} | substitutes(model, tokens)
    turned = {way: [] for way in ways}
    for place in range(N_TOKENS - 1):
        for way, instead in ways.items():
            there, changed = torch.ones_like(tokens, dtype=torch.bool), x.clone()
            if instead is None:
                there[:, place] = False
            else:
                changed[:, place] = instead[:, place]
            turns = (model.read(changed, there)[0] > 0) != said
            turned[way].append(turns[~drawers.gold[:, place]])
    return {way: _share(torch.cat(turns)) for way, turns in turned.items()}


def baseline_and_gaps(model: Judge) -> dict:
    """What a model answers to two baselines (the same in every drawer), and how far integrated gradients of the first
    20 test drawers are from adding up: the mean size of what their sum misses, in shares of the mean size of what it
    should be, for each number of steps."""

    def answer(x: Tensor) -> Tensor:
        return model.read(x)[0]

    drawers = _test_drawers()[:20]
    x, instead = model.embedding(drawers.tokens).detach(), substitutes(model, drawers.tokens)
    found = {}
    for name, baseline in {"baseline": instead["average thing"], "zeros": instead["zeros"]}.items():
        with torch.no_grad():
            at_baseline = answer(baseline)
            difference = answer(x) - at_baseline
        found[name] = round(at_baseline.mean().item(), 2)
        for steps in STEPS:
            missed = interpret.integrated_gradients(answer, x, baseline, steps).sum(1) - difference
            gap = "gap" if name == "baseline" else "zeros_gap"
            found[f"{gap}_{steps}"] = round((missed.abs().mean() / difference.abs().mean()).item(), 5)
    return found


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
    """What each method finds, how far its two highest words are comprehensive and sufficient, and how much its order
    is that of a model that was not trained. The coins themselves and random scores are measured beside the methods."""
    drawers = _test_drawers()[: SETTINGS["scored_examples"]]
    scores = comparison.every_method(model, drawers.tokens, average_thing(model, drawers.tokens), SCORE_STEPS)
    torch.manual_seed(SETTINGS["untrained_seed"] + seed)
    untrained = Judge(len(model.encoder.blocks), SETTINGS["d_model"], SETTINGS["n_heads"])
    few = drawers[:50].tokens
    controls = comparison.every_method(untrained, few, average_thing(untrained, few), UNTRAINED_STEPS)
    scores |= {"the two coins": drawers.gold.float(), "chance": torch.rand(drawers.gold.shape)}
    results = []
    for method, score in scores.items():
        found = comparison.share_found(score[:, :-1], drawers.gold[:, :-1])  # the question is no candidate
        numbers = {"found": found} | two_words(model, drawers, score)
        if method in controls:
            numbers["order"] = comparison.same_order(score[:50, :-1], controls[method][:, :-1])
        shares = {}
        for what, share in numbers.items():
            same, different = share[drawers.same[: len(share)]], share[~drawers.same[: len(share)]]
            parts = {what: share} if what == "order" else {f"{what}_same": same, f"{what}_different": different}
            shares |= {part: round(values.mean().item(), 4) for part, values in parts.items()}
        results.append({"model": name, "seed": seed, "method": method} | shares)
    return results


@torch.no_grad()
def two_words(model: Judge, drawers: tasks.Drawers, scores: Tensor) -> dict[str, Tensor]:
    """By how much the probability of a model's answer falls without the two words of the highest scores
    (`comprehensiveness`), and with them and the question alone (`sufficiency`): `(batch,)` each."""
    top = torch.zeros_like(drawers.gold)
    top[:, :-1] = _highest(scores[:, :-1], 2)
    only = top.clone()
    only[:, -1] = True
    whole = model(drawers.tokens)[0]
    sign = whole.sign()

    def fall(mask: Tensor) -> Tensor:
        return whole.abs().sigmoid() - (sign * model(drawers.tokens, mask)[0]).sigmoid()

    return {"comprehensiveness": fall(~top), "sufficiency": fall(only)}


def _examples(model: Judge) -> dict[str, dict]:
    """The first test drawers whose coins are equal and different: their words, and the scores of each method."""
    drawers = _test_drawers()
    return {
        "same": _example(model, drawers[drawers.same][:1]),
        "different": _example(model, drawers[~drawers.same][:1]),
    }


def _example(model: Judge, drawer: tasks.Drawers) -> dict:
    scores = comparison.every_method(model, drawer.tokens, average_thing(model, drawer.tokens), SCORE_STEPS)
    return {
        "words": drawer.words(0),
        "gold": drawer.gold[0].tolist(),
        "scores": {method: [round(number, 5) for number in score[0].tolist()] for method, score in scores.items()},
    }


def _test_drawers() -> tasks.Drawers:
    return tasks.two_coins(SETTINGS["test_examples"], torch.Generator().manual_seed(SETTINGS["test_seed"]))
