WRONG = {
    "order.gap": {
        "squares": lambda layer, X, order: (layer(X[order]) - layer(X)[order]).square().max(),
        "one call": lambda layer, X, order: (layer(X)[order] - X[order]).abs().max(),
        "columns moved": lambda layer, X, order: (layer(X[order]) - layer(X).flip(1)).abs().max(),
    },
}

RIGHT = {
    "order.gap": {"moved back": lambda layer, X, order: (layer(X[order])[order.argsort()] - layer(X)).abs().max()},
}
