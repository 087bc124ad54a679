import torch

from attention_course.exercises.alignment import exchange

WRONG = {
    "alignment.exchange": {
        "squeezed": lambda memory, other, place: exchange(memory, other, place).squeeze(),
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


def _in_numpy(memory, other, place):
    mixed = memory.numpy().copy()
    mixed[:, place] = other[:, place]
    return mixed


RIGHT = {
    "alignment.exchange": {
        "a mask": _by_mask,
        "in NumPy": _in_numpy,
        "three pieces": lambda memory, other, place: torch.cat(
            [memory[:, :place], other[:, place : place + 1], memory[:, place + 1 :]], dim=1
        ),
    },
}
