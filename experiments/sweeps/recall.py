"""Recall of the first token by a GRU, a GRU whose gate starts open, and self-attention, at many learning rates."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import scaled_dot_product_attention
from attention_course.course import training

SETTINGS = {"n_tokens": 64, "width": 32, "batch": 32, "steps": 200, "test_sequences": 1000}
KINDS = ["GRU", "GRU, gate open", "self-attention"]
RATES = [0.003, 0.01, 0.03, 0.1]
SEEDS = [0, 1, 2, 3, 4]


def open_gate(gru: nn.GRU) -> nn.GRU:
    """Let an untrained GRU keep nearly all of its state at each step."""
    d = gru.hidden_size
    with torch.no_grad():
        gru.bias_ih_l0[d : 2 * d] = 3.0  # PyTorch's order: reset gate, update gate, new state
    return gru


class Recall(nn.Module):
    """The model that the chapter defines: read 16 symbols, and name the first of them at the last token."""

    def __init__(self, kind: str, d: int):
        super().__init__()
        self.kind, self.embedding = kind, nn.Embedding(16, d)
        self.gru = nn.GRU(d, d, batch_first=True)
        if kind == "GRU, gate open":
            open_gate(self.gru)
        self.query_proj = nn.Linear(d, d, bias=False)
        self.key_proj = nn.Linear(d, d, bias=False)
        self.value_proj = nn.Linear(d, d, bias=False)
        self.readout = nn.Linear(d, 8)

    def forward(self, symbols: Tensor) -> Tensor:
        """Logits `(batch, 8)` for symbols `(batch, n)`."""
        X = self.embedding(symbols)
        if self.kind != "self-attention":
            return self.readout(self.gru(X)[0][:, -1])
        answer, _ = scaled_dot_product_attention(self.query_proj(X), self.key_proj(X), self.value_proj(X))
        return self.readout(answer[:, -1])


def draw(n_sequences: int, generator: torch.Generator) -> Tensor:
    """Symbols 8 to 15 at random, and in the first place one of 0 to 7: `(n_sequences, n_tokens)`."""
    symbols = torch.randint(8, 16, (n_sequences, SETTINGS["n_tokens"]), generator=generator)
    symbols[:, 0] -= 8
    return symbols


def recall(kind: str, rate: float, seed: int) -> float:
    """Train one model; its share of right answers on sequences it has not seen."""
    torch.manual_seed(seed)
    model, generator = Recall(kind, SETTINGS["width"]), torch.Generator().manual_seed(seed)
    training.train(
        model,
        lambda: draw(SETTINGS["batch"], generator),
        lambda model, symbols: F.cross_entropy(model(symbols), symbols[:, 0]),
        steps=SETTINGS["steps"],
        peak_lr=rate,
        every=SETTINGS["steps"],
    )
    with torch.no_grad():
        symbols = draw(SETTINGS["test_sequences"], generator)
        return (model(symbols).argmax(-1) == symbols[:, 0]).float().mean().item()


def run() -> dict:
    """Train every model at every rate with every seed; `{"settings": ..., "results": ...}`."""
    results = []
    for kind in KINDS:
        for rate in RATES:
            shares = [round(recall(kind, rate, seed), 4) for seed in SEEDS]
            print(kind, rate, shares, flush=True)
            results.append({"kind": kind, "rate": rate, "recalled": shares})
    return {"settings": SETTINGS | {"seeds": SEEDS}, "results": results}
