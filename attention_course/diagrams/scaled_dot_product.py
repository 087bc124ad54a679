"""A soft lookup, number by number; the same in matrices; and a softmax in the right and in the wrong direction."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attention_course.attention import scaled_dot_product_attention
from attention_course.diagrams.diagram import Diagram

WIDE, HIGH = 44, 30  # a cell that a number of four characters fits into
LABELLED = 48  # one that the name of a feature fits above
LAST = 4


def scaled_dot_product(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    query_name: str,
    key_names: Sequence[str],
    features: Sequence[str],
    contents: Sequence[str],
    step: int = LAST,
) -> Diagram:
    """One query through scores and softmax to its blend of the values.

    Args:
        query: `(2,)`.
        key: `(n_keys, 2)`.
        value: `(n_keys, 2)`.
        query_name: Who asks.
        key_names: Whose keys and values they are.
        features: What the numbers of queries and keys stand for.
        contents: What the numbers of a value stand for.
        step: How far to go: 0 what is given, 1 the products, 2 the scores, 3 the weights, 4 the blend.

    Returns:
        The diagram, with the tensors `query`, `keys`, `values`, and as far as the step goes `products`, `scores`,
        `weights` and `output`.
    """
    output, weights = scaled_dot_product_attention(query[None], key, value)
    products = key @ query
    n_keys = len(key)
    top, bottom = 116, 116 + n_keys * HIGH
    story = (
        f'The query of "{query_name}" has two numbers, and so have the key and the value of each of '
        f"{', '.join(key_names)}.",
        f"Each key is compared with the query: dot products {_list(products)}.",
        f"Divided by the square root of 2 they are the scores {_list(products / 2**0.5)}.",
        f"The softmax makes them weights: {_list(weights[0])}.",
        f"The values, blended with these weights, are the output: {_list(output[0])}.",
    )
    picture = Diagram(f"A soft lookup. {' '.join(story[: step + 1])}", height=bottom + 92)
    asked = picture.tensor(
        50,
        42,
        query,
        name="query",
        cell=(LABELLED, HIGH),
        numbers=True,
        tone="query",
        rows=[query_name],
        columns=features,
    )
    picture.text(asked.right[0] + 24, asked.right[1], "query", bold=True)
    keys = picture.tensor(
        50, top, key, name="keys", cell=(LABELLED, HIGH), numbers=True, tone="key", rows=key_names, largest=3
    )
    picture.text(keys.top[0], top - 14, "keys", anchor="middle", bold=True)
    values = picture.tensor(386, top, value, name="values", cell=(WIDE, HIGH), numbers=True, tone="value", largest=20)
    picture.text(values.top[0], top - 14, "values", anchor="middle", bold=True)
    for column, content in enumerate(contents):
        x, y = values.cell(0, column).top
        picture.text(x, y - 42, content, anchor="middle")

    columns = [("product", products, 174), ("score", products / 2**0.5, 238), ("weight", weights[0], 302)]
    left = keys
    if step:
        meets = keys.right[0] + 13
        picture.arrow(asked.right, (meets, asked.right[1]), (meets, keys.right[1] - 2))
    for number, (heading, numbers, x) in enumerate(columns[:step], 1):
        tone = "weights" if number == 3 else "plain"
        column = numbers[:, None]
        largest = 1 if number == 3 else 5
        numbered = {"cell": (WIDE, HIGH), "numbers": True, "tone": tone, "largest": largest}
        area = picture.tensor(x, top, column, name=f"{heading}s", **numbered)
        picture.text(area.top[0], top - 14, heading, anchor="middle", bold=True)
        picture.arrow((left.right[0] + 3, left.right[1]), (area.left[0] - 2, area.left[1]))
        left = area
    for *_, x in columns[step:]:  # room for what later steps draw
        picture.box(x, top, WIDE, n_keys * HIGH)
    if step < LAST:
        picture.box(386, bottom + 48, 2 * WIDE, HIGH)
    else:
        for row, weight in enumerate(weights[0].tolist()):
            picture.line(left.row(row).right, values.row(row).left, weight=weight)
        found = picture.tensor(
            386, bottom + 48, output, name="output", cell=(WIDE, HIGH), numbers=True, tone="output", largest=20
        )
        picture.arrow((values.bottom[0], values.bottom[1] + 4), (found.top[0], found.top[1] - 2))
        picture.text(found.left[0] - 8, found.left[1], f"output: the blend for {query_name}", anchor="end", bold=True)
    return picture


def attention_matrices(
    query: Tensor, key: Tensor, value: Tensor, *, query_names: Sequence[str], key_names: Sequence[str]
) -> Diagram:
    """Several queries at once: two matrix products with a softmax between them.

    Args:
        query: `(2, 2)`.
        key: `(3, 2)`.
        value: `(3, 2)`.
        query_names: Who asks.
        key_names: Whose keys and values they are.

    Returns:
        The diagram, with the tensors `Q`, `K transposed`, `scores`, `weights`, `V` and `output`.
    """
    output, weights = scaled_dot_product_attention(query, key, value)
    scores = query @ key.T / 2**0.5
    picture = Diagram(
        f"The same lookup for {' and '.join(query_names)} at once. Q, a row for each query, times K transposed, a "
        "column for each key, divided by the square root of 2, are the scores: a row for each query, a column for "
        "each key. The softmax of each row gives the weights, and the weights times V are the output.",
        height=300,
    )
    size = {"cell": (40, HIGH), "numbers": True}
    y = 70
    q = picture.tensor(48, y, query, name="Q", tone="query", rows=query_names, **size)
    k = picture.tensor(160, y, key.T, name="K transposed", tone="key", columns=key_names, **size)
    s = picture.tensor(354, y, scores, name="scores", columns=key_names, **size)
    picture.text((q.right[0] + k.left[0]) / 2, q.right[1], "×", anchor="middle")
    picture.text((k.right[0] + s.left[0]) / 2, k.right[1], "÷ √2 =", anchor="middle")
    below = 196
    w = picture.tensor(48, below, weights, name="weights", tone="weights", rows=query_names, largest=1, **size)
    v = picture.tensor(216, below - HIGH / 2, value, name="V", tone="value", largest=20, **size)
    o = picture.tensor(354, below, output, name="output", tone="output", largest=20, **size)
    picture.text((w.right[0] + v.left[0]) / 2, w.right[1], "×", anchor="middle")
    picture.text((v.right[0] + o.left[0]) / 2, v.right[1], "=", anchor="middle")
    picture.arrow((s.bottom[0], s.bottom[1] + 4), (s.bottom[0], 152), (w.top[0], 152), (w.top[0], w.top[1] - 3))
    picture.text(250, 140, "softmax of each row", anchor="middle")
    shapes = {"Q": q, "K^T": k, "scores": s}
    for name, area in shapes.items():
        picture.text(area.top[0], y - 46, name.replace("^T", "ᵀ"), anchor="middle", bold=True)
    for name, area in {"weights": w, "V": v, "output": o}.items():
        picture.text(area.bottom[0], below + 2 * HIGH + 30, name, anchor="middle", bold=True)
    return picture


def softmax_directions(scores: Tensor, *, query_names: Sequence[str], key_names: Sequence[str]) -> Diagram:
    """A softmax along each row, as it should be, beside one along each column.

    Args:
        scores: `(n_queries, n_keys)`.
        query_names: Names of the rows.
        key_names: Names of the columns.

    Returns:
        The diagram, with the tensors `over the keys`, `over the queries`, and the sums of their rows,
        `row sums, over the keys` and `row sums, over the queries`.
    """
    right, wrong = scores.softmax(-1), scores.softmax(-2)
    picture = Diagram(
        "Two softmaxes of the same scores. Left, over the keys: each row sums to 1, so each query divides a weight of "
        "1 among the keys. Right, over the queries: each column sums to 1, so the queries compete for a key, "
        f"and the rows sum to {_list(wrong.sum(-1))}.",
        height=80 + len(scores) * HIGH,
    )
    size = {"cell": (38, HIGH), "numbers": True, "largest": 1.0}
    for x, weights, title in ((48, right, "over the keys"), (290, wrong, "over the queries")):
        grid = picture.tensor(x, 74, weights, name=title, rows=query_names, columns=key_names, tone="weights", **size)
        picture.text(grid.top[0], 20, title, anchor="middle", bold=True)
        sums = weights.sum(-1, keepdim=True)
        picture.tensor(
            grid.right[0] + 10, 74, sums, name=f"row sums, {title}", cell=(38, HIGH), numbers=True, largest=3
        )
        picture.text(grid.right[0] + 29, 63, "sum", anchor="middle", quiet=True)
    return picture


def _list(numbers: Tensor) -> str:
    return ", ".join(f"{number:.3g}" for number in torch.as_tensor(numbers).tolist())
