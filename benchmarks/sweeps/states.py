"""What attention layers with states, windows and choices of their own remember, for the page on states.

Each of eight causal layers, of one width and with as many heads, goes into two models: one layer that looks letters up
by name (`tasks.related_letters`, in order of time), and a language model of two blocks. Each tries three learning
rates, and in the language model with each of them three ways to tell positions. The best of these short runs tells how
the others are made, which are short and long.
"""

from concurrent.futures import ProcessPoolExecutor

import _text
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, tasks, training
from attention_course.efficient.gated_delta import GatedDeltaNet
from attention_course.efficient.gated_linear import GatedLinearAttention
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.retention import MultiScaleRetention
from attention_course.efficient.sinks import SinkAttention
from attention_course.efficient.top_k import TopKAttention
from attention_course.language_model import CausalLanguageModel
from attention_course.mechanism import AttentionLayer
from attention_course.positions import SinusoidalPositions, rotate

SETTINGS = {
    "d_model": 64,
    "n_heads": 4,
    "window": 16,
    "n_sinks": 4,
    "k": 16,
    "peak_lrs": [0.003, 0.01, 0.03],
    "few_steps": 250,
    "many_steps": 1500,
    "recall": {"n_letters": 8, "questions": 1024, "test_questions": 25_600, "test_seed": 1000},
    "text": {"n_layers": 2, "batch": 16, "n_tokens": 128},
}
MECHANISMS = ["softmax", "window with sinks", "linear", "decay", "gate", "delta", "gated delta", "top-k"]
N_PAIRS = [8, 32]
POSITIONS = ["none", "added", "rotated"]  # added to the tokens, or queries and keys rotated by them
SEEDS = [0, 1, 2]


def make_layer(name: str) -> AttentionLayer:
    """The causal layer of that name."""
    sizes = SETTINGS["d_model"], SETTINGS["n_heads"]
    return {
        "softmax": lambda: MultiHeadAttention(*sizes, bias=False),
        "window with sinks": lambda: SinkAttention(*sizes, SETTINGS["window"], n_sinks=SETTINGS["n_sinks"]),
        "linear": lambda: MultiHeadAttention(*sizes, bias=False, attention=LinearAttention(causal=True)),
        "decay": lambda: MultiScaleRetention(*sizes),
        "gate": lambda: GatedLinearAttention(*sizes),
        "delta": lambda: GatedDeltaNet(*sizes, gated=False),
        "gated delta": lambda: GatedDeltaNet(*sizes),
        "top-k": lambda: TopKAttention(*sizes, SETTINGS["k"]),
    }[name]()


class RotatedLinear(nn.Linear):
    """A projection to queries or keys that turns each by its place in the sequence, in any layer."""

    def forward(self, tokens: Tensor) -> Tensor:
        """`(batch, n_tokens, d_model)` to the same."""
        heads = super().forward(tokens).unflatten(-1, (SETTINGS["n_heads"], -1)).transpose(1, 2)
        return rotate(heads, torch.arange(tokens.size(1))).transpose(1, 2).flatten(2)


def make_language_model(name: str, n_symbols: int, positions: str) -> CausalLanguageModel:
    """An untrained model with the layer of that name."""
    width, layer = SETTINGS["d_model"], make_layer(name)
    if positions == "rotated":
        layer.query_proj, layer.key_proj = (RotatedLinear(width, width, bias=False) for _ in range(2))
    added = SinusoidalPositions(width) if positions == "added" else None
    n_heads, n_layers = SETTINGS["n_heads"], SETTINGS["text"]["n_layers"]
    return CausalLanguageModel(n_symbols, width, n_heads, n_layers, positions=added, attention=layer)


class Reader(nn.Module):
    """One causal layer that reads pairs of a name and a letter, and then answers names with their letters."""

    def __init__(self, n_names: int, layer: AttentionLayer):
        super().__init__()
        self.name = nn.Embedding(n_names, layer.d_model)
        self.letter = nn.Embedding(SETTINGS["recall"]["n_letters"], layer.d_model)
        self.asked = nn.Embedding(n_names, layer.d_model)
        self.layer = layer
        self.readout = nn.Linear(layer.d_model, SETTINGS["recall"]["n_letters"])

    def forward(self, people: tasks.RelatedLetters) -> Tensor:
        """Logits `(batch, n_people, n_letters)`."""
        pairs = self.name(people.name) + self.letter(people.letter)
        questions = self.asked(people.asked[..., 0])
        found, _ = self.layer(torch.cat([pairs, questions], dim=1), causal=True)
        return self.readout(found[:, pairs.size(1) :])


def run() -> dict:
    """Train every layer on every task; `{"settings": ..., "results": ...}`."""
    asked = [{"task": "recall", "n_pairs": n, "mechanism": name} for n in N_PAIRS for name in MECHANISMS]
    asked += [{"task": "text", "mechanism": name} for name in MECHANISMS]
    with ProcessPoolExecutor(2, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        results = [result for found in pool.map(all_runs, asked) for result in found]
    return {"settings": SETTINGS, "results": results}


def all_runs(asked: dict) -> list[dict]:
    """The runs of which the best tells the rate, and then those that are still missing of that one."""
    recalls = asked["task"] == "recall"
    ways = [{"peak_lr": rate} for rate in SETTINGS["peak_lrs"]]
    if not recalls:
        ways = [way | {"positions": told} for way in ways for told in POSITIONS]
    few, many = SETTINGS["few_steps"], SETTINGS["many_steps"]
    tried = [one_run(asked | way | {"steps": few, "seed": SEEDS[0]}) for way in ways]
    best = max(tried, key=lambda run: run["right"]) if recalls else min(tried, key=lambda run: run["bits"])
    chosen = asked | ways[tried.index(best)]
    wanted = [(steps, seed) for steps in (few, many) for seed in SEEDS]
    wanted.remove((few, SEEDS[0]))
    return tried + [one_run(chosen | {"steps": steps, "seed": seed}) for steps, seed in wanted]


def one_run(asked: dict) -> dict:
    """Train once, and say what came of it."""
    result = asked | (recall if asked["task"] == "recall" else text)(asked)
    print(result, flush=True)
    return result


def recall(asked: dict) -> dict:
    """The share of right answers after training."""
    sizes, n_pairs = SETTINGS["recall"], asked["n_pairs"]
    torch.manual_seed(asked["seed"])
    generator = torch.Generator().manual_seed(asked["seed"])
    model = Reader(2 * n_pairs, make_layer(asked["mechanism"]))

    def make(n_questions, generator):
        counts = n_pairs, 2 * n_pairs, sizes["n_letters"], 1  # people, names
        return tasks.related_letters(n_questions // n_pairs, *counts, generator)

    training.train(
        model,
        lambda: make(sizes["questions"], generator),
        lambda model, people: F.cross_entropy(model(people).mT, people.target[..., 0]),
        steps=asked["steps"],
        peak_lr=asked["peak_lr"],
        every=asked["steps"],
    )
    people = make(sizes["test_questions"], torch.Generator().manual_seed(sizes["test_seed"]))
    with torch.no_grad():
        right = model.eval()(people).argmax(-1) == people.target[..., 0]
    return {"right": round(right.float().mean().item(), 4)}


def text(asked: dict) -> dict:
    """Bits per character of held-out text after training, and the number of parameters."""
    sizes, characters = SETTINGS["text"], tasks.python_help()
    torch.manual_seed(asked["seed"])
    generator = torch.Generator().manual_seed(asked["seed"])
    model = make_language_model(asked["mechanism"], len(characters.vocabulary), asked["positions"])
    training.train(
        model,
        lambda: tasks.windows(characters.train, sizes["batch"], sizes["n_tokens"] + 1, generator),
        _text.loss,
        steps=asked["steps"],
        peak_lr=asked["peak_lr"],
        every=asked["steps"],
    )
    bits = _text.bits(model.eval(), characters.validation, sizes["n_tokens"])
    return {"bits": round(bits, 4), "parameters": sum(parameter.numel() for parameter in model.parameters())}
