import torch

from attention_course.exercises.for_real import overlap


def _rest(weights):
    rest = weights[1:, 1:]
    return rest / rest.sum(-1, keepdim=True)


def _by_loops(first, second):
    found = []
    for row, other in zip(first.tolist()[1:], second.tolist()[1:], strict=True):
        pairs = zip(row[1:], other[1:], strict=True)
        found.append(sum(min(one / sum(row[1:]), two / sum(other[1:])) for one, two in pairs))
    return sum(found) / len(found)


WRONG = {
    "for_real.overlap": {
        "half the differences": lambda first, second: (_rest(first) - _rest(second)).abs().sum(-1).mean() / 2,
        "second divided only": lambda first, second: torch.minimum(first[1:, 1:], _rest(second)).sum(-1).mean(),
        "summed over queries": lambda first, second: torch.minimum(_rest(first), _rest(second)).sum(),
        "columns": lambda first, second: overlap(first.flip(1), second.flip(1)),
    },
}
RIGHT = {
    "for_real.overlap": {
        "1 less half the differences": lambda first, second: (
            1 - (_rest(first) - _rest(second)).abs().sum(-1).mean() / 2
        ),
        "by loops": _by_loops,
    },
}
