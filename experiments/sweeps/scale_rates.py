"""What the scale does: to a store at many widths and learning rates, and to the decoder of the first lesson."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import LuongAttention, scaled_dot_product_attention, tasks
from attention_course.course import recorded, training
from attention_course.seq2seq_rnn import GRUEncoderDecoder

STORE = {"n_symbols": 64, "n_stored": 16, "batch": 64, "test_stores": 1000, "test_seed": 1000}
STEPS, MORE_STEPS = 300, 1200
GRID = [
    {"width": width, "scaled": scaled, "rate": rate, "steps": STEPS}
    for width in (16, 64, 256)
    for scaled in (True, False)
    for rate in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
]
# Is the wide store without the scale slow, or stuck?
LONGER = [{"width": 256, "scaled": False, "rate": rate, "steps": MORE_STEPS} for rate in (0.05, 0.1)]
# Is it the start? Projections drawn smaller by these factors: as `nn.Linear` draws them, and so that undivided scores
# start with the spread 1, as divided ones do.
WIDE, SMALLER = 256, {"as nn.Linear": 3**-0.5, "for a spread of 1": 256**-0.25}
STARTS = [{"drawn": drawn, "rate": rate} for drawn in SMALLER for rate in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)]
# As the first lesson trained it.
REVERSING = recorded.load("bottleneck_lengths")["settings"]["reversing"]
REVERSED_LENGTH = 16
SEEDS = list(range(10))


class Store(nn.Module):
    """The model that the chapter defines: look a symbol up among others and return what was stored with it."""

    def __init__(self, n_symbols: int, width: int, scale: float, smaller: float = 1.0):
        super().__init__()
        self.scale = scale
        self.symbol = nn.Embedding(n_symbols, width)
        self.value = nn.Embedding(n_symbols, width)
        self.query_proj = nn.Linear(width, width, bias=False)
        self.key_proj = nn.Linear(width, width, bias=False)
        for projection in (self.query_proj, self.key_proj):
            nn.init.normal_(projection.weight, std=smaller * width**-0.5)
        self.readout = nn.Linear(width, n_symbols)

    def forward(self, asked: Tensor, symbols: Tensor, values: Tensor) -> Tensor:
        """Logits `(batch, n_symbols)` of the value stored with the symbol that is asked for."""
        query = self.query_proj(self.symbol(asked)).unsqueeze(1)
        key = self.key_proj(self.symbol(symbols))
        found, _ = scaled_dot_product_attention(query, key, self.value(values), scale=self.scale)
        return self.readout(found.squeeze(1))


def make_stores(n_stores: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Stores of different symbols with random values; which symbol is asked for, and its value."""
    n_symbols, n_stored = STORE["n_symbols"], STORE["n_stored"]
    symbols = torch.rand(n_stores, n_symbols, generator=generator).argsort(1)[:, :n_stored]
    values = torch.randint(n_symbols, (n_stores, n_stored), generator=generator)
    place = torch.randint(n_stored, (n_stores, 1), generator=generator)
    return symbols, values, symbols.gather(1, place)[:, 0], values.gather(1, place)[:, 0]


def run() -> dict:
    """Train every model with every seed; `{"settings": ..., "store": ..., "starts": ..., "reversing": ...}`."""
    # Saturated weights are so small that a CPU takes seven times as long for a step; the results are the same.
    torch.set_flush_denormal(True)
    store, starts, reversing = [], [], []
    for run in GRID + LONGER:
        for seed in SEEDS:
            store.append({**run, "seed": seed, "accuracy": round(train_store(**run, seed=seed), 4)})
        print(run, [result["accuracy"] for result in store[-len(SEEDS) :]], flush=True)
    for start in STARTS:
        for seed in SEEDS:
            smaller = SMALLER[start["drawn"]]
            accuracy = train_store(WIDE, False, start["rate"], STEPS, seed, smaller=smaller)
            starts.append({**start, "seed": seed, "accuracy": round(accuracy, 4)})
        print(start, [result["accuracy"] for result in starts[-len(SEEDS) :]], flush=True)
    for scaled in (True, False):
        for seed in SEEDS:
            reversing.append({"scaled": scaled, "seed": seed, "accuracy": round(train_reverser(scaled, seed), 4)})
            print(reversing[-1], flush=True)
    torch.set_flush_denormal(False)
    settings = {"store": STORE, "reversing": {**REVERSING, "test_length": REVERSED_LENGTH}}
    return {"settings": settings, "store": store, "starts": starts, "reversing": reversing}


def train_store(
    width: int, scaled: bool, rate: float, steps: int, seed: int, optimizer=torch.optim.SGD, smaller: float = 1.0
) -> float:
    """Train one store, by plain gradient descent unless told; its share of right answers on stores it has not seen."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    store = Store(STORE["n_symbols"], width, width**-0.5 if scaled else 1.0, smaller)
    optimizer = optimizer(store.parameters(), lr=rate)
    for _ in range(steps):
        symbols, values, asked, target = make_stores(STORE["batch"], generator)
        loss = F.cross_entropy(store(asked, symbols, values), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    symbols, values, asked, target = make_stores(
        STORE["test_stores"], torch.Generator().manual_seed(STORE["test_seed"])
    )
    with torch.no_grad():
        return (store(asked, symbols, values).argmax(-1) == target).float().mean().item()


class ScaledDotAttention(LuongAttention):
    """Luong's `dot` score, divided by the square root of the width."""

    def forward(self, query, key, value, mask=None):
        """As `LuongAttention`."""
        return super().forward(query * query.size(-1) ** -0.5, key, value, mask)


def train_reverser(scaled: bool, seed: int) -> float:
    """Train a decoder with product scores to reverse; its share of right letters at the longest length."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    n_symbols, d_hidden = REVERSING["n_symbols"], REVERSING["d_hidden"]
    model = GRUEncoderDecoder(n_symbols, d_hidden, "dot")
    if scaled:
        model.attention = ScaledDotAttention(d_hidden, d_hidden, "dot")
    shortest, longest = REVERSING["train_lengths"]

    def next_batch():
        length = int(torch.randint(shortest, longest + 1, (1,), generator=generator))
        return tasks.reversing(REVERSING["batch"], length, n_symbols, generator)

    steps = REVERSING["steps"]
    training.train(model, next_batch, training.sequence_loss, steps=steps, peak_lr=REVERSING["peak_lr"], every=steps)
    test = torch.Generator().manual_seed(REVERSING["test_seed"])
    pairs = tasks.reversing(REVERSING["test_examples"], REVERSED_LENGTH, n_symbols, test)
    written, _ = model.generate(pairs.source, REVERSED_LENGTH)
    return training.accuracy(written, pairs.target)["symbols"]
