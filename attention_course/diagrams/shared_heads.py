"""Which query heads share which key-value head."""

from collections.abc import Sequence

from attention_course.diagrams.diagram import Diagram


def shared_heads(n_heads: int, n_kv_heads: Sequence[int]) -> Diagram:
    """Query heads above the key-value heads that they use, once for each number of key-value heads.

    Args:
        n_heads: Number of query heads.
        n_kv_heads: Numbers of key-value heads, each a divisor of `n_heads`.

    Raises:
        ValueError: If one of them does not divide the number of query heads.
    """
    if any(n_heads % number for number in n_kv_heads):
        raise ValueError(f"n_kv_heads must divide n_heads = {n_heads}, got {list(n_kv_heads)}")
    height = 132
    picture = Diagram(
        f"{n_heads} query heads and the keys and values they use. "
        + " ".join(
            f"With {number} key-value head{'s' * (number > 1)}, each serves {n_heads // number} of the query heads."
            for number in n_kv_heads
        ),
        height=height * len(n_kv_heads) - 12,
    )
    step = 474 / n_heads
    for row, number in enumerate(n_kv_heads):
        top = row * height
        picture.text(3, top + 12, _name(n_heads, number), bold=True)
        queries = [
            picture.box(3 + head * step + 3, top + 28, step - 6, 28, "Q", tone="query") for head in range(n_heads)
        ]
        group = n_heads // number
        for shared in range(number):
            label = "KV" if group == 1 else "keys, values"
            area = picture.box(3 + shared * group * step + 3, top + 86, group * step - 6, 28, label, tone="key")
            for query in queries[shared * group : (shared + 1) * group]:
                picture.arrow(query.bottom, (query.bottom[0], area.y))
    return picture


def _name(n_heads: int, n_kv_heads: int) -> str:
    kind = {n_heads: "multi-head", 1: "multi-query"}.get(n_kv_heads, "grouped-query")
    return f"{kind}: {n_kv_heads} key-value head{'s' * (n_kv_heads > 1)} to keep"
