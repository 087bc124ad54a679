"""Parity and brackets as the length grows, for Transformers and a GRU: for the page on limits."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course.course import training
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

SETTINGS = {
    "train_length": 32,
    "test_length": 256,
    "window": 4,
    "d_model": 64,
    "n_heads": 4,
    "batch": 32,
    "test_examples": 200,
    "test_seed": 1000,
}
# Task, model, blocks, with rotary positions or without any, and steps of training.
MODELS = [
    ("parity", "transformer", 2, False, 600),
    ("parity", "transformer", 4, False, 600),
    ("parity", "transformer", 2, False, 2400),
    ("parity", "transformer", 2, True, 600),
    ("parity", "gru", 1, False, 300),
    ("brackets", "transformer", 2, False, 400),
    ("brackets", "gru", 1, False, 400),
]
SEEDS = list(range(8))
PEAK_LRS = [0.0003, 0.001, 0.003, 0.01, 0.03]
TUNING_SEED = 100  # each rate is tried with it, and the best one taken with the others
N_SYMBOLS = {"parity": 2, "brackets": 4}
N_ANSWERS = {"parity": 2, "brackets": 3}


def parity(n_examples: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random bits, and after each of them whether the ones so far are odd in number: both `(n_examples, length)`."""
    bits = torch.randint(2, (n_examples, length), generator=generator)
    return bits, bits.cumsum(1) % 2


def brackets(n_examples: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Beginnings of well-nested text in two kinds of brackets, and which kind stands open innermost after each.

    Symbols: 0 and 1 open a round and a square bracket, 2 and 3 close them. Answers: 0 nothing is open, 1 a round
    bracket, 2 a square one. Where something is open, the next symbol closes it with probability 1/2.
    """
    closes = (torch.rand(n_examples, length, generator=generator) < 0.5).tolist()
    kinds = torch.randint(2, (n_examples, length), generator=generator).tolist()
    symbols, answers = [], []
    for row, closing in enumerate(closes):
        open_now, read, asked = [], [], []
        for place, close in enumerate(closing):
            if close and open_now:
                read.append(2 + open_now.pop())
            else:
                open_now.append(kinds[row][place])
                read.append(kinds[row][place])
            asked.append(1 + open_now[-1] if open_now else 0)
        symbols.append(read)
        answers.append(asked)
    return torch.tensor(symbols), torch.tensor(answers)


TASKS = {"parity": parity, "brackets": brackets}


class Transformer(nn.Module):
    """A causal Transformer with an answer after each symbol. It reads a start symbol first."""

    def __init__(self, n_symbols: int, n_answers: int, n_blocks: int, rotary: bool):
        super().__init__()
        self.start = n_symbols
        attention = RotaryAttention() if rotary else None
        d_model, n_heads = SETTINGS["d_model"], SETTINGS["n_heads"]
        self.model = CausalLanguageModel(n_symbols + 1, d_model, n_heads, n_blocks, attention=attention)
        self.model.lm_head = nn.Linear(d_model, n_answers)

    def forward(self, symbols: Tensor) -> Tensor:
        logits, _ = self.model(F.pad(symbols, (1, 0), value=self.start))
        return logits[:, 1:]


class Recurrent(nn.Module):
    """A GRU with an answer after each symbol."""

    def __init__(self, n_symbols: int, n_answers: int):
        super().__init__()
        d_model = SETTINGS["d_model"]
        self.embedding = nn.Embedding(n_symbols, d_model)
        self.gru = nn.GRU(d_model, d_model, batch_first=True)
        self.logits = nn.Linear(d_model, n_answers)

    def forward(self, symbols: Tensor) -> Tensor:
        return self.logits(self.gru(self.embedding(symbols))[0])


def run() -> dict:
    """Train every model at every rate, and with every seed at the best; `{"settings": ..., "tried": ..., ...}`."""
    tried, results = [], []
    for task, kind, n_blocks, rotary, steps in MODELS:
        which = {"task": task, "model": kind, "blocks": n_blocks, "rotary": rotary, "steps": steps}
        for rate in PEAK_LRS:
            bits = _train_and_test(**which, peak_lr=rate, seed=TUNING_SEED)["bits"]
            inside = bits[: SETTINGS["train_length"] // SETTINGS["window"]]
            tried.append(which | {"peak_lr": rate, "seed": TUNING_SEED, "bits": round(sum(inside) / len(inside), 4)})
            print(tried[-1], flush=True)
        rate = best_rate(tried, which)
        for seed in SEEDS:
            scores = _train_and_test(**which, peak_lr=rate, seed=seed)
            print(which, rate, seed, scores["accuracy"][:8], scores["accuracy"][-1], flush=True)
            results.append(which | {"peak_lr": rate, "seed": seed} | scores)
    settings = SETTINGS | {"seeds": SEEDS, "peak_lrs": PEAK_LRS}
    return {"settings": settings, "tried": tried, "results": results}


def best_rate(tried: list[dict], which: dict) -> float:
    """The rate with the fewest bits within the trained length."""
    return min((row for row in tried if which.items() <= row.items()), key=lambda row: row["bits"])["peak_lr"]


def _train_and_test(*, task: str, model: str, blocks: int, rotary: bool, steps: int, peak_lr: float, seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    sizes = N_SYMBOLS[task], N_ANSWERS[task]
    reader = Recurrent(*sizes) if model == "gru" else Transformer(*sizes, blocks, rotary)

    def next_batch():
        return TASKS[task](SETTINGS["batch"], SETTINGS["train_length"], generator)

    training.train(reader, next_batch, _loss, steps=steps, peak_lr=peak_lr, every=steps)
    return _test(reader, task)


def _loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    symbols, answers = batch
    return F.cross_entropy(model(symbols).flatten(0, 1), answers.flatten())


@torch.no_grad()
def _test(model: nn.Module, task: str) -> dict:
    """Accuracy and cross-entropy in bits, in windows of a few places."""
    model.eval()
    generator = torch.Generator().manual_seed(SETTINGS["test_seed"])
    symbols, answers = TASKS[task](SETTINGS["test_examples"], SETTINGS["test_length"], generator)
    logits = model(symbols)
    right = (logits.argmax(-1) == answers).float().mean(0)
    bits = F.cross_entropy(logits.transpose(1, 2), answers, reduction="none").mean(0) / torch.tensor(2.0).log()
    windows = [scores.unflatten(0, (-1, SETTINGS["window"])).mean(1).tolist() for scores in (right, bits)]
    scores = {"accuracy": [round(x, 4) for x in windows[0]], "bits": [round(x, 4) for x in windows[1]]}
    return scores | ({"moved": _moved(model, symbols)} if task == "parity" else {})


@torch.no_grad()
def _moved(model: nn.Module, bits: Tensor) -> list[float]:
    """How far the probability of "odd" moves when the first bit is changed, in windows of a few places."""
    changed = bits.clone()
    changed[:, 0] = 1 - changed[:, 0]
    odd, odd_then = (model(read).softmax(-1)[..., 1] for read in (bits, changed))
    moved = (odd - odd_then).abs().mean(0)
    return [round(x, 4) for x in moved.unflatten(0, (-1, SETTINGS["window"])).mean(1).tolist()]
