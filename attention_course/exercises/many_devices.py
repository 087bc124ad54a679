"""Exercises of the lesson on attention across machines."""

import torch

from attention_course.efficient.tiles import attend_block
from attention_course.efficient.tiles import merge as merge_blocks
from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- merging what several devices found ----------------------------------------------------------


def merge(outputs, log_sums):
    shares = log_sums.softmax(0)[..., None]
    return (shares * outputs).sum(0), log_sums.logsumexp(0)


def _merge_inputs(size, generator):
    n_parts = size % 3 + 2
    outputs = normal(generator, n_parts, size + n_parts, size + n_parts + 1)
    log_sums = 1 + 3 * torch.rand(n_parts, size + n_parts, generator=generator)
    if size > 5:
        log_sums = log_sums + 200.0  # whose exponential is none of float32's numbers
    return outputs, log_sums


def _merged_with(shares, log_sum=lambda log_sums: log_sums.logsumexp(0)):
    """A wrong merge, from the parts' shares `(parts, n_queries)` and the log-sum-exp that it returns."""

    def wrong(outputs, log_sums):
        return (shares(log_sums)[..., None] * outputs).sum(0), log_sum(log_sums)

    return wrong


def _right_shares(log_sums):
    return log_sums.softmax(0)


MERGE = Exercise(
    "many_devices.merge",
    merge,
    _merge_inputs,
    (
        Misconception(
            "plain average",
            _merged_with(lambda log_sums: torch.full_like(log_sums, 1 / len(log_sums))),
            "You averaged the outputs. A device whose keys fit the query well must count for more: its share is its "
            "part of the sum of all exponentials.",
        ),
        Misconception(
            "outputs added",
            _merged_with(torch.ones_like),
            "You added outputs that were each divided by a sum of their own already. Their weights would sum to the "
            "number of devices.",
        ),
        Misconception(
            "weights by the logarithms",
            _merged_with(lambda log_sums: log_sums / log_sums.sum(0)),
            "You weighted by the logarithms of the sums. Exponentials add up, their logarithms do not.",
        ),
        Misconception(
            "shares over queries",
            _merged_with(lambda log_sums: log_sums.softmax(-1)),
            "The shares must sum to 1 over the parts, for each query. Yours sum to 1 over the queries of a part.",
        ),
        Misconception(
            "winner takes all",
            _merged_with(lambda log_sums: (log_sums == log_sums.amax(0)).to(log_sums.dtype)),
            "You kept the output with the largest sum and dropped the others. Their keys have attention too, if less.",
        ),
        Misconception(
            "log-sums added",
            _merged_with(_right_shares, lambda log_sums: log_sums.sum(0)),
            "The output is right, the second number is not: adding logarithms multiplies the sums.",
        ),
        Misconception(
            "largest log-sum kept",
            _merged_with(_right_shares, lambda log_sums: log_sums.amax(0)),
            "The output is right, but you kept the largest log-sum. The sum has grown by those of the other parts.",
        ),
        Misconception(
            "overflow",
            lambda outputs, log_sums: (
                (log_sums.exp() / log_sums.exp().sum(0))[..., None].mul(outputs).sum(0),
                log_sums.exp().sum(0).log(),
            ),
            "Right as long as the scores are small. The exponential of a large log-sum-exp overflows: take away the "
            "largest one first, or let a function do it that knows how.",
        ),
        Misconception(
            "output only",
            lambda outputs, log_sums: merge(outputs, log_sums)[0],
            "You returned the output alone. With another device to come, what would you weigh it by?",
        ),
    ),
)


# --- zig-zag blocks ------------------------------------------------------------------------------


def places(n_tokens, size, rank):
    chunks = torch.arange(n_tokens).chunk(2 * size)
    return torch.cat([chunks[rank], chunks[2 * size - 1 - rank]])


def _places_inputs(size, generator):
    n_processes = size + 1
    return 2 * n_processes * integer(1, 6, generator), n_processes, integer(0, n_processes - 1, generator)


def _two_chunks(second):
    """Wrong places: chunk `rank`, and the chunk that `second(size, rank)` names."""

    def wrong(n_tokens, size, rank):
        chunks = torch.arange(n_tokens).chunk(2 * size)
        return torch.cat([chunks[rank], chunks[second(size, rank) % (2 * size)]])

    return wrong


def _one_too_far(n_tokens, size, rank):
    chunks = torch.arange(n_tokens).chunk(2 * size)
    return torch.cat([chunks[rank], chunks[2 * size - rank]])


def _late_first(n_tokens, size, rank):
    return torch.cat(places(n_tokens, size, rank).chunk(2)[::-1])


def _late_reversed(n_tokens, size, rank):
    early, late = places(n_tokens, size, rank).chunk(2)
    return torch.cat([early, late.flip(0)])


ONE_OFF = "One off at the end: there are 2 * size chunks, counted from 0, so the last is number 2 * size - 1."

PLACES = Exercise(
    "many_devices.places",
    places,
    _places_inputs,
    (
        Misconception(
            "contiguous",
            lambda n_tokens, size, rank: torch.arange(n_tokens).chunk(size)[rank],
            "This is one contiguous block. The last device then has the most scores to compute, and the first waits.",
        ),
        Misconception(
            "every size-th token",
            lambda n_tokens, size, rank: torch.arange(n_tokens)[rank::size],
            "You dealt out single tokens in turn: that is striped attention, nearly as even. Zig-zag takes two chunks.",
        ),
        Misconception(
            "chunk rank + size",
            _two_chunks(lambda size, rank: rank + size),
            "You paired chunk r with chunk r + size. Then the last device has the later half of both pairs: pair the "
            "earliest with the latest.",
        ),
        Misconception(
            "one too far",
            _two_chunks(lambda size, rank: 2 * size - rank),
            ONE_OFF,
        ),
        Misconception(
            "beyond the last",
            _one_too_far,
            ONE_OFF,
        ),
        Misconception(
            "neighbouring chunks",
            lambda n_tokens, size, rank: torch.cat(torch.arange(n_tokens).chunk(2 * size)[rank : rank + 2]),
            "You took two neighbouring chunks. Early tokens have little to do, late ones much: take one of each.",
        ),
        Misconception(
            "late chunk first",
            _late_first,
            "The right tokens, the late chunk first. Keep them in order: the device's own block needs a causal mask "
            "that is a triangle.",
        ),
        Misconception(
            "late chunk reversed",
            _late_reversed,
            "The right tokens, but inside the late chunk they run backwards. The zig-zag is in the order of chunks.",
        ),
    ),
)


# --- the ring -------------------------------------------------------------------------------------


def ring(queries, keys, values, places):
    output, lse = torch.zeros_like(queries), torch.full_like(queries[..., :1], -torch.inf)
    for step in range(len(queries)):
        held = places.roll(step, 0)
        found = attend_block(queries, keys, values, places[:, :, None] >= held[:, None, :])
        output, lse = merge_blocks(output, lse, *found)
        keys, values = keys.roll(1, 0), values.roll(1, 0)
    return output


def _ring(first=0, turn=1, seen=torch.ge, steps=0, merged=merge_blocks):
    """A wrong ring: handed on `first` times too early, by `turn` devices, `steps` more or fewer."""

    def wrong(queries, keys, values, places):
        output, lse = torch.zeros_like(queries), torch.full_like(queries[..., :1], -torch.inf)
        keys, values = keys.roll(first, 0), values.roll(first, 0)
        for step in range(len(queries) + steps):
            held = places.roll(step, 0)
            found = attend_block(queries, keys, values, seen(places[:, :, None], held[:, None, :]))
            output, lse = merged(output, lse, *found)
            keys, values = keys.roll(turn, 0), values.roll(turn, 0)
        return output

    return wrong


def _places_of_the_neighbours(queries, keys, values, places):
    return _ring()(queries, keys, values, places.roll(1, 0))


def _keys_alone(queries, keys, values, places):
    output, lse = torch.zeros_like(queries), torch.full_like(queries[..., :1], -torch.inf)
    for step in range(len(queries)):
        held = places.roll(step, 0)
        found = attend_block(queries, keys, values, places[:, :, None] >= held[:, None, :])
        output, lse = merge_blocks(output, lse, *found)
        keys = keys.roll(1, 0)
    return output


def _ring_inputs(size, generator):
    n_devices, n, d = size % 3 + 3, size + 1, size + 3
    places = torch.randperm(n_devices * n, generator=generator).view(n_devices, n)
    return *normal(generator, 3, n_devices, n, d), places


RING = Exercise(
    "many_devices.ring",
    ring,
    _ring_inputs,
    (
        Misconception(
            "places handed on twice",
            _ring(first=1, turn=2),
            "You hand keys and values on twice in each step. Once is enough, after the merge.",
        ),
        Misconception(
            "the other way round",
            _ring(turn=-1),
            "Keys and values travel one way round the ring, and `held` turns the other way.",
        ),
        Misconception(
            "values stay",
            _keys_alone,
            "You handed the keys on and kept the values. Each key would then be blended with another key's value.",
        ),
        Misconception(
            "no mask",
            _ring(seen=lambda mine, held: torch.ones_like(mine >= held)),
            "You took the mask away. Now every query sees its future.",
        ),
        Misconception(
            "not itself",
            _ring(seen=torch.gt),
            "A query sees its own key too.",
        ),
        Misconception(
            "the future",
            _ring(seen=torch.le),
            "The comparison is the wrong way round: these queries see their future.",
        ),
        Misconception(
            "a step short",
            _ring(steps=-1),
            "One block is never met: each device needs as many steps as there are devices, and the first is for its "
            "own keys.",
        ),
        Misconception(
            "average",
            _ring(merged=lambda output, lse, new, new_lse: ((output + new) / 2, new_lse)),
            "You averaged what is new with what was there. Leave the merge as it was.",
        ),
        Misconception(
            "places of the queries turned",
            _places_of_the_neighbours,
            "Queries stay at home, so their places must not be turned.",
        ),
    ),
    given=_ring(first=1),
)


# --- bytes that travel ----------------------------------------------------------------------------


def bytes_sent(n_tokens, width, size, itemsize):
    block = 2 * n_tokens // size * width * itemsize
    return (size - 1) * block + (size - 1) * block + size * block


def _bytes_inputs(size, generator):
    return (
        size * integer(1, 4, generator),
        integer(2, 9, generator),
        size,
        (1, 2, 4, 8)[integer(0, 3, generator)],
    )


def _scaled(factor):
    """A wrong number of bytes: blocks of keys and values, `factor(size)` times."""
    return lambda n_tokens, width, size, itemsize: 2 * n_tokens // size * width * itemsize * factor(size)


BYTES = Exercise(
    "many_devices.bytes",
    bytes_sent,
    _bytes_inputs,
    (
        Misconception(
            "forward only",
            _scaled(lambda size: size - 1),
            "This is the forward pass. The backward pass needs all keys and values once more, and their gradients.",
        ),
        Misconception(
            "gradients stay",
            _scaled(lambda size: 2 * (size - 1)),
            "Keys and values go round twice, that is counted. Who adds up the gradient of a key that all devices used?",
        ),
        Misconception(
            "every round closes",
            _scaled(lambda size: 3 * size),
            "You let keys and values travel home. Their owner still has them: the last hop is needed for gradients "
            "only.",
        ),
        Misconception(
            "keys without values",
            lambda n_tokens, width, size, itemsize: bytes_sent(n_tokens, width, size, itemsize) // 2,
            "You counted keys and forgot values, or the other way round.",
        ),
        Misconception(
            "the whole sequence",
            lambda n_tokens, width, size, itemsize: bytes_sent(n_tokens, width, size, itemsize) * size,
            "A process sends a block at a time, and a block is 1 / size of the sequence. (Or you added up all "
            "processes.)",
        ),
        Misconception(
            "numbers, not bytes",
            lambda n_tokens, width, size, itemsize: bytes_sent(n_tokens, width, size, 1),
            "You counted numbers. A number of dtype float32 takes 4 bytes.",
        ),
        Misconception(
            "queries travel too",
            _scaled(lambda size: 3 * (3 * size - 2) / 2),
            "You sent queries round as well. They stay where they are.",
        ),
    ),
    given=_scaled(lambda size: 3 * (size - 1)),
)


# --- scores to compute ----------------------------------------------------------------------------


def work(n_tokens, size):
    n = n_tokens // size
    return torch.tensor([n * rank * n + n * (n + 1) // 2 for rank in range(size)])


def _work_inputs(size, generator):
    return size * integer(1, 9, generator), size


def _with_diagonal(diagonal):
    """Wrong counts: `diagonal(n)` scores within the own block of `n` tokens."""

    def wrong(n_tokens, size):
        n = n_tokens // size
        return torch.tensor([n * rank * n + diagonal(n) for rank in range(size)])

    return wrong


WORK = Exercise(
    "many_devices.work",
    work,
    _work_inputs,
    (
        Misconception(
            "not itself",
            _with_diagonal(lambda n: n * (n - 1) // 2),
            "A token sees itself too: the triangle includes its diagonal.",
        ),
        Misconception(
            "own block left out",
            _with_diagonal(lambda n: 0),
            "You counted the earlier blocks only. Step 0, each process with its own keys, is work as well.",
        ),
        Misconception(
            "all the same",
            lambda n_tokens, size: torch.full((size,), n_tokens * (n_tokens + 1) / 2 / size),
            "You divided the triangle evenly. That is what zig-zag blocks get; contiguous ones do not.",
        ),
        Misconception(
            "no mask",
            lambda n_tokens, size: torch.full((size,), n_tokens // size * n_tokens),
            "This is attention without a mask: every query meets every key.",
        ),
        Misconception(
            "the other end",
            lambda n_tokens, size: work(n_tokens, size).flip(0),
            "The wrong way round: rank 0 holds the first tokens, which have the fewest keys before them.",
        ),
        Misconception(
            "blocks, not scores",
            lambda n_tokens, size: torch.arange(1, size + 1),
            "You counted blocks. A block of n queries and n keys is n * n scores, your own a triangle.",
        ),
    ),
    given=_with_diagonal(lambda n: n * n),
)

EXERCISES = (PLACES, MERGE, RING, BYTES, WORK)
