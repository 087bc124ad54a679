"""Milliseconds of efficient attention against the number of tokens, for the lesson on it.

All mechanisms of a length take turns. Each ratio is to exact attention in the same round, so that a busy moment of the
machine hits both; the record has medians over the rounds, and the 10th and 90th percentile. Run it on an idle machine:
it takes three minutes of two cores. `python experiments/efficient.py` measures more mechanisms, beside other libraries.
"""

from functools import partial
from statistics import quantiles

import torch
import torch.nn.functional as F

from attention_course.course import measure
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.efficient.reformer import LSHAttention

SETTINGS = {"threads": 2, "n_heads": 8, "d_head": 64, "window": 128, "bucket_size": 64, "n_rounds": 4}
LENGTHS = [2**power for power in range(6, 16)]
MECHANISMS = ["exact", "linear", "window", "LSH", "exact, causal", "linear, causal", "window, causal"]
ROUNDS = {1024: 60, 2048: 30, 4096: 15, 8192: 7, 32768: 3}  # timed calls of each, up to so many tokens


def make_call(name: str):
    """A function of query, key and value, `(1, heads, tokens, d_head)` each."""
    of = SETTINGS
    if name == "LSH":  # queries and keys are one projection
        hashing = LSHAttention(of["bucket_size"], of["n_rounds"])
        return lambda query, key, value: hashing(query, query, value)
    return {
        "exact": lambda: F.scaled_dot_product_attention,
        "exact, causal": lambda: partial(F.scaled_dot_product_attention, is_causal=True),
        "linear": lambda: LinearAttention(),
        "linear, causal": lambda: LinearAttention(causal=True),
        "window": lambda: LongformerAttention(of["window"]),
        "window, causal": lambda: LongformerAttention(of["window"], causal=True),
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
        calls = {name: partial(make_call(name), *inputs) for name in MECHANISMS}
        repeats = next(rounds for most, rounds in ROUNDS.items() if n_tokens <= most)
        timings = measure.time_calls(calls, repeats=repeats, warmup=1)
        for name in MECHANISMS:
            exact = timings["exact, causal" if name.endswith("causal") else "exact"].seconds
            ratios = [own / other for own, other in zip(timings[name].seconds, exact, strict=True)]
            low, middle, high = spread([1000 * each for each in timings[name].seconds], 3)
            result = {"mechanism": name, "n_tokens": n_tokens, "ms": middle, "ms_range": [low, high]}
            low, middle, high = spread(ratios, 5)
            results.append(result | {"ratio": middle, "ratio_range": [low, high]})
            print(results[-1], flush=True)
    return {"settings": SETTINGS, "results": results}
