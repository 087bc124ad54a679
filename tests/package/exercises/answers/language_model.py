import math

import torch
import torch.nn.functional as F

from attention_course.exercises.language_model import bits, examples, shift_of


def _piece_by_piece(symbols, window):
    """Two lists of tensors."""
    starts = range(0, len(symbols) - window, window)
    return [symbols[i : i + window] for i in starts], [symbols[i + 1 : i + window + 1] for i in starts]


WRONG = {
    "language_model.examples": {
        "exchanged": lambda symbols, window: tuple(part.T for part in examples(symbols, window)),
        "pairs of pieces": lambda symbols, window: list(zip(*examples(symbols, window), strict=True)),
    },
    "language_model.bits": {
        "pad is always 0": lambda logits, symbols, pad: bits(logits, symbols, 0),
        "first text alone": lambda logits, symbols, pad: bits(logits[:1], symbols[:1], pad),
        "shifted twice": lambda logits, symbols, pad: bits(logits[:, :-1], symbols[:, 1:], pad),
    },
    "language_model.shift": {
        "always 0": lambda model, symbols: 0,
        "always 2": lambda model, symbols: 2,
        "first text alone, one pair": lambda model, symbols: int(model(symbols).argmax(-1)[0, 2] == symbols[0, 3]),
        "modulo 2": lambda model, symbols: shift_of(model, symbols) % 2,
        "turned round": lambda model, symbols: 2 - shift_of(model, symbols),
    },
}

RIGHT = {
    "language_model.examples": {
        "unfold": lambda symbols, window: (
            symbols[:-1].unfold(0, window, window),
            symbols[1:].unfold(0, window, window),
        ),
        "lists": _piece_by_piece,
    },
    "language_model.bits": {
        "gathered": lambda logits, symbols, pad: (
            -logits[:, :-1].log_softmax(-1).gather(-1, symbols[:, 1:, None])[..., 0][symbols[:, 1:] != pad].mean()
            / math.log(2)
        ),
        "weights of classes": lambda logits, symbols, pad: (
            F.cross_entropy(
                logits[:, :-1].transpose(1, 2),
                symbols[:, 1:],
                weight=(torch.arange(logits.size(-1)) != pad).float(),
            )
            / math.log(2)
        ),
    },
    "language_model.shift": {
        "only what has a target is read": lambda model, symbols: max(
            range(3),
            key=lambda k: (model(symbols[:, : symbols.size(1) - k]).argmax(-1) == symbols[:, k:]).float().mean(),
        ),
        "text by text": lambda model, symbols: shift_of(
            lambda symbols: torch.cat([model(text[None]) for text in symbols]), symbols
        ),
    },
}
