import torch

from attention_course.exercises.processes import bytes_sent, work

WRONG = {
    "processes.bytes": {
        "four bytes": lambda n, width, size, itemsize: bytes_sent(n, width, size, 4),
        "two hops less": lambda n, width, size, itemsize: (3 * size - 4) * 2 * n // size * width * itemsize,
        "a byte more": lambda *sizes: bytes_sent(*sizes) + 1,
    },
    "processes.work": {
        "the last alone": lambda n, size: work(n, size)[-1].expand(size),
        "running sum": lambda n, size: work(n, size).cumsum(0),
        "zig-zag": lambda n, size: torch.full((size,), n * (n + 1) // 2 // size),
    },
}

RIGHT = {
    "processes.bytes": {"floats": lambda n, width, size, itemsize: (3 - 2 / size) * 2 * n * width * itemsize},
    "processes.work": {"counted": lambda n, size: (torch.arange(n) + 1).view(size, -1).sum(1)},
}
