"""The two orders in which queries, keys and values can be multiplied, with matrices drawn to scale."""

from torch import Tensor

from attention_course.diagrams.diagram import Area, Diagram

LONG = 144  # units for the number of tokens
DOT, ARROW = 18, 34  # between matrices


def two_orders(query: Tensor, key: Tensor, value: Tensor) -> Diagram:
    """`(QK^T)V` above `Q(K^TV)`: the same product in two orders, each matrix as large as its share of numbers.

    Args:
        query: `(n, d)`.
        key: `(n, d)`.
        value: `(n, d)`.

    Raises:
        ValueError: If there are not more tokens than features, so that the second order saves nothing.
    """
    n, d = query.shape
    if n <= d:
        raise ValueError(f"there must be more tokens than features, got n = {n} and d = {d}")
    weights, state = query @ key.T, key.T @ value
    first = _operations(query, key.T) + _operations(weights, value)
    second = _operations(key.T, value) + _operations(query, state)
    picture = Diagram(
        f"The same product in two orders, with matrices drawn to scale for {n} tokens of width {d}. Above, Q times K "
        f"transposed is a large square of {n} times {n} numbers, which meets V: {first:,} operations. Below, K "
        f"transposed times V is a small square of {d} times {d} numbers, which meets Q: {second:,} operations. Both "
        f"end in an output of {n} times {d}.",
        height=2 * LONG + 168,
    )
    top = 56
    picture.text(4, 14, f"(QKᵀ)V: {first:,} operations", bold=True)
    row = _Row(picture, top, n)
    row.matrix(query, "Q", "query").dot().matrix(key.T, "Kᵀ", "key").arrow()
    row.matrix(weights, f"{n} × {n}", "weights").dot().matrix(value, "V", "value").arrow()
    row.matrix(weights @ value, "output", "output")
    top += LONG + 82
    picture.text(4, top - 42, f"Q(KᵀV): {second:,} operations", bold=True)
    row = _Row(picture, top, n)
    row.matrix(query, "Q", "query").dot().matrix(key.T, "Kᵀ", "key").dot().matrix(value, "V", "value").arrow()
    row.matrix(query, "Q", "query").dot(ARROW).matrix(state, f"{d} × {d}", "weights").arrow()
    row.matrix(query @ state, "output", "output")
    return picture


def _operations(left: Tensor, right: Tensor) -> int:
    """Multiplications and additions of a product of two matrices."""
    return 2 * left.shape[0] * left.shape[1] * right.shape[1]


class _Row:
    """Matrices side by side, their middles on one line."""

    def __init__(self, picture: Diagram, top: float, n: int):
        self.picture, self.x, self.scale, self.middle = picture, 8.0, LONG / n, top + LONG / 2

    def matrix(self, numbers: Tensor, label: str, tone: str) -> "_Row":
        height, width = (size * self.scale for size in numbers.shape)
        area = self.picture.box(self.x, self.middle - height / 2, width, height, tone=tone)
        self._label(area, label)
        self.x += width
        return self

    def dot(self, width: float = DOT) -> "_Row":
        self.picture.text(self.x + width / 2, self.middle, "·", anchor="middle", bold=True)
        self.x += width
        return self

    def arrow(self) -> "_Row":
        self.picture.arrow((self.x + 6, self.middle), (self.x + ARROW - 6, self.middle))
        self.x += ARROW
        return self

    def _label(self, area: Area, label: str):
        self.picture.text(area.x + area.width / 2, area.y - 12, label, anchor="middle")
