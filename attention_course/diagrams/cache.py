"""A cache of keys and values that grows with every token."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attention_course.attention import MultiHeadAttention
from attention_course.diagrams.diagram import Diagram
from attention_course.kv_cache import KVCache

ROW = 20
LEFT = {"query": 44, "keys": 144, "weights": 226, "values": 300, "answer": 404}
WIDTH = 60  # of a row of numbers


@torch.no_grad()
def growing_cache(layer: MultiHeadAttention, tokens: Tensor, names: Sequence[str]) -> Diagram:
    """What a layer computes for one token after the other, and what its cache holds by then.

    Args:
        layer: With one head.
        tokens: `(n, d_model)`, a handful of them.
        names: One for each token.

    Raises:
        ValueError: If the layer has more heads than one.
    """
    if layer.n_heads != 1:
        raise ValueError(f"layer must have 1 head, got {layer.n_heads}")
    n = len(names)
    picture = Diagram(
        f"A cache that grows by one key and one value with each of {n} tokens: {', '.join(names)}. In each step only "
        "the newest token has a query. Arrows lead from it to all keys that the cache holds, and from all values to "
        "its answer, which blends them. A frame marks the key and the value that are new; all others were computed in "
        "earlier steps.",
        height=40 + ROW * n * (n + 1) / 2 + 26 * n,
    )
    for name, x in LEFT.items():
        picture.text(x + (23 if name == "weights" else WIDTH / 2), 16, name, anchor="middle", bold=True)
    cache, y = KVCache(), 38
    for step, token in enumerate(tokens, 1):
        answer, weights = layer(token[None, None], cache=cache, need_weights=True)
        query = layer.query_proj(token)
        key, value, weights = cache.key[0, 0], cache.value[0, 0], weights[0, 0].T
        cell = (WIDTH / query.numel(), ROW)
        lowest = y + (step - 1) * ROW
        asking = picture.tensor(LEFT["query"], lowest, query, name=f"query {step}", cell=cell, tone="query")
        picture.text(LEFT["query"] - 8, lowest + ROW / 2, names[step - 1], anchor="end", bold=True)
        keys = picture.tensor(LEFT["keys"], y, key, name=f"keys {step}", cell=cell, tone="key", rows=names[:step])
        column = picture.tensor(
            LEFT["weights"], y, weights, name=f"weights {step}", cell=(46, ROW), tone="weights", numbers=True, largest=1
        )
        values = picture.tensor(LEFT["values"], y, value, name=f"values {step}", cell=cell, tone="value")
        picture.frame(keys.row(step - 1), margin=1)
        picture.frame(values.row(step - 1), margin=1)
        end = picture.tensor(LEFT["answer"], lowest, answer[0], name=f"answer {step}", cell=cell, tone="output")
        for row in range(step):  # the query meets every key, and every value is blended
            picture.arrow(asking.right, (LEFT["keys"] - 18, keys.row(row).left[1]))
            picture.arrow(column.row(row).right, values.row(row).left)
            picture.arrow(values.row(row).right, end.left)
        y = lowest + ROW + 26
    return picture
