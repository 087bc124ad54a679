"""What a layer costs at 1,024 and at 32,768 tokens, for the page that compares what became of attention.

Whole layers, projections and all: forward, forward + backward, and one token decoded with a cache that holds as many.
All layers take turns, so that a busy moment hits them alike; ratios are to softmax attention in the same run. So what a
layer holds has been pushed out of the processor's own memory by the others' work when its turn to decode comes, as it
would be in a model of many layers.
`python experiments/flash_linear.py` times the same without projections, beside another library.
"""

from collections.abc import Callable
from copy import copy

import torch
from torch import Tensor

from attention_course import KVCache, MultiHeadAttention
from attention_course.course import measure
from attention_course.efficient.gated_delta import GatedDeltaNet
from attention_course.efficient.gated_linear import GatedLinearAttention
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.matrix_state import StateCache
from attention_course.efficient.retention import MultiScaleRetention
from attention_course.efficient.sinks import SinkAttention
from attention_course.efficient.top_k import TopKAttention
from attention_course.mechanism import AttentionLayer

SETTINGS = {"threads": 2, "batch": 1, "d_model": 256, "n_heads": 4, "window": 128, "n_sinks": 4, "k": 64}
LENGTHS = [1024, 32768]
REPEATS = {"forward": 15, "forward + backward": 15, "decoded token": 300}  # timed calls of each
FEW, LONG = {"forward": 3, "forward + backward": 3, "decoded token": 100}, 4096  # and of more tokens than this

# Each with what it is built from: `(d_model, n_heads)`.
MECHANISMS = {
    "softmax": MultiHeadAttention,
    "window with sinks": lambda *sizes: SinkAttention(*sizes, SETTINGS["window"], n_sinks=SETTINGS["n_sinks"]),
    "linear": lambda *sizes: MultiHeadAttention(*sizes, attention=LinearAttention(causal=True)),
    "decay": MultiScaleRetention,
    "gate": GatedLinearAttention,
    "delta": lambda *sizes: GatedDeltaNet(*sizes, gated=False),
    "gated delta": GatedDeltaNet,
    "top-k": lambda *sizes: TopKAttention(*sizes, SETTINGS["k"]),
}
EXACT = "softmax"
# Linear attention could decode from a state as the five below it do, and the numbers would be about theirs; the
# course's works on whole sequences and takes no cache.
WITHOUT_CACHE = ["linear"]


def forward(layer: AttentionLayer, tokens: Tensor) -> Callable:
    layer.eval()

    @torch.no_grad()
    def run():
        return layer(tokens, causal=True)[0]

    return run


def forward_backward(layer: AttentionLayer, tokens: Tensor) -> Callable:
    """Gradients of the tokens and of all parameters. For top-k that is the indexer's loss, too."""
    layer.train()
    inputs = [tokens.clone().requires_grad_(), *layer.parameters()]

    def run():
        return torch.autograd.grad(layer(inputs[0], causal=True)[0].sum(), inputs)

    return run


@torch.no_grad()
def filled_cache(layer: AttentionLayer, tokens: Tensor) -> KVCache | StateCache:
    layer.eval()
    cache = layer.cache()
    layer(tokens, causal=True, cache=cache)
    return cache


def decode(layer: AttentionLayer, cache: KVCache | StateCache) -> Callable:
    """One further token, which is forgotten again, so that every call finds as many."""
    newest = torch.randn(SETTINGS["batch"], 1, SETTINGS["d_model"])

    @torch.no_grad()
    def run():
        return layer(newest, causal=True, cache=copy(cache))[0]  # the copy counts for itself, and copies no tokens

    return run


def costs(kind: str, calls: dict[str, Callable], n_tokens: int) -> dict[str, dict]:
    """Median milliseconds of each, and the ratio to softmax attention's."""
    repeats = (FEW if n_tokens > LONG else REPEATS)[kind]
    timings = measure.time_calls(calls, repeats=repeats, warmup=1)
    unit = timings[EXACT].median
    return {
        name: {"ms": round(1000 * timing.median, 3), "ratio": round(timing.median / unit, 4)}
        for name, timing in timings.items()
    }


def run() -> dict:
    """Time every layer at every length; `{"settings": ..., "results": ...}`."""
    torch.set_num_threads(SETTINGS["threads"])
    results = []
    for n_tokens in LENGTHS:
        torch.manual_seed(0)
        tokens = torch.randn(SETTINGS["batch"], n_tokens, SETTINGS["d_model"])
        layers = {name: make(SETTINGS["d_model"], SETTINGS["n_heads"]) for name, make in MECHANISMS.items()}
        caches = {name: filled_cache(layer, tokens) for name, layer in layers.items() if name not in WITHOUT_CACHE}
        kinds = {
            "decoded token": {name: decode(layers[name], cache) for name, cache in caches.items()},
            "forward": {name: forward(layer, tokens) for name, layer in layers.items()},
        }
        measured = {kind: costs(kind, calls, n_tokens) for kind, calls in kinds.items()}
        both = {name: forward_backward(layer, tokens) for name, layer in layers.items()}
        measured["forward + backward"] = costs("forward + backward", both, n_tokens)
        for name in MECHANISMS:
            result = {"mechanism": name, "n_tokens": n_tokens}
            result |= {kind: measured[kind].get(name) for kind in REPEATS}
            results.append(result | {"cache bytes": caches[name].nbytes if name in caches else None})
            print(results[-1], flush=True)
    return {"settings": SETTINGS, "results": results}
