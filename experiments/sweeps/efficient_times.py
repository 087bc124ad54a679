"""Milliseconds and peak memory of each efficient attention against the number of tokens, for the efficient lesson.

All mechanisms of a length take turns, so that a busy moment hits them alike. `python experiments/efficient.py` measures
more closely, beside other libraries, and up to half the length.
"""

from functools import partial

import torch
import torch.nn.functional as F

from attention_course.course import measure
from attention_course.efficient.block_sparse import BlockSparseAttention, bigbird_layout
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.linformer import LinformerAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.efficient.performer import PerformerAttention
from attention_course.efficient.reformer import LSHAttention

SETTINGS = {
    "threads": 2,
    "n_heads": 8,
    "d_head": 64,
    "window": 128,
    "block_size": 64,
    "n_features": 256,
    "rank": 256,
    "bucket_size": 64,
    "n_rounds": 4,
}
LENGTHS = [2**power for power in range(6, 16)]
MECHANISMS = ["exact", "linear", "window", "Performer", "Linformer", "BigBird", "LSH"]
MECHANISMS += ["exact, causal", "linear, causal", "window, causal", "weights stored"]
LONGEST = {"weights stored": 4096}
FEW, MANY = 3, 15  # timed calls, of long and of short sequences
LONG = 4096


def stored(query, key, value):
    """Exact attention that holds all scores and all weights."""
    return (query @ key.mT * query.size(-1) ** -0.5).softmax(-1) @ value


def make_call(name: str, n_tokens: int):
    """A function of query, key and value, `(1, heads, tokens, d_head)` each."""
    of = SETTINGS
    if name == "LSH":  # queries and keys are one projection
        hashing = LSHAttention(of["bucket_size"], of["n_rounds"])
        return lambda query, key, value: hashing(query, query, value)
    return {
        "exact": lambda: F.scaled_dot_product_attention,
        "exact, causal": lambda: partial(F.scaled_dot_product_attention, is_causal=True),
        "weights stored": lambda: stored,
        "linear": lambda: LinearAttention(),
        "linear, causal": lambda: LinearAttention(causal=True),
        "window": lambda: LongformerAttention(of["window"]),
        "window, causal": lambda: LongformerAttention(of["window"], causal=True),
        "Performer": lambda: PerformerAttention(of["d_head"], of["n_features"]),
        "Linformer": lambda: LinformerAttention(n_tokens, of["rank"]),
        "BigBird": lambda: BlockSparseAttention(bigbird_layout(-(-n_tokens // of["block_size"])), of["block_size"]),
    }[name]()


@torch.no_grad()
def run() -> dict:
    """Time every mechanism at every length; `{"settings": ..., "results": ...}`."""
    torch.set_num_threads(SETTINGS["threads"])
    results = []
    for n_tokens in LENGTHS:
        torch.manual_seed(0)
        inputs = torch.randn(3, 1, SETTINGS["n_heads"], n_tokens, SETTINGS["d_head"]).unbind()
        names = [name for name in MECHANISMS if n_tokens <= LONGEST.get(name, n_tokens)]
        calls = {name: partial(make_call(name, n_tokens), *inputs) for name in names}
        peaks = {name: measure.peak_memory(call) for name, call in calls.items()}  # the first call of each
        timings = measure.time_calls(calls, repeats=FEW if n_tokens > LONG else MANY, warmup=0)
        for name in names:
            result = {"mechanism": name, "n_tokens": n_tokens, "ms": round(1000 * timings[name].median, 3)}
            results.append(result | {"MiB": round(peaks[name] / 2**20, 2)})
            print(results[-1], flush=True)
    return {"settings": SETTINGS, "results": results}
