"""The first reading's model, part by part, and its rivals: bits for a letter of unread help pages."""

from concurrent.futures import ProcessPoolExecutor

import torch
import torch.nn.functional as F
from _counting import Counts
from torch import Tensor, nn

from attention_course import MultiHeadAttention, tasks
from attention_course.course import ladder
from attention_course.course.ladder import LADDER, WIDTH
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

PEAK_LRS = [0.003, 0.01, 0.03, 0.1]
TUNING_SEEDS = [100, 101]  # the rate is chosen with these, and measured with others
SEEDS = list(range(10))
SETTINGS = {"width": WIDTH, "n_heads": 4, "steps": ladder.STEPS, "every": 100, "orders": [1, 2, 3, 4, 5, 6, 7, 8]}
# Recurrent networks: one that reads the same windows as the heads do, and two with as many parameters as the blocks.
RIVALS = {
    "GRU, last letter": {"d_hidden": 64, "window": 16, "batch": 512},
    "GRU, one block": {"d_hidden": 96, "window": 64, "batch": 32},
    "GRU, three blocks": {"d_hidden": 184, "window": 128, "batch": 16},
}
# A recurrent network of the recorded model's size, trained as long.
LONGER = {"d_hidden": 240, "window": 128, "batch": 16, "steps": 1400, "seed": 0}
LONGER_LRS = [0.001, 0.003, 0.01]
WITHOUT_W_O = ", no W_O"  # a step of the ladder with heads side by side
# The heads before and behind the mask, on the same windows of sixteen: one question a window, or sixteen.
ASKED = {"window": 16, "batch": 512, "every": 25}


class LastAsks(nn.Module):
    """The last letter's embedding, to which a blend of all may be added, and logits.

    Args:
        vocab_size: Size of the vocabulary.
        blend: From the last letter `(n, 1, width)` and all `(n, window, width)` to what is added to the last.
    """

    def __init__(self, vocab_size: int, blend: nn.Module | None = None):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, WIDTH)
        self.blend = blend
        self.lm_head = nn.Linear(WIDTH, vocab_size)

    def forward(self, letters: Tensor) -> Tensor:
        tokens = self.embedding(letters)
        last = tokens[:, -1:]
        if self.blend is not None:
            last = last + self.blend(last, tokens)
        return self.lm_head(last[:, 0])


class Average(nn.Linear):
    """The same blend for every question: the mean, through a matrix."""

    def forward(self, last: Tensor, tokens: Tensor) -> Tensor:
        return super().forward(tokens.mean(1, keepdim=True))


class Heads(MultiHeadAttention):
    """What the last letter finds."""

    def forward(self, last: Tensor, tokens: Tensor) -> Tensor:
        return super().forward(last, tokens)[0]


class PlainHeads(nn.Module):
    """What the last letter finds, side by side: without biases and without an output projection."""

    def __init__(self, n_heads: int):
        super().__init__()
        self.n_heads = n_heads
        self.query_proj, self.key_proj, self.value_proj = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))

    def forward(self, last: Tensor, tokens: Tensor) -> Tensor:
        projected = (self.query_proj(last), self.key_proj(tokens), self.value_proj(tokens))
        query, key, value = (each.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for each in projected)
        return F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)


class AllAsk(nn.Module):
    """One attention layer behind the mask, with or without positions: every letter asks."""

    def __init__(self, vocab_size: int, attention: nn.Module | None = None):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, WIDTH)
        self.attention = MultiHeadAttention(WIDTH, SETTINGS["n_heads"], attention=attention)
        self.lm_head = nn.Linear(WIDTH, vocab_size)

    def forward(self, letters: Tensor) -> Tensor:
        tokens = self.embedding(letters)
        return self.lm_head(tokens + self.attention(tokens, causal=True)[0])


class LastIsScored(AllAsk):
    """The same, but scored at the last letter alone, as what is only asked there: both then have as much to read."""

    def forward(self, letters: Tensor) -> Tensor:
        logits = super().forward(letters)
        return logits if self.training else logits[:, -1]


class Blocks(CausalLanguageModel):
    """Whole blocks, with rotary positions."""

    def __init__(self, vocab_size: int, n_blocks: int):
        super().__init__(vocab_size, WIDTH, SETTINGS["n_heads"], n_blocks, attention=RotaryAttention())

    def forward(self, letters: Tensor) -> Tensor:
        return super().forward(letters)[0]


class Recurrent(nn.Module):
    """A GRU that reads letter by letter."""

    def __init__(self, vocab_size: int, d_hidden: int, last: bool):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, WIDTH)
        self.gru = nn.GRU(WIDTH, d_hidden, batch_first=True)
        self.lm_head = nn.Linear(d_hidden, vocab_size)
        self.last = last

    def forward(self, letters: Tensor) -> Tensor:
        states, _ = self.gru(self.embedding(letters))
        return self.lm_head(states[:, -1] if self.last else states)


MODELS = {
    "letter": LastAsks,
    "average": lambda n: LastAsks(n, Average(WIDTH, WIDTH)),
    "one head": lambda n: LastAsks(n, PlainHeads(1)),
    "four heads": lambda n: LastAsks(n, Heads(WIDTH, SETTINGS["n_heads"])),
    f"four heads{WITHOUT_W_O}": lambda n: LastAsks(n, PlainHeads(SETTINGS["n_heads"])),
    "mask": AllAsk,
    "positions": lambda n: AllAsk(n, RotaryAttention()),
    "one block": lambda n: Blocks(n, 1),
    "two blocks": lambda n: Blocks(n, 2),
    "three blocks": lambda n: Blocks(n, 3),
    "GRU, last letter": lambda n: Recurrent(n, RIVALS["GRU, last letter"]["d_hidden"], last=True),
    "GRU, one block": lambda n: Recurrent(n, RIVALS["GRU, one block"]["d_hidden"], last=False),
    "GRU, three blocks": lambda n: Recurrent(n, RIVALS["GRU, three blocks"]["d_hidden"], last=False),
    "asked last": lambda n: LastAsks(n, Heads(WIDTH, SETTINGS["n_heads"])),
    "asked every": LastIsScored,
}


TIMED = ["asked last", "asked every"]  # whose seconds are compared


def read_at_once(name: str) -> dict[str, int]:
    """The window and the batch of a model."""
    step = name.removesuffix(WITHOUT_W_O)
    if step in LADDER:
        return {"window": LADDER[step].window, "batch": LADDER[step].batch}
    of = ASKED if name.startswith("asked ") else RIVALS[name]
    return {"window": of["window"], "batch": of["batch"]}


def measure(job: tuple[str, float, int]) -> dict:
    """Train one model at one rate with one seed, on one thread."""
    name, peak_lr, seed = job
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = MODELS[name](len(tasks.python_help().vocabulary))
    steps = SETTINGS["steps"]
    every = ASKED["every"] if name.startswith("asked ") else SETTINGS["every"]
    history = ladder.train(model, **read_at_once(name), peak_lr=peak_lr, seed=seed, steps=steps, every=every)
    bits = [round(record["bits"], 4) for record in history]
    result = {"model": name, "peak_lr": peak_lr, "seed": seed, "bits": bits[-1]}
    result |= {"parameters": sum(parameter.numel() for parameter in model.parameters()), "bits_by_step": bits}
    print(result, flush=True)
    return result


def longer_rival(peak_lr: float) -> tuple[nn.Module, float]:
    """The recurrent network of the recorded model's size, trained at one rate on one thread, and its bits."""
    torch.set_num_threads(1)
    torch.manual_seed(LONGER["seed"])
    model = Recurrent(len(tasks.python_help().vocabulary), LONGER["d_hidden"], last=False)
    sizes = {name: LONGER[name] for name in ("window", "batch", "steps", "seed")}
    return model, ladder.train(model, **sizes, peak_lr=peak_lr, every=LONGER["steps"])[-1]["bits"]


def train_longer(peak_lr: float) -> dict:
    """What becomes of it."""
    model, bits = longer_rival(peak_lr)
    size = sum(parameter.numel() for parameter in model.parameters())
    return {"peak_lr": peak_lr, "bits": round(bits, 4), "parameters": size}


def count(order: int) -> dict:
    """The bits of counting so many letters."""
    text = tasks.python_help()
    counts = Counts(text.train.tolist(), order, len(text.vocabulary))
    return {"order": order, "bits": round(counts.bits(text.validation.tolist(), first=order), 4)}


def write_after(job: tuple[str, float]) -> tuple[str, str]:
    """What a step of the ladder writes once it is trained, on one thread."""
    name, peak_lr = job
    torch.set_num_threads(1)
    torch.manual_seed(SEEDS[0])
    model = MODELS[name](len(tasks.python_help().vocabulary))
    ladder.train(model, **read_at_once(name), peak_lr=peak_lr, steps=SETTINGS["steps"])
    return name, ladder.write(name, model.eval())


def time_alone(name: str, peak_lr: float) -> dict:
    """Seconds that a model's training takes while nothing else runs, without the scoring."""
    torch.manual_seed(SEEDS[0])
    model = MODELS[name](len(tasks.python_help().vocabulary))
    history = ladder.train(model, **read_at_once(name), peak_lr=peak_lr, steps=SETTINGS["steps"])
    return {"model": name, "threads": torch.get_num_threads(), "seconds": round(history[-1]["seconds"], 3)}


def run() -> dict:
    """Every model at every rate, and at its best rate with ten seeds of its own; the counts; then each timed alone."""
    with ProcessPoolExecutor(2) as pool:
        counts = list(pool.map(count, SETTINGS["orders"]))
        tried = list(pool.map(measure, [(n, rate, s) for n in MODELS for rate in PEAK_LRS for s in TUNING_SEEDS]))
        rates = {name: best_rate(tried, name) for name in MODELS}
        results = list(pool.map(measure, [(name, rates[name], seed) for name in MODELS for seed in SEEDS]))
        longer = list(pool.map(train_longer, LONGER_LRS))
        written = dict(pool.map(write_after, [(name, rates[name]) for name in LADDER]))
    return {
        "settings": SETTINGS
        | {"rivals": RIVALS, "asked": ASKED, "longer": LONGER, "peak_lrs": PEAK_LRS, "seeds": SEEDS},
        "counts": counts,
        "tried": tried,
        "best_rates": rates,
        "results": results,
        "longer": longer,
        "written": written,
        "times": [time_alone(name, rates[name]) for name in TIMED],
    }


def best_rate(tried: list[dict], name: str) -> float:
    """The rate at which a model needs the fewest bits, in the mean of the seeds."""
    of = {rate: [row["bits"] for row in tried if (row["model"], row["peak_lr"]) == (name, rate)] for rate in PEAK_LRS}
    return min(PEAK_LRS, key=lambda rate: sum(of[rate]))
