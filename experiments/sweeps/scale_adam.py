"""Does Adam make up for the scale? The wide store of the page on the scale, trained with Adam."""

from functools import partial

import torch
from scale_rates import train_store

COMMON = {"width": 256, "steps": 300}
RATES = [0.0003, 0.001, 0.003, 0.01]
SEEDS = list(range(10))


def run() -> dict:
    """Train stores with and without the scale, with every seed; `{"settings": ..., "results": ...}`."""
    torch.set_flush_denormal(True)  # as in scale_rates
    results = []
    for scaled in (True, False):
        for rate in RATES:
            train = partial(train_store, scaled=scaled, rate=rate, optimizer=torch.optim.Adam, **COMMON)
            shares = [round(train(seed=seed), 4) for seed in SEEDS]
            print(scaled, rate, shares, flush=True)
            results.append({"scaled": scaled, "rate": rate, "accuracy": shares})
    torch.set_flush_denormal(False)
    return {"settings": COMMON | {"seeds": SEEDS}, "results": results}
