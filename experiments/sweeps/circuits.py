"""Models of attention alone on repeated sequences, one block against two; and the character model with fewer heads."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, tasks
from attention_course.course import checkpoints, training
from attention_course.interpreting import circuits

COMMON = {
    "n_symbols": 26,
    "length": 32,
    "periods": [8, 16],
    "test_period": 16,
    "test_sequences": 200,
    "test_seed": 1000,
    "n_blocks": 2,
    "n_heads": 4,
    "d_model": 64,
    "batch": 32,
    "steps": 800,
    "peak_lr": 0.005,
}
# Each model: the settings that differ from COMMON.
MODELS = [
    {"n_blocks": 1},
    {"n_blocks": 1, "steps": 4000},
    {"n_blocks": 1, "n_heads": 8, "d_model": 128},
    {"n_blocks": 1, "n_heads": 8, "d_model": 128, "steps": 4000},
    {},
]
VARIED = ("n_blocks", "n_heads", "d_model", "steps")
SEEDS = list(range(10))
SHOWN = {"period": 8, "length": 12, "seed": 3}  # the sequence that the page's first picture shows
PRUNED = {"window": 128, "n_windows": 60, "seed": 0, "orders": [0, 1, 2]}


class AttentionOnly(nn.Module):
    """The model that the page defines: symbols and learned positions, blocks of attention alone, no norm, no bias."""

    def __init__(self, n_blocks: int, n_heads: int = 4, d_model: int = 64):
        super().__init__()
        self.symbol = nn.Embedding(COMMON["n_symbols"], d_model)
        self.position = nn.Embedding(COMMON["length"], d_model)
        self.blocks = nn.ModuleList(MultiHeadAttention(d_model, n_heads, bias=False) for _ in range(n_blocks))
        self.logits = nn.Linear(d_model, COMMON["n_symbols"], bias=False)

    def forward(self, symbols: Tensor, need_weights: bool = False):
        """Logits `(batch, n, n_symbols)`, and each block's weights."""
        stream = self.symbol(symbols) + self.position.weight[: symbols.size(1)]
        all_weights = []
        for block in self.blocks:
            added, weights = block(stream, causal=True, need_weights=need_weights)
            stream = stream + added
            all_weights.append(weights)
        return self.logits(stream), all_weights


def run() -> dict:
    """Train every model with every seed, and prune the character model."""
    results = []
    for changes in MODELS:
        settings = COMMON | changes
        for seed in SEEDS:
            model = _train(settings, seed)
            scores = _test(model)
            print(changes, seed, scores, flush=True)
            results.append({name: settings[name] for name in VARIED} | {"seed": seed} | scores)
            if changes == {} and seed == SEEDS[0]:
                shown = _show(model)
    return {"settings": COMMON, "shown": SHOWN | shown, "results": results, "pruning": PRUNED | _prune()}


def _train(settings: dict, seed: int) -> AttentionOnly:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = AttentionOnly(settings["n_blocks"], settings["n_heads"], settings["d_model"])
    shortest, longest = settings["periods"]

    def make():
        periods = torch.randint(shortest, longest + 1, (4,), generator=generator).tolist()
        sizes = settings["batch"] // 4, settings["n_symbols"]
        length = settings["length"] + 1
        return torch.cat([circuits.repeated_sequences(*sizes, period, length, generator) for period in periods])

    def loss(model, symbols):
        logits, _ = model(symbols[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), symbols[:, 1:].flatten())

    steps = settings["steps"]
    training.train(model, make, loss, steps=steps, peak_lr=settings["peak_lr"], every=steps)
    return model


@torch.no_grad()
def _test(model: AttentionOnly) -> dict:
    """Bits a symbol in the first and in the second period, and the best heads' scores."""
    period, length = COMMON["test_period"], COMMON["length"]
    generator = torch.Generator().manual_seed(COMMON["test_seed"])
    symbols = circuits.repeated_sequences(COMMON["test_sequences"], COMMON["n_symbols"], period, length, generator)
    logits, weights = model(symbols, need_weights=True)
    bits = F.cross_entropy(logits[:, :-1].transpose(1, 2), symbols[:, 1:], reduction="none") / math.log(2)
    heads = torch.cat(weights, 1).mean(0)
    return {
        "first": round(bits[:, : period - 1].mean().item(), 4),
        "second": round(bits[:, period:].mean().item(), 4),
        "induction": round(circuits.induction_score(heads, period).max().item(), 4),
        "previous": round(circuits.previous_token_score(heads[:, :period, :period]).max().item(), 4),
    }


@torch.no_grad()
def _show(model: AttentionOnly) -> dict:
    """The maps of the previous-token head and of the induction head on one sequence, and what the model says next."""
    generator = torch.Generator().manual_seed(SHOWN["seed"])
    symbols = circuits.repeated_sequences(1, COMMON["n_symbols"], SHOWN["period"], SHOWN["length"], generator)
    logits, (first, second) = model(symbols, need_weights=True)
    previous = circuits.previous_token_score(first[0, :, : SHOWN["period"], : SHOWN["period"]]).argmax().item()
    induction = circuits.induction_score(second[0], SHOWN["period"]).argmax().item()
    share, said = logits[0, -1].softmax(-1).max(-1)
    return {
        "symbols": symbols[0].tolist(),
        "heads": [previous, induction],
        "previous": _rounded(first[0, previous]),
        "induction": _rounded(second[0, induction]),
        "said": said.item(),
        "share": round(share.item(), 4),
    }


def _rounded(table: Tensor) -> list:
    return [[round(number, 4) for number in row] for row in table.tolist()]


@torch.no_grad()
def _prune() -> dict:
    """Take heads from the character model one by one: always the least missed on the text it learned from; at random.

    The bits are those of held-out text, the second half of each window.
    """
    model, _ = checkpoints.load_character_model("causal")
    layers = circuits.attention_layers(model)
    text = tasks.python_help()
    generator = torch.Generator().manual_seed(PRUNED["seed"])
    sizes = PRUNED["n_windows"], PRUNED["window"], generator
    chosen_on, measured_on = tasks.windows(text.train, *sizes), tasks.windows(text.validation, *sizes)

    def bits(symbols, removed):
        half = PRUNED["window"] // 2
        with circuits.without_heads(layers, removed):
            logits, _ = model(symbols)
        return F.cross_entropy(logits[:, half:-1].flatten(0, 1), symbols[:, half + 1 :].flatten()).item() / math.log(2)

    left = [(layer, head) for layer in range(len(layers)) for head in range(layers[0].n_heads)]
    greedy: list[tuple[int, int]] = []
    while left:
        least = min(left, key=lambda head: bits(chosen_on, [*greedy, head]))
        left.remove(least)
        greedy.append(least)
        print("removed", greedy, flush=True)
    every_head = sorted(greedy)
    orders = [greedy]
    for seed in PRUNED["orders"]:
        order = torch.randperm(len(every_head), generator=torch.Generator().manual_seed(seed))
        orders.append([every_head[number] for number in order])
    curves = [
        [round(bits(measured_on, order[:removed]), 4) for removed in range(len(every_head) + 1)] for order in orders
    ]
    return {"order": [list(head) for head in greedy], "least_missed": curves[0], "at_random": curves[1:]}
