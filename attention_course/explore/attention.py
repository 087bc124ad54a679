"""The attention explorer: weights computed in the browser from raw scores, or as a model hands them over."""

from collections.abc import Sequence

import numpy as np

from attention_course.explore.controls import Control
from attention_course.explore.explorer import Explorer
from attention_course.explore.first_state import draw_layers
from attention_course.explore.inputs import check_given
from attention_course.explore.masking import MASKS, WINDOW, make_weights, who_may
from attention_course.explore.options import (
    check_choice,
    check_gold,
    check_labels,
    check_length,
    check_mask,
    check_query,
    check_temperature,
)
from attention_course.explore.packing import pack_scores, pack_weights, tokens_to_keep

PALE = 20  # keys from which on weights that are alike, 1/20 each, can hardly be told from 0
LATER_SCORES = "weights are those among these keys alone"
LATER_WEIGHTS = "what a row gives to later keys is not shown"
WEAK = 0.2  # the largest weight of most rows below which the maps look blank


def explore_attention(
    scores=None,
    tokens: Sequence | None = None,
    *,
    weights=None,
    keys: Sequence | None = None,
    gold=None,
    alt: str,
    mask: str | None = "none",
    length: int | None = None,
    temperature: float | None = 1.0,
    layer: int | None = None,
    head: int | None = None,
    query: int = 0,
) -> Explorer:
    """Attention maps of one or of many layers and heads: of scores, or of the weights that a model hands over.

    Of scores the browser computes the weights, under a temperature and a mask that the reader changes. Causal and
    sliding-window masks are aligned to the bottom right, and a query that may attend to nothing gets zeros, as
    everywhere in the course. The window leaves two keys on either side. Weights are drawn as they are, each to the
    nearest of 4095 steps from 0 to 1, so with an error of at most 1/8190. Of weights on more than 20 keys the reader
    may have the faint ones shown in stronger colours, and does from the start where most rows have no weight of 1/5.

    Both may be `(layers, heads, n_queries, n_keys)`, `(heads, n_queries, n_keys)` or `(n_queries, n_keys)`; or a list
    or tuple with a `(heads, n_queries, n_keys)`, or a batch of one of these, for each layer, such as
    `output.attentions` of the models of `transformers`. Tensors on any device, in any dtype, arrays, or nested lists.
    The first of four axes is read as layers, the first of three as heads: of a batch give one text, `weights[0]`.
    Where there are more than 12 x 12 maps of 64 x 64 tokens, or more than 128 tokens, only the first tokens are drawn,
    and the explorer says how many; weights are cut and not divided anew, and those of scores are among the keys drawn.

    Args:
        scores: Raw scores, before the softmax and without a mask.
        tokens: `n_queries` labels of the queries; numbers from 1 if left out.
        weights: Instead of scores: rows that sum to 1, or to 0 for a query that may attend to nothing.
        keys: `n_keys` labels of the keys; the tokens if left out.
        gold: Boolean `(n_queries, n_keys)`: where attention should be, framed at will.
        alt: What the map shows, in words, for whoever does not see it.
        mask: What to start with: `none`, `causal`, `padding` or `sliding window`. `None` if there is to be no
            choice of masks.
        length: How many keys are real; the rest is padding. Without it there is no choice of `padding`.
        temperature: What to start with, from 0.05 to 10. `None` if there is to be no slider.
        layer: The one to start with, counted from 1; all of them if left out.
        head: The one to start with, counted from 1; all of them if left out.
        query: The row whose weights are written out at first, counted from 0.

    Raises:
        TypeError: If there are both scores and weights, or neither.
        ValueError: If they are not finite numbers of such a shape, weights are negative or do not sum to 1 or to 0,
            scores look like weights, or anything else does not fit, such as a mask or a temperature for weights.
    """
    given = check_given(scores, weights)
    if weights is not None and ((mask or "none") != "none" or length is not None or temperature != 1):
        raise ValueError(
            "mask, length and temperature must be left out where weights are given, which are drawn as they are, "
            f"got mask={mask!r}, length={length!r}, temperature={temperature!r}"
        )
    layers, heads, n_queries, n_keys = given.shape
    queries, keys = check_labels(tokens, keys, n_queries, n_keys)
    gold = check_gold(gold, (n_queries, n_keys))
    check_length(length, n_keys)
    slides = weights is None and temperature is not None
    temperature = check_temperature(1.0 if temperature is None else temperature)
    masks = tuple(name for name in MASKS if name != "padding" or length is not None)
    start = check_mask(mask or "none", masks, " (padding needs a length)" if mask == "padding" else "")
    start_layer, start_head = check_choice("layer", layer, layers), check_choice("head", head, heads)

    most = tokens_to_keep(given.shape)
    cut = _describe_cut(most, n_queries, n_keys)
    allowed = who_may(masks[start], n_queries, n_keys, length)[:most, :most]
    offset, is_cut = n_keys - n_queries, most < n_keys
    note = f"{cut}; {LATER_SCORES if weights is None else LATER_WEIGHTS}" if is_cut else cut
    given, queries, keys = given[:, :, :most, :most], queries[:most], keys[:most]
    gold = None if gold is None else gold[:most, :most]
    n_queries, n_keys = given.shape[2:]
    check_query(query, n_queries, cut)

    controls = []
    if slides:
        controls.append(Control("temperature", "temperature", "temperature", "temperature"))
    if layers > 1:
        controls.append(Control("choice", "layer", "layer", "layer", ("all", *map(str, range(1, layers + 1)))))
    if heads > 1:
        names = ("all, side by side", *(f"head {head}" for head in range(1, heads + 1)))
        controls.append(Control("choice", "head", "head", "head", names))
    if mask is not None and weights is None:
        controls.append(Control("choice", "mask", "mask", "mask", masks))
    if gold is not None:
        controls.append(Control("check", "gold", "show gold", "gold"))
    may_be_pale = weights is not None and n_keys > PALE
    faint = may_be_pale and bool(np.median(given.max(-1)) < WEAK)
    if may_be_pale:
        controls.append(Control("check", "faint", "show faint weights", "faint"))
    numbers = pack_scores(given) if weights is None else pack_weights(given)
    data = {
        "queries": queries,
        "keys": keys,
        "masks": list(masks),
        "cut": is_cut,
        "offset": offset,
        "length": None if length is None else min(length, n_keys),
        "window": WINDOW,
        "models": [{"layers": layers, "heads": heads, "numbers": numbers, "note": note}],
        "gold": None if gold is None else gold.tolist(),
        "query": query,
    }
    values = {"data": data, "temperature": temperature, "mask": start, "gold": gold is not None}
    values |= {"faint": faint, "layer": start_layer, "head": start_head}
    shown = given[start_layer - 1 :][:1] if start_layer else given
    shown = shown[:, start_head - 1 :][:, :1] if start_head else shown
    if weights is None:
        shown = make_weights(shown, allowed, temperature)
    first = draw_layers(shown, queries, keys, gold, alt, start_layer, start_head, faint)
    return Explorer("attention", values, controls, f"<p>{note}</p>{first}" if note else first, alt)


def _describe_cut(most: int, n_queries: int, n_keys: int) -> str:
    """What the reader is told where not all tokens are drawn."""
    sizes = {"queries": n_queries, "keys": n_keys} if n_queries != n_keys else {"tokens": n_keys}
    return " and ".join(f"only the first {most} of {size} {name}" for name, size in sizes.items() if size > most)
