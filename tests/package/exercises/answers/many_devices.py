import torch

from attention_course.exercises.many_devices import bytes_sent, merge, places, ring, work


def one_after_the_other(outputs, log_sums):
    output, log_sum = outputs[0], log_sums[0]
    for new, new_log_sum in zip(outputs[1:], log_sums[1:], strict=True):
        total = torch.logaddexp(log_sum, new_log_sum)
        output = (log_sum - total).exp()[:, None] * output + (new_log_sum - total).exp()[:, None] * new
        log_sum = total
    return output, log_sum


def with_maximum(outputs, log_sums):
    largest = log_sums.amax(0)
    sums = (log_sums - largest).exp()
    return torch.einsum("pq,pqd->qd", sums / sums.sum(0), outputs), largest + sums.sum(0).log()


def all_at_once(queries, keys, values, places):
    seen = places.flatten()[:, None] >= places.flatten()
    whole = (tokens.flatten(0, 1) for tokens in (queries, keys, values))
    return torch.nn.functional.scaled_dot_product_attention(*whole, seen).view_as(queries)


WRONG = {
    "many_devices.bytes": {
        "four bytes": lambda n, width, size, itemsize: bytes_sent(n, width, size, 4),
        "two hops less": lambda n, width, size, itemsize: (3 * size - 4) * 2 * n // size * width * itemsize,
        "a byte more": lambda *sizes: bytes_sent(*sizes) + 1,
    },
    "many_devices.merge": {
        "first two": lambda outputs, log_sums: merge(outputs[:2], log_sums[:2]),
        "exponents returned": lambda outputs, log_sums: (merge(outputs, log_sums)[0], log_sums.exp().sum(0)),
    },
    "many_devices.places": {
        "four devices": lambda n, size, rank: places(n, size, min(rank, 2)),
        "mirrored": lambda n, size, rank: places(n, size, size - 1 - rank),
        "from 1": lambda n, size, rank: places(n, size, rank) + 1,
        "single tokens": lambda n, size, rank: torch.tensor([rank, n - 1 - rank]),
    },
    "many_devices.ring": {
        "queries returned": lambda queries, keys, values, places: queries,
        "places in order": lambda queries, keys, values, places: ring(
            queries, keys, values, torch.arange(places.numel()).view_as(places)
        ),
        "not scaled": lambda queries, keys, values, places: ring(2 * queries, keys, values, places),
    },
    "many_devices.work": {
        "the last alone": lambda n, size: work(n, size)[-1].expand(size),
        "running sum": lambda n, size: work(n, size).cumsum(0),
        "zig-zag": lambda n, size: torch.full((size,), n * (n + 1) // 2 // size),
    },
}

RIGHT = {
    "many_devices.bytes": {"floats": lambda n, width, size, itemsize: (3 - 2 / size) * 2 * n * width * itemsize},
    "many_devices.merge": {"a loop": one_after_the_other, "with the maximum": with_maximum},
    "many_devices.places": {
        "Python": lambda n, size, rank: [t for t in range(n) if t // (n // (2 * size)) in (rank, 2 * size - 1 - rank)],
    },
    "many_devices.ring": {"in one piece": all_at_once},
    "many_devices.work": {"counted": lambda n, size: (torch.arange(n) + 1).view(size, -1).sum(1)},
}
