import torch

from attention_course.exercises.alignment import alignment_error, exchange

WRONG = {
    "alignment.error": {
        "first example": lambda weights, gold: alignment_error(weights[:1], gold[:1]),
        "mean of the examples' means": lambda weights, gold: torch.stack(
            [alignment_error(w, g) for w, g in zip(weights, gold, strict=True)]
        ).max(),
        "first gold word": lambda weights, gold: (
            (weights.argmax(-1) != gold.int().argmax(-1))[gold.any(-1)].double().mean()
        ),
        "padding counts as a hit": lambda weights, gold: (
            (~gold & gold.any(-1, keepdim=True)).gather(-1, weights.argmax(-1, True)).double().mean()
        ),
        "a count": lambda weights, gold: (~gold & gold.any(-1, True)).gather(-1, weights.argmax(-1, True)).sum(),
    },
    "alignment.exchange": {
        "the place before": lambda memory, other, place: exchange(memory, other, place - 1),
        "half of each": lambda memory, other, place: (memory + exchange(memory, other, place)) / 2,
        "one sentence": lambda memory, other, place: torch.cat([exchange(memory, other, place)[:1], memory[1:]]),
        "the token alone": lambda memory, other, place: other[:, place],
        "cut out": lambda memory, other, place: torch.cat([memory[:, :place], memory[:, place + 1 :]], dim=1),
        "the first sentence's token": lambda memory, other, place: exchange(memory, other[:1].expand_as(other), place),
        "unchanged": lambda memory, other, place: memory,
    },
}


def _by_mask(memory, other, place):
    return torch.where((torch.arange(memory.size(1)) == place)[:, None], other, memory)


RIGHT = {
    "alignment.error": {
        "a loop": lambda weights, gold: (
            sum(
                not true[row.argmax()]
                for map_, links in zip(weights, gold, strict=True)
                for row, true in zip(map_, links, strict=True)
                if true.any()
            )
            / gold.any(-1).sum()
        ),
    },
    "alignment.exchange": {
        "a mask": _by_mask,
        "three pieces": lambda memory, other, place: torch.cat(
            [memory[:, :place], other[:, place : place + 1], memory[:, place + 1 :]], dim=1
        ),
    },
}
