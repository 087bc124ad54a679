import torch

from attention_course.exercises.masking import leaking_positions, window_and_sinks


def _leaks(model, symbols, n_symbols, changes, *, step=1):
    """Leaking positions by a rule on the change `(batch, n_symbols)` of the logits."""
    found = []
    for t in range(symbols.size(1)):
        other = symbols.clone()
        other[:, t + 1 :] = (other[:, t + 1 :] + step) % n_symbols
        found.append(bool(changes((model(other) - model(symbols))[:, t])))
    return torch.tensor(found)


WRONG = {
    "masking.to_multihead": {
        "squeezed": lambda causal, padding: (~causal, ~padding.squeeze()),
        "one example": lambda causal, padding: (~causal, ~padding[0, 0]),
    },
    "masking.window": {
        "one sink too many": lambda n, window, n_sinks: window_and_sinks(n, window, n_sinks + 1),
        "a wider window": lambda n, window, n_sinks: window_and_sinks(n, window + 1, n_sinks),
        "one sink": lambda n, window, n_sinks: window_and_sinks(n, window, 1),
        "sinks as wide as the window": lambda n, window, n_sinks: window_and_sinks(n, window, window),
        "no window": lambda n, window, n_sinks: window_and_sinks(n, 0, n_sinks),
        "everything before": lambda n, window, n_sinks: window_and_sinks(n, n, 0),
    },
    "masking.leaks": {
        "falls only": lambda model, symbols, n: _leaks(model, symbols, n, lambda change: change.min() < -1e-6),
        "mean change": lambda model, symbols, n: _leaks(model, symbols, n, lambda change: change.mean() > 1e-6),
        "likeliest symbol": lambda model, symbols, n: leaking_positions(
            lambda x: torch.nn.functional.one_hot(model(x).argmax(-1), n).float(), symbols, n
        ),
        "first logit": lambda model, symbols, n: _leaks(
            model, symbols, n, lambda change: change[:, 0].abs().max() > 1e-6
        ),
        "last text": lambda model, symbols, n: leaking_positions(model, symbols[-1:], n),
        "texts that all leak": lambda model, symbols, n: _leaks(
            model, symbols, n, lambda change: (change.abs() > 1e-6).any(-1).all()
        ),
        "five symbols": lambda model, symbols, n: leaking_positions(model, symbols, 5),
    },
}

RIGHT = {
    "masking.to_multihead": {
        "a list": lambda causal, padding: [causal.logical_not(), padding.flatten(1).logical_not()],
        "triangle anew": lambda causal, padding: (torch.ones_like(causal).triu(1), ~padding[:, 0, 0]),
    },
    "masking.leaks": {
        "text by text": lambda model, symbols, n: torch.stack(
            [leaking_positions(model, text[None], n) for text in symbols]
        ).any(0),
        "exactly equal": lambda model, symbols, n: _leaks(model, symbols, n, torch.any),
        "two symbols further": lambda model, symbols, n: _leaks(model, symbols, n, torch.any, step=2),
    },
}
