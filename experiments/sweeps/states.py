"""What attention layers with states, windows and choices of their own remember, for the page on states.

Each of nine causal layers, of one width and with as many heads, goes into two models: one layer that looks letters up
by name (`tasks.related_letters`, in order of time, and `tasks.changing_letters`, where the newest counts), and a
language model of two blocks. Each tries four learning rates in short runs, and with each of them three ways to tell
positions where the order counts. What was best then is trained longer. What is best after few steps need not be best
after many: the language models try in long runs each way to tell positions, at the rate that was best for it, and then
all rates with the best way.
"""

from concurrent.futures import ProcessPoolExecutor
from operator import itemgetter

import _text
import decay
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, tasks
from attention_course.course import training
from attention_course.efficient.gated_delta import GatedDeltaNet
from attention_course.efficient.gated_linear import GatedLinearAttention
from attention_course.efficient.indexer import Indexer
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
    "peak_lrs": [0.003, 0.01, 0.03, 0.06],
    "few_steps": 250,
    "many_steps": 1500,
    "recall": {"n_letters": 8, "questions": 1024, "test_questions": 25_600, "test_seed": 1000},
    "changing": {"n_names": 16, "n_times": 5},  # the rest as in recall: 8 names of 5 letters and 8 of one, 48 pairs
    "text": {"n_layers": 2, "batch": 16, "n_tokens": 128},
}
MECHANISMS = ["softmax", "window with sinks", "linear", "sum", "decay", "gate", "delta", "gated delta", "top-k"]
N_PAIRS = 32
POSITIONS = ["none", "added", "rotated"]  # added to the tokens, or queries and keys rotated by them
SEEDS = [0, 1, 2]


class Sum(MultiScaleRetention):
    """Retention that forgets nothing: linear attention without positive features and without a normaliser."""

    def gates(self, tokens: Tensor) -> list[Tensor]:
        """Logarithms of 1: `(batch, n_heads, n_tokens, 1)`."""
        return [torch.zeros_like(log_decay) for log_decay in super().gates(tokens)]


def make_layer(name: str) -> AttentionLayer:
    """The causal layer of that name."""
    sizes = SETTINGS["d_model"], SETTINGS["n_heads"]
    return {
        "softmax": lambda: MultiHeadAttention(*sizes, bias=False),
        "window with sinks": lambda: SinkAttention(*sizes, SETTINGS["window"], n_sinks=SETTINGS["n_sinks"]),
        "linear": lambda: MultiHeadAttention(*sizes, bias=False, attention=LinearAttention(causal=True)),
        "sum": lambda: Sum(*sizes),
        "decay": lambda: MultiScaleRetention(*sizes),
        "gate": lambda: GatedLinearAttention(*sizes),
        "delta": lambda: GatedDeltaNet(*sizes, gated=False),
        "gated delta": lambda: GatedDeltaNet(*sizes),
        "top-k": lambda: TopKAttention(*sizes, SETTINGS["k"]),
    }[name]()


def turn(heads: Tensor) -> Tensor:
    """`(batch, n_heads, n_tokens, d_head)`, each token turned by its place in the sequence."""
    return rotate(heads, torch.arange(heads.size(-2)))


class RotatedLinear(nn.Linear):
    """A projection to queries or keys that turns each by its place in the sequence, in any layer."""

    def forward(self, tokens: Tensor) -> Tensor:
        """`(batch, n_tokens, d_model)` to the same."""
        heads = super().forward(tokens).unflatten(-1, (SETTINGS["n_heads"], -1)).transpose(1, 2)
        return turn(heads).transpose(1, 2).flatten(2)


class RotatedIndexer(Indexer):
    """An indexer that knows places, too."""

    def queries(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """As `Indexer`, with its queries turned."""
        query, weight = super().queries(tokens)
        return turn(query), weight

    def keys(self, tokens: Tensor) -> Tensor:
        """As `Indexer`, with its keys turned."""
        return turn(super().keys(tokens))


def with_positions(layer: AttentionLayer, positions: str) -> AttentionLayer:
    """The layer with queries and keys turned by their places, where that is asked for."""
    width, n_heads = SETTINGS["d_model"], SETTINGS["n_heads"]
    if positions != "rotated":
        return layer
    if isinstance(layer, MultiHeadAttention) and isinstance(layer.attention, LinearAttention):
        return MultiHeadAttention(width, n_heads, bias=False, attention=decay.Decay([1.0] * n_heads, rotated=True))
    layer.query_proj, layer.key_proj = (RotatedLinear(width, width, bias=False) for _ in range(2))
    if isinstance(layer, TopKAttention):
        layer.indexer = RotatedIndexer(width, layer.indexer.n_heads, layer.indexer.key_proj.out_features)
    return layer


def make_language_model(name: str, n_symbols: int, positions: str) -> CausalLanguageModel:
    """An untrained model with the layer of that name."""
    width, layer = SETTINGS["d_model"], with_positions(make_layer(name), positions)
    added = SinusoidalPositions(width) if positions == "added" else None
    n_heads, n_layers = SETTINGS["n_heads"], SETTINGS["text"]["n_layers"]
    return CausalLanguageModel(n_symbols, width, n_heads, n_layers, positions=added, attention=layer)


class Reader(nn.Module):
    """One causal layer that reads pairs of a name and a letter, and then answers names with their letters."""

    def __init__(self, n_names: int, layer: AttentionLayer, positions: nn.Module | None = None):
        super().__init__()
        self.name = nn.Embedding(n_names, layer.d_model)
        self.letter = nn.Embedding(SETTINGS["recall"]["n_letters"], layer.d_model)
        self.asked = nn.Embedding(n_names, layer.d_model)
        self.positions = positions or nn.Identity()
        self.layer = layer
        self.readout = nn.Linear(layer.d_model, SETTINGS["recall"]["n_letters"])

    def forward(self, name: Tensor, letter: Tensor, asked: Tensor) -> Tensor:
        """Logits `(batch, n_questions, n_letters)`."""
        pairs = self.name(name) + self.letter(letter)
        tokens = self.positions(torch.cat([pairs, self.asked(asked)], dim=1))
        found, _ = self.layer(tokens, causal=True)
        return self.readout(found[:, pairs.size(1) :])


def run() -> dict:
    """Train every layer on every task; `{"settings": ..., "results": ...}`."""
    jobs = [{"task": "recall", "n_pairs": N_PAIRS}, {"task": "changing"}, {"task": "text"}]
    asked = [job | {"mechanism": name} for job in jobs for name in MECHANISMS]
    with ProcessPoolExecutor(2, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        results = [result for found in pool.map(all_runs, asked) for result in found]
    return {"settings": SETTINGS, "results": results}


def all_runs(asked: dict) -> list[dict]:
    """Short runs in every way, then long ones in the best; of text, the long ones try the ways again."""
    few, many = ({"steps": SETTINGS[steps], "seed": SEEDS[0]} for steps in ("few_steps", "many_steps"))
    rates = SETTINGS["peak_lrs"]
    ways = [{"peak_lr": rate} for rate in rates]
    if asked["task"] != "recall":  # where each name comes once, the order tells nothing
        ways = [way | {"positions": told} for way in ways for told in POSITIONS]
    short = [one_run(asked | way | few) for way in ways]
    if asked["task"] != "text":
        longer = [one_run(best(short) | many)]
    else:
        longer = [one_run(best([run for run in short if run["positions"] == told]) | many) for told in POSITIONS]
        way = best(longer)
        longer += [one_run(way | {"peak_lr": rate}) for rate in rates if rate != way["peak_lr"]]
    return with_other_seeds(short) + with_other_seeds(longer)


def best(runs: list[dict]) -> dict:
    """The run with the fewest bits, or with the most right answers."""
    return min(runs, key=itemgetter("bits")) if "bits" in runs[0] else max(runs, key=itemgetter("right"))


def with_other_seeds(runs: list[dict]) -> list[dict]:
    """The runs, and the best of them with the other seeds."""
    return runs + [one_run(best(runs) | {"seed": seed}) for seed in SEEDS[1:]]


def one_run(asked: dict) -> dict:
    """Train once, and say what came of it."""
    result = asked | (text if asked["task"] == "text" else letters)(asked)
    print(result, flush=True)
    return result


def letters(asked: dict, make_layer=make_layer) -> dict:
    """The share of right answers after training; of letters that change, also of either half of the names."""
    torch.manual_seed(asked["seed"])
    generator = torch.Generator().manual_seed(asked["seed"])
    changing, sizes = SETTINGS["changing"], SETTINGS["recall"]
    recalls = asked["task"] == "recall"
    n_questions = asked["n_pairs"] if recalls else changing["n_names"]
    layer, positions = make_layer(asked["mechanism"]), asked.get("positions", "none")
    added = SinusoidalPositions(layer.d_model) if positions == "added" else None
    model = Reader(2 * n_questions if recalls else n_questions, with_positions(layer, positions), added)

    def make(n_all, generator):
        if recalls:
            counts = n_questions, 2 * n_questions, sizes["n_letters"], 1  # people, names, letters, questions of each
            return tasks.related_letters(n_all // n_questions, *counts, generator)
        return tasks.changing_letters(
            n_all // n_questions, n_questions, sizes["n_letters"], changing["n_times"], generator
        )

    def answers(model, people):
        return model(people.name, people.letter, people.asked.flatten(1))

    training.train(
        model,
        lambda: make(sizes["questions"], generator),
        lambda model, people: F.cross_entropy(answers(model, people).mT, people.target.flatten(1)),
        steps=asked["steps"],
        peak_lr=asked["peak_lr"],
        every=asked["steps"],
    )
    people = make(sizes["test_questions"], torch.Generator().manual_seed(sizes["test_seed"]))
    with torch.no_grad():
        right = (answers(model.eval(), people).argmax(-1) == people.target.flatten(1)).float()
    shares = {"right": right.mean()}
    if not recalls:
        shares |= {"changed": right[people.changed].mean(), "unchanged": right[~people.changed].mean()}
    return {name: round(share.item(), 4) for name, share in shares.items()}


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
