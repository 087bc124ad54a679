import torch

from attention_course.exercises.troubleshooting import padding_moves, sick_sentences, stop_at


def _stop(losses, patience, *, ties_count=False, wait=0):
    best_at = 0
    for step in range(1, len(losses)):
        better = losses[step] <= losses[best_at] if ties_count else losses[step] < losses[best_at]
        if better:
            best_at = step
        elif step - best_at >= patience + wait:
            return best_at
    return best_at


def _never_without_patience(losses, patience):
    best_at = 0
    for step in range(1, len(losses)):
        if losses[step] < losses[best_at]:
            best_at = step
        elif step - best_at >= patience:
            return best_at
    return None


WRONG = {
    "troubleshooting.sick_sentences": {
        "the first token": lambda output: output[:, 0].isnan().any(-1),
        "the last token": lambda output: output[:, -1].isnan().any(-1),
        "the first feature": lambda output: output[:-1, :, :1].isnan().flatten(1).any(-1),
        "a count": lambda output: output.isnan().flatten(1).sum(-1),
        "one for the batch": lambda output: output.isnan().any(),
    },
    "troubleshooting.early_stopping": {
        "a float": lambda losses, patience: float(stop_at(losses, patience)),
        "nothing where patience lasts": _never_without_patience,
        "patience of three": lambda losses, patience: stop_at(losses, 3),
        "the loss": lambda losses, patience: losses[stop_at(losses, patience)],
        "the last record where patience lasts": lambda losses, patience: (
            len(losses) - 2 if patience >= len(losses) else stop_at(losses, patience)
        ),
        "last record never read": lambda losses, patience: stop_at(losses[:-1], patience),
    },
    "troubleshooting.padding_moves": {
        "zeros for pads, which may be what stands there": lambda model, tokens, mask: (
            (model(tokens * mask[:, :, None], mask) - model(tokens, mask)).abs().max()
        ),
        "the mean": lambda model, tokens, mask: (
            (model(torch.where(mask[:, :, None], tokens, tokens.roll(1, 1) + 1), mask) - model(tokens, mask))
            .abs()
            .mean()
        ),
        "the logits": lambda model, tokens, mask: (
            model(torch.where(mask[:, :, None], tokens, tokens.roll(1, 1) + 1), mask) - model(tokens, mask)
        ),
        "the first row": lambda model, tokens, mask: 2 * padding_moves(model, tokens[:1], mask[:1]),
        "nothing": lambda model, tokens, mask: torch.zeros(()),
    },
}

RIGHT = {
    "troubleshooting.sick_sentences": {
        "not equal to itself": lambda output: (output != output).any(-1).any(-1),
        "the sum of a sentence without infinities": lambda output: (
            output.nan_to_num(nan=torch.nan, posinf=0, neginf=0).sum((1, 2)).isnan()
        ),
        "a list of booleans": lambda output: torch.tensor([bool(sick) for sick in sick_sentences(output)]),
    },
    "troubleshooting.early_stopping": {
        "a Python number": lambda losses, patience: int(stop_at(losses, patience)),
        "own loop": _stop,
    },
    "troubleshooting.padding_moves": {
        "masked_fill of tokens": lambda model, tokens, mask: (
            (model(tokens * mask[:, :, None] + (tokens.roll(1, 1) + 1) * ~mask[:, :, None], mask) - model(tokens, mask))
            .abs()
            .max()
        ),
        "the same": padding_moves,
    },
}
