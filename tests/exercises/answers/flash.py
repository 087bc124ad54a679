import torch

from attention_course.exercises.flash import cache_bytes, grad_scores, merge, online_update, skipped_tiles

WRONG = {
    "flash.online_update": {
        "exponentials before the difference": lambda largest, total, output, scores, values: (
            (new := torch.maximum(largest, scores.max())),
            (largest.exp() * total + scores.exp().sum()) / new.exp(),
            (largest.exp() * output + scores.exp() @ values) / new.exp(),
        ),
        "the first score only": lambda largest, total, output, scores, values: online_update(
            largest, total, output, scores[:1], values[:1]
        ),
        "mean of the values": lambda largest, total, output, scores, values: (
            *online_update(largest, total, output, scores, values)[:2],
            output + values.mean(0),
        ),
        "two results": lambda *arguments: online_update(*arguments)[1:],
        "another order": lambda *arguments: online_update(*arguments)[::-1],
        "a maximum for each key": lambda largest, total, output, scores, values: (
            torch.maximum(largest, scores),
            *online_update(largest, total, output, scores, values)[1:],
        ),
    },
    "flash.merge": {
        "sums of exponentials": lambda a, log_a, b, log_b: (
            (log_a.exp()[:, None] * a + log_b.exp()[:, None] * b) / (log_a.exp() + log_b.exp())[:, None],
            (log_a.exp() + log_b.exp()).log(),
        ),
        "maximum of the batch": lambda a, log_a, b, log_b: merge(a, log_a.max().expand_as(log_a), b, log_b),
        "squeezed": lambda *parts: (merge(*parts)[0].squeeze(), merge(*parts)[1]),
        "log-sum as a column": lambda *parts: (merge(*parts)[0], merge(*parts)[1][:, None]),
        "output alone": lambda *parts: merge(*parts)[0],
        "exponent of the sum": lambda *parts: (merge(*parts)[0], merge(*parts)[1].exp()),
        "log 2 left out": lambda a, log_a, b, log_b: (merge(a, log_a, b, log_b)[0], (log_a + log_b) / 2),
    },
    "flash.grad_scores": {
        "correction by the values": lambda scores, value, log_sum, output, grad: (
            (scores - log_sum[:, None]).exp() * (grad @ (value - value.mean(0)).T)
        ),
        "transposed": lambda *arguments: grad_scores(*arguments).T,
        "scores for weights": lambda scores, value, log_sum, output, grad: (
            scores * (grad @ value.T - (grad * output).sum(-1, keepdim=True))
        ),
        "one correction": lambda scores, value, log_sum, output, grad: (
            (scores - log_sum[:, None]).exp() * (grad @ value.T - (grad * output).sum())
        ),
        "scaled once more": lambda *arguments: grad_scores(*arguments) / arguments[1].size(1) ** 0.5,
        "complex": lambda *arguments: grad_scores(*arguments) + 1j,
    },
    "flash.skipped_tiles": {
        "one more": lambda n, rows, columns: skipped_tiles(n, rows, columns) + 1,
        "rows for columns": lambda n, rows, columns: skipped_tiles(n, columns, rows),
        "square tiles": lambda n, rows, columns: skipped_tiles(n, rows, rows),
        "not the last query": lambda n, rows, columns: sum(
            column >= min(row + rows, n) - 1 for row in range(0, n, rows) for column in range(0, n, columns)
        ),
        "the other triangle": lambda n, rows, columns: sum(
            column + columns <= row for row in range(0, n, rows) for column in range(0, n, columns)
        ),
    },
    "flash.cache_bytes": {
        "bytes for heads": lambda n, layers, every, window, heads, d, size: cache_bytes(
            n, layers, every, window, size, d, size
        ),
        "heads for bytes": lambda n, layers, every, window, heads, d, size: cache_bytes(
            n, layers, every, window, heads, d, heads
        ),
        "two full layers": lambda n, layers, every, window, heads, d, size: (
            2 * (2 * n + (layers - 2) * min(window, n)) * heads * d * size
        ),
        "every other layer": lambda n, layers, every, window, heads, d, size: cache_bytes(
            n, layers, 2, window, heads, d, size
        ),
        "one byte too many": lambda *sizes: cache_bytes(*sizes) + 1,
        "window never moves": lambda n, layers, every, window, heads, d, size: cache_bytes(
            n, layers, every, max(window, n), heads, d, size
        ),
        "complex": lambda *sizes: complex(cache_bytes(*sizes)),
    },
}

RIGHT = {
    "flash.online_update": {
        "logarithms": lambda largest, total, output, scores, values: (
            (new := max(largest, scores.max())),
            torch.logaddexp(total.log() + largest, scores.logsumexp(0)).sub(new).exp(),
            torch.exp(largest - new) * output + torch.exp(scores - new) @ values,
        ),
    },
    "flash.merge": {
        "sigmoid": lambda a, log_a, b, log_b: (
            torch.lerp(b, a, (log_a - log_b).sigmoid()[:, None]),
            torch.stack([log_a, log_b]).logsumexp(0),
        ),
    },
    "flash.cache_bytes": {
        "floats": lambda n, layers, every, window, heads, d, size: (
            2 * (layers / every * n + (layers - layers / every) * min(window, n)) * heads * d * size
        ),
    },
}
