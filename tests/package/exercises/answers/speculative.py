import torch

from attention_course.exercises.speculative import kept, symbols_a_call

WRONG = {
    "speculative.symbols_a_call": {
        "the last place forgotten": lambda accepted: symbols_a_call(accepted[:-1]),
        "backwards": lambda accepted: symbols_a_call(accepted.flip(0)),
        "refused": lambda accepted: symbols_a_call(1 - accepted),
    },
    "speculative.kept": {
        "refused": lambda p, q, drafted: 1 - kept(p, q, drafted),
        "the likeliest in place of the drafted": lambda p, q, drafted: kept(p, q, p.argmax(-1)),
        "as logarithms": lambda p, q, drafted: kept(p, q, drafted).log(),
    },
}


def _by_outcomes(accepted):
    """The sum over all ends of a call: its length, times how likely it ends there."""
    total, reached = 0.0, 1.0
    for place, share in enumerate(accepted.tolist()):
        total += (place + 1) * reached * (1 - share)
        reached *= share
    return torch.tensor(total + (len(accepted) + 1) * reached)


def _by_loop(p, q, drafted):
    found, so_far = [], 1.0
    for row, symbol in enumerate(drafted.tolist()):
        so_far *= min(1.0, (p[row, symbol] / q[row, symbol]).item())
        found.append(so_far)
    return torch.tensor(found)


RIGHT = {
    "speculative.symbols_a_call": {"by outcomes": _by_outcomes},
    "speculative.kept": {
        "by a loop": _by_loop,
        "in logarithms": lambda p, q, drafted: (
            (p.log() - q.log())[torch.arange(len(p)), drafted].clamp(max=0).cumsum(0).exp()
        ),
    },
}
