"""The attention explorer on models that differ in their number of heads, which a slider chooses."""

from collections.abc import Mapping, Sequence

import numpy as np

from attention_course.explore.controls import Control
from attention_course.explore.explorer import Explorer
from attention_course.explore.first_state import draw_layers
from attention_course.explore.inputs import check_scores
from attention_course.explore.masking import MASKS, WINDOW, make_weights, who_may
from attention_course.explore.options import check_gold, check_labels, check_mask
from attention_course.explore.packing import pack_scores


def explore_heads(
    scores: Mapping,
    *,
    accuracy: Mapping,
    tokens: Sequence | None = None,
    keys: Sequence | None = None,
    gold: Mapping | None = None,
    mask: str = "none",
    alt: str,
) -> Explorer:
    """What models trained with different numbers of heads attend to, and how well each does its task.

    Args:
        scores: For each number of heads the raw scores of that model, `(heads, n_queries, n_keys)`, all on the
            same input.
        accuracy: For each number of heads the share of right answers, from 0 to 1.
        tokens: `n_queries` labels of the queries; numbers from 1 if left out.
        keys: `n_keys` labels of the keys; the tokens if left out.
        gold: Where attention should be: for one or two questions, by their names, boolean `(n_queries, n_keys)`. The
            places of the first have frames, those of the second dashed ones.
        mask: The one that the models were trained with: `none`, `causal` or `sliding window`.
        alt: What the maps show, in words.

    Raises:
        ValueError: If a model's scores are not finite numbers of the shape that its number of heads asks for,
            or anything else does not fit them.
    """
    if not scores:
        raise ValueError("scores must hold at least one model, got none")
    if set(accuracy) != set(scores):
        raise ValueError(f"accuracy must be given for the models of scores {list(scores)}, got {list(accuracy)}")
    counts = sorted(scores)
    models = [check_scores(f"scores[{count}]", scores[count]) for count in counts]
    n_queries, n_keys = models[0].shape[2:]
    for count, model in zip(counts, models, strict=True):
        if model.shape != (1, count, n_queries, n_keys):
            raise ValueError(f"scores[{count}] must have shape {(count, n_queries, n_keys)}, got {model.shape[1:]}")
        if not 0 <= accuracy[count] <= 1:
            raise ValueError(f"accuracy[{count}] must lie in 0..1, got {accuracy[count]!r}")
    queries, keys = check_labels(tokens, keys, n_queries, n_keys)
    golds = _check_golds(gold or {}, (n_queries, n_keys))
    framed = np.any(golds, axis=0) if golds else None
    masks = tuple(name for name in MASKS if name != "padding")
    start = check_mask(mask, masks)
    notes = [f"accuracy {float(accuracy[count]):.1%}" for count in counts]
    data = {
        "queries": queries,
        "keys": keys,
        "masks": list(masks),
        "cut": False,
        "offset": n_keys - n_queries,
        "length": None,
        "window": WINDOW,
        "models": [
            {"layers": 1, "heads": count, "numbers": pack_scores(model), "note": note}
            for count, model, note in zip(counts, models, notes, strict=True)
        ],
        "gold": None if framed is None else framed.tolist(),
        "query": 0,
    }
    if golds:
        dashed = golds[1] if len(golds) > 1 else np.zeros_like(framed)
        data["frames"] = {"note": f"frames: {', dashed: '.join(gold)}", "dashed": dashed.tolist()}
    controls = [Control("slider", "heads", "number of heads", "heads", tuple(map(str, counts)))]
    values = {"data": data, "temperature": 1.0, "mask": start, "heads": 0, "gold": bool(golds)}
    weights = make_weights(models[0], who_may(mask, n_queries, n_keys, None))
    return Explorer("attention", values, controls, draw_layers(weights, queries, keys, framed, alt), alt)


def _check_golds(gold: Mapping, shape: tuple[int, int]) -> list[np.ndarray]:
    """Where the answers to one or two questions stand."""
    if len(gold) > 2:
        raise ValueError(f"gold must name at most two questions, got {list(gold)}")
    golds = [check_gold(places, shape) for places in gold.values()]
    if len(golds) == 2 and (golds[0] & golds[1]).any():
        raise ValueError(f"gold must have different places for {' and '.join(gold)}")
    return golds
