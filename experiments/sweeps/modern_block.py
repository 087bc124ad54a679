"""Small language models with the parts that have changed since 2017, one at a time: for the page on modern blocks."""

import _text
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import MultiHeadAttention, tasks
from attention_course.course import training
from attention_course.modern_block import SwiGLU
from attention_course.positions import RotaryAttention

SETTINGS = {"d_model": 64, "n_heads": 4, "n_layers": 3, "window": 64, "batch": 32, "steps": 300}
PEAK_RATES = [0.003, 0.01, 0.015, 0.03]
SEEDS = [0, 1, 2]
# What differs from a block with layer norm, GELU and biases, whose readout is a matrix of its own.
VARIANTS = {
    "unchanged": {},
    "RMSNorm": {"rms": True},
    "SwiGLU": {"gated": True},
    "no biases": {"bias": False},
    "tied": {"tied": True},
    "tied, no √d": {"tied": True, "factor": False},
    "no √d": {"factor": False},
    "all four": {"rms": True, "gated": True, "bias": False, "tied": True},
    "all four, no √d": {"rms": True, "gated": True, "bias": False, "tied": True, "factor": False},
}


class RMSNorm(nn.Module):
    """The one that the page defines: Zhang & Sennrich 2019, arXiv:1910.07467."""

    def __init__(self, d_model: int, eps: float = 1e-6):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, tokens: Tensor) -> Tensor:
        mean_square = tokens.square().mean(-1, keepdim=True)
        return self.gain * tokens / (mean_square + self.eps).sqrt()


class ModernBlock(nn.Module):
    """The page's pre-norm block, with its choices."""

    def __init__(self, d_model: int, n_heads: int, rms: bool, gated: bool, bias: bool):
        super().__init__()
        self.attention_norm = _norm(d_model, rms, bias)
        self.attention = MultiHeadAttention(d_model, n_heads, bias=bias, attention=RotaryAttention())
        self.feed_forward_norm = _norm(d_model, rms, bias)
        self.feed_forward = _feed_forward(d_model, gated, bias)

    def forward(self, tokens: Tensor) -> Tensor:
        tokens = tokens + self.attention(self.attention_norm(tokens), causal=True)[0]
        return tokens + self.feed_forward(self.feed_forward_norm(tokens))


class Writer(nn.Module):
    """A causal language model of such blocks; tied, its readout is its embedding, which √d multiplies where read."""

    def __init__(
        self, n_symbols, d_model, n_heads, n_layers, *, rms=False, gated=False, bias=True, tied=False, factor=True
    ):
        super().__init__()
        self.factor = d_model**0.5 if factor else 1.0
        self.embedding = nn.Embedding(n_symbols, d_model)
        self.blocks = nn.Sequential(*(ModernBlock(d_model, n_heads, rms, gated, bias) for _ in range(n_layers)))
        self.norm = _norm(d_model, rms, bias)
        self.readout = nn.Linear(d_model, n_symbols, bias=False)
        if tied:
            self.readout.weight = self.embedding.weight
        for matrix in (self.readout.weight, self.embedding.weight):
            nn.init.normal_(matrix, std=d_model**-0.5)

    def forward(self, symbols: Tensor) -> Tensor:
        tokens = self.embedding(symbols) * self.factor
        return self.readout(self.norm(self.blocks(tokens)))


def _norm(d_model: int, rms: bool, bias: bool) -> nn.Module:
    return RMSNorm(d_model) if rms else nn.LayerNorm(d_model, bias=bias)


def _feed_forward(d_model: int, gated: bool, bias: bool) -> nn.Module:
    if gated:
        return SwiGLU(d_model, round(8 * d_model / 3), bias)
    up, down = nn.Linear(d_model, 4 * d_model, bias=bias), nn.Linear(4 * d_model, d_model, bias=bias)
    return nn.Sequential(up, nn.GELU(), down)


def run() -> dict:
    """Train every variant at every rate with every seed; `{"settings": ..., "results": ...}`."""
    text = tasks.python_help()
    results = []
    for variant in VARIANTS:
        for rate in PEAK_RATES:
            for seed in SEEDS:
                result = {"variant": variant, "rate": rate, "seed": seed} | _train_and_test(text, variant, rate, seed)
                print(result, flush=True)
                results.append(result)
    varied = {"variants": VARIANTS, "peak_rates": PEAK_RATES, "seeds": SEEDS}
    return {"settings": SETTINGS | varied, "results": results}


def _train_and_test(text, variant: str, rate: float, seed: int) -> dict:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    sizes = (SETTINGS[name] for name in ("d_model", "n_heads", "n_layers"))
    model = Writer(len(text.vocabulary), *sizes, **VARIANTS[variant])
    training.train(
        model,
        lambda: tasks.windows(text.train, SETTINGS["batch"], SETTINGS["window"] + 1, generator),
        _loss,
        steps=SETTINGS["steps"],
        peak_lr=rate,
    )
    bits = _text.bits(lambda symbols: (model(symbols), None), text.validation, SETTINGS["window"])
    return {"parameters": sum(parameter.numel() for parameter in model.parameters()), "bits": round(bits, 4)}


def _loss(model: nn.Module, symbols: Tensor) -> Tensor:
    return F.cross_entropy(model(symbols[:, :-1]).flatten(0, 1), symbols[:, 1:].flatten())
