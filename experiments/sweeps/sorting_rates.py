"""Sorting at other rates than in `bottleneck_lengths`, so that each model has its best (`one_vector_enough`)."""

import bottleneck_lengths

SETTINGS = bottleneck_lengths.LENGTHS["sorting"] | bottleneck_lengths.COMMON | {"test_lengths": [10]}
del SETTINGS["peak_lr"]
ATTENTIONS = [None, "additive", "general", "concat"]
RATES = [0.003, 0.005, 0.02, 0.03]
SEEDS = [0, 1, 2]


def run() -> dict:
    """Train every model at every rate with every seed; `{"settings": ..., "results": ...}`."""
    results = []
    for attention in ATTENTIONS:
        for rate in RATES:
            for seed in SEEDS:
                scores = bottleneck_lengths.train_and_test(SETTINGS | {"peak_lr": rate}, attention, seed)
                result = {"attention": attention, "rate": rate, "seed": seed, "symbols": scores["symbols"]}
                print(result, flush=True)
                results.append(result)
    return {"settings": SETTINGS, "results": results}
