"""What layers find among 128 pairs, for the page on states: more than a state of 16 x 16 a head has room for.

The reader is that of `states`. The rate is chosen among runs of full length, since after 250 steps the sum is no better
than a guess at any rate. The delta rule's strength begins small: begun at one half, it does not start to learn here.
"""

from concurrent.futures import ProcessPoolExecutor

import states
import torch

SETTINGS = {
    "n_pairs": 128,
    "steps": 1500,
    "peak_lrs": [0.003, 0.01, 0.03],
    "strength_bias": -3.0,  # of the delta rule at its beginning; a sigmoid makes .047 of it
    "mechanisms": ["softmax", "top-k", "linear", "sum", "delta"],
    "seeds": [0, 1, 2],
}


def make_layer(name):
    """The causal layer of that name."""
    layer = states.make_layer(name)
    if name == "delta":
        torch.nn.init.constant_(layer.strength_proj.bias, SETTINGS["strength_bias"])
    return layer


def run() -> dict:
    """Train every layer; `{"settings": ..., "results": ...}`."""
    with ProcessPoolExecutor(2, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        tried = [(name, rate) for name in SETTINGS["mechanisms"] for rate in SETTINGS["peak_lrs"]]
        first = list(pool.map(one_run, *zip(*tried, strict=True), [SETTINGS["seeds"][0]] * len(tried)))
        best = [
            max((result for result in first if result["mechanism"] == name), key=lambda result: result["right"])
            for name in SETTINGS["mechanisms"]
        ]
        more = [(each["mechanism"], each["peak_lr"], seed) for each in best for seed in SETTINGS["seeds"][1:]]
        results = first + list(pool.map(one_run, *zip(*more, strict=True)))
    return {"settings": SETTINGS, "results": results}


def one_run(mechanism: str, peak_lr: float, seed: int) -> dict:
    """Train once, and say what came of it."""
    sizes = {"task": "recall", "n_pairs": SETTINGS["n_pairs"], "steps": SETTINGS["steps"]}
    asked = {"mechanism": mechanism, "peak_lr": peak_lr, "seed": seed}
    result = asked | states.letters(sizes | asked, make_layer)
    print(result, flush=True)
    return result
