from attention_course.exercises.order import gap

WRONG = {
    "order.gap": {
        "squares": lambda layer, X, order: (layer(X[order]) - layer(X)[order]).square().max(),
        "one call": lambda layer, X, order: (layer(X)[order] - X[order]).abs().max(),
        "smallest": lambda layer, X, order: (layer(X[order]) - layer(X)[order]).abs().min(),
        "a row each": lambda layer, X, order: (layer(X[order]) - layer(X)[order]).abs().amax(1),
        "columns moved": lambda layer, X, order: (layer(X[order]) - layer(X).flip(1)).abs().max(),
        "sum": lambda layer, X, order: (layer(X[order]) - layer(X)[order]).abs().sum(),
    },
}

RIGHT = {
    "order.gap": {
        "moved back": lambda layer, X, order: (layer(X[order])[order.argsort()] - layer(X)).abs().max(),
        "a number": lambda layer, X, order: gap(layer, X, order).item(),
    },
}
