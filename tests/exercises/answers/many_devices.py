import torch

from attention_course.exercises.many_devices import bytes_sent, merge, places, work

WRONG = {
    "many_devices.merge": {
        "squeezed": lambda *parts: (merge(*parts)[0].squeeze(), merge(*parts)[1].squeeze()),
        "one share for all": lambda a, log_a, b, log_b: merge(a, log_a.mean().expand_as(log_a), b, log_b),
        "exponents returned": lambda *parts: (merge(*parts)[0], merge(*parts)[1].exp()),
        "other order": lambda *parts: merge(*parts)[::-1],
        "complex": lambda *parts: (merge(*parts)[0] + 1j, merge(*parts)[1]),
        "base 2": lambda a, log_a, b, log_b: (merge(a, log_a, b, log_b)[0], torch.logaddexp2(log_a, log_b)),
    },
    "many_devices.source": {
        "one step": lambda rank, step, size: (rank - 1) % size,
        "own": lambda rank, step, size: rank,
        "one more": lambda rank, step, size: (rank - step + 1) % size,
        "wraps at one less": lambda rank, step, size: (rank - step) % max(size - 1, 1),
        "halfway": lambda rank, step, size: (rank - step // 2) % size,
    },
    "many_devices.places": {
        "floats": lambda n, size, rank: places(n, size, rank).float(),
        "booleans": lambda n, size, rank: torch.zeros(n).index_fill(0, places(n, size, rank), 1).bool(),
        "twice the early chunk": lambda n, size, rank: torch.arange(n).chunk(2 * size)[rank].repeat(2),
        "four processes": lambda n, size, rank: places(n, size, min(rank, 2)),
        "mirrored": lambda n, size, rank: places(n, size, size - 1 - rank),
        "from 1": lambda n, size, rank: places(n, size, rank) + 1,
        "single tokens": lambda n, size, rank: torch.tensor([rank, n - 1 - rank]),
    },
    "many_devices.bytes": {
        "all processes": lambda n, width, size, itemsize: size * bytes_sent(n, width, size, itemsize),
        "four bytes": lambda n, width, size, itemsize: bytes_sent(n, width, size, 4),
        "backward like forward": lambda n, width, size, itemsize: 2 * (size - 1) * 2 * n // size * width * itemsize,
        "two hops less": lambda n, width, size, itemsize: (3 * size - 4) * 2 * n // size * width * itemsize,
        "a byte more": lambda *sizes: bytes_sent(*sizes) + 1,
    },
    "many_devices.work": {
        "floats": lambda n, size: work(n, size).float(),
        "true division": lambda n, size: torch.arange(size) * (n / size) ** 2 + n / size * (n / size + 1) / 2,
        "the last alone": lambda n, size: work(n, size)[-1].expand(size),
        "sum": lambda n, size: work(n, size).sum(),
        "running sum": lambda n, size: work(n, size).cumsum(0),
        "zig-zag": lambda n, size: torch.full((size,), n * (n + 1) // 2 // size),
        "one block more": lambda n, size: work(n, size) + (n // size) ** 2,
    },
}

RIGHT = {
    "many_devices.merge": {
        "sigmoid": lambda a, log_a, b, log_b: (
            (share := torch.sigmoid(log_a - log_b)) * a + (1 - share) * b,
            torch.log(log_a.exp() + log_b.exp()),
        ),
    },
    "many_devices.source": {
        "a branch": lambda rank, step, size: rank - step if rank >= step else rank - step + size,
    },
    "many_devices.places": {
        "Python": lambda n, size, rank: [t for t in range(n) if t // (n // (2 * size)) in (rank, 2 * size - 1 - rank)],
    },
    "many_devices.bytes": {"floats": lambda n, width, size, itemsize: (3 - 2 / size) * 2 * n * width * itemsize},
    "many_devices.work": {
        "counted": lambda n, size: (torch.arange(n) + 1).view(size, -1).sum(1),
        "a list": lambda n, size: work(n, size).tolist(),
    },
}
