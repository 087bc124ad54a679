from attention_course.exercises.troubleshooting import padding_moves, stop_at


def _stop(losses, patience, *, where_patience_lasts=lambda best_at: best_at):
    best_at = 0
    for step in range(1, len(losses)):
        if losses[step] < losses[best_at]:
            best_at = step
        elif step - best_at >= patience:
            return best_at
    return where_patience_lasts(best_at)


WRONG = {
    "troubleshooting.sick_sentences": {
        "the first token": lambda output: output[:, 0].isnan().any(-1),
        "the last token": lambda output: output[:, -1].isnan().any(-1),
    },
    "troubleshooting.early_stopping": {
        "nothing where patience lasts": lambda losses, patience: _stop(
            losses, patience, where_patience_lasts=lambda best_at: None
        ),
        "patience of three": lambda losses, patience: stop_at(losses, 3),
        "the last record where patience lasts": lambda losses, patience: (
            len(losses) - 2 if patience >= len(losses) else stop_at(losses, patience)
        ),
        "last record never read": lambda losses, patience: stop_at(losses[:-1], patience),
    },
    "troubleshooting.padding_moves": {
        "zeros for pads, which may be what stands there": lambda model, tokens, mask: (
            (model(tokens * mask[:, :, None], mask) - model(tokens, mask)).abs().max()
        ),
        "the first row": lambda model, tokens, mask: 2 * padding_moves(model, tokens[:1], mask[:1]),
    },
}

RIGHT = {
    "troubleshooting.sick_sentences": {"not equal to itself": lambda output: (output != output).any(-1).any(-1)},
    "troubleshooting.early_stopping": {"own loop": _stop},
    "troubleshooting.padding_moves": {
        "masked_fill of tokens": lambda model, tokens, mask: (
            (model(tokens * mask[:, :, None] + (tokens.roll(1, 1) + 1) * ~mask[:, :, None], mask) - model(tokens, mask))
            .abs()
            .max()
        ),
    },
}
