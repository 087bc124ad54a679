from attention_course.exercises.kernels import grad_scores, skipped_tiles

WRONG = {
    "kernels.grad_scores": {
        "correction by the values": lambda scores, value, log_sum, output, grad: (
            (scores - log_sum[:, None]).exp() * (grad @ (value - value.mean(0)).T)
        ),
        "scaled once more": lambda *arguments: grad_scores(*arguments) / arguments[1].size(1) ** 0.5,
    },
    "kernels.skipped_tiles": {
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
}

RIGHT = {
    "kernels.grad_scores": {
        "sum of products": lambda scores, value, log_sum, output, grad: (
            (weights := (scores - log_sum[:, None]).exp()) * (grad @ value.T)
            - weights * (grad * output).sum(-1, keepdim=True)
        ),
    },
    "kernels.skipped_tiles": {
        "row by row": lambda n, rows, columns: sum(
            -(-n // columns) - (min(row + rows, n) - 1) // columns - 1 for row in range(0, n, rows)
        ),
    },
}
