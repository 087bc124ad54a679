"""Milliseconds and peak memory of each efficient attention against the number of tokens, for the efficient lesson.

All mechanisms of a length take turns. Each ratio is to exact attention in the same round, so that a busy moment of the
machine hits both; the record has medians over the rounds, and the 10th and 90th percentile. Run it on an idle machine:
it takes four minutes of two cores. `python experiments/efficient.py` measures beside other libraries, and up to half
the length.
"""

from functools import partial
from statistics import quantiles

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
ROUNDS = {1024: 60, 2048: 30, 4096: 15, 8192: 7, 32768: 3}  # timed calls of each, up to so many tokens
MOST_COUNTED = 16384  # tokens of which the memory is counted, which takes a call of its own


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


def spread(numbers: list[float], digits: int) -> list[float]:
    """The 10th percentile, the median and the 90th percentile."""
    tenths = quantiles(numbers, n=10, method="inclusive") if len(numbers) > 1 else 9 * numbers
    return [round(tenths[i], digits) for i in (0, 4, 8)]


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
        counted = calls if n_tokens <= MOST_COUNTED else {}
        peaks = {name: round(measure.peak_memory(call) / 2**20, 2) for name, call in counted.items()}
        repeats = next(rounds for most, rounds in ROUNDS.items() if n_tokens <= most)
        timings = measure.time_calls(calls, repeats=repeats, warmup=0)
        for name in names:
            exact = timings["exact, causal" if name.endswith("causal") else "exact"].seconds
            low, middle, high = spread([1000 * each for each in timings[name].seconds], 3)
            result = {"mechanism": name, "n_tokens": n_tokens, "ms": middle, "ms_range": [low, high]}
            ratios = [own / other for own, other in zip(timings[name].seconds, exact, strict=True)]
            low, middle, high = spread(ratios, 5)
            result |= {"ratio": middle, "ratio_range": [low, high]}
            results.append(result | {"MiB": peaks.get(name)})
            print(results[-1], flush=True)
    return {"settings": SETTINGS, "results": results}
