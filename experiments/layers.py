"""Time our multi-head layer beside PyTorch's, and generation with a cache beside generation without.

python experiments/layers.py     minutes; prints a table and records it in results/layers.json

Ratios of medians in one process, each below 1 in our favour. Both layers have d_model 512 and 8 heads, no mask, no
weights asked for. Forward runs in evaluation without gradients, where PyTorch's layer takes a path of its own ("fast
path"); forward + backward in training. Of the arithmetic of forward + backward at 2,048 tokens the attention kernel,
the same in both, does about 70 percent, so that no layer built on it can be much faster there. What a cache saves
grows with the model and the batch: a step on one token of one text mostly waits for the parameters to be read.
"""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import torch
from torch import nn

from attention_course import MultiHeadAttention
from attention_course.course import measure
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

RESULTS = Path(__file__).parent / "results" / "layers.json"
SHAPES = [(1, 512), (8, 512), (1, 1024), (1, 2048), (1, 4096)]  # (batch, tokens)
D_MODEL, N_HEADS = 512, 8
SMALL = {"d_model": 64, "n_heads": 4, "n_layers": 3}  # the language model lesson's
LARGE = {"d_model": 512, "n_heads": 8, "n_layers": 6}
GENERATIONS = [(SMALL, 1), (LARGE, 1), (LARGE, 8)]  # (model, batch)
N_WRITTEN = 256


def layer_times(batch: int, n_tokens: int) -> dict:
    """Ratios of our layer's time to PyTorch's: forward, and forward + backward."""
    tokens = torch.randn(batch, n_tokens, D_MODEL)
    ours, theirs = MultiHeadAttention(D_MODEL, N_HEADS), nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    calls = {
        "ours": (ours, lambda x: ours(x)[0]),
        "PyTorch": (theirs, lambda x: theirs(x, x, x, need_weights=False)[0]),
    }
    forward = {name: _forward(layer.eval(), call, tokens) for name, (layer, call) in calls.items()}
    row = {"batch": batch, "tokens": n_tokens, "forward": _ratio(measure.time_calls(forward, repeats=15))}
    both = {name: _forward_backward(layer.train(), call, tokens) for name, (layer, call) in calls.items()}
    return row | {"forward + backward": _ratio(measure.time_calls(both, repeats=15))}


def _forward(layer: nn.Module, call: Callable, tokens: torch.Tensor) -> Callable:
    @torch.no_grad()
    def forward():
        return call(tokens)

    return forward


def _forward_backward(layer: nn.Module, call: Callable, tokens: torch.Tensor) -> Callable:
    inputs = (tokens.clone().requires_grad_(), *layer.parameters())

    def forward_backward():
        return torch.autograd.grad(call(inputs[0]).sum(), inputs)

    return forward_backward


def _ratio(times: dict[str, measure.Timing]) -> dict:
    ours, theirs = times["ours"], times["PyTorch"]
    return {
        "ratio": round(ours.median / theirs.median, 3),
        "ours, ms": [round(1e3 * seconds, 1) for seconds in (ours.fastest, ours.median, ours.slowest)],
        "PyTorch, ms": [round(1e3 * seconds, 1) for seconds in (theirs.fastest, theirs.median, theirs.slowest)],
    }


def generation_times(sizes: dict, batch: int) -> dict:
    """How many times longer a model takes to write without its cache."""
    torch.manual_seed(0)
    model = CausalLanguageModel(100, **sizes, attention=RotaryAttention()).eval()
    prompt = torch.zeros(batch, 1, dtype=torch.long)
    calls = {
        use_cache: lambda use_cache=use_cache: model.generate(prompt, N_WRITTEN, use_cache=use_cache)
        for use_cache in (True, False)
    }
    times = measure.time_calls(calls, repeats=3, warmup=1)
    return sizes | {
        "batch": batch,
        "written": N_WRITTEN,
        "uncached / cached": round(times[False].median / times[True].median, 2),
        "cached, s": round(times[True].median, 3),
        "uncached, s": round(times[False].median, 3),
    }


def main() -> None:
    record = {"machine": measure.describe_machine(), "date": date.today().isoformat()}
    record |= {"threads": torch.get_num_threads(), "d_model": D_MODEL, "n_heads": N_HEADS}
    record["layers"] = [layer_times(*shape) for shape in SHAPES]
    for row in record["layers"]:
        ratios = (f"{kind} {row[kind]['ratio']:.2f}" for kind in ("forward", "forward + backward"))
        print(f"batch {row['batch']}, {row['tokens']} tokens: {', '.join(ratios)}")
    record["generation"] = [generation_times(*case) for case in GENERATIONS]
    for row in record["generation"]:
        model = f"d_model {row['d_model']}, {row['n_layers']} layers, batch {row['batch']}"
        print(f"{model}: {N_WRITTEN} tokens take {row['uncached / cached']} times longer without the cache")
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print("wrote", RESULTS)


if __name__ == "__main__":
    main()
