"""Exercises of the chapter on attention across machines."""

import torch

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer, normal

# --- merging what two devices found --------------------------------------------------------------


def merge(output, log_sum, new_output, new_log_sum):
    total = torch.logaddexp(log_sum, new_log_sum)
    merged = output * (log_sum - total).exp() + new_output * (new_log_sum - total).exp()
    return merged, total


def _merge_inputs(size, generator):
    outputs = normal(generator, 2, size - 1, size + 1)
    log_sums = 1 + torch.rand(2, size - 1, 1, generator=generator) * torch.tensor([1.0, 3.0]).view(2, 1, 1)
    return outputs[0], log_sums[0], outputs[1], log_sums[1]


def _merged_with(share_of_the_first):
    """A wrong merge that divides attention in another way; its log-sum is right."""

    def wrong(output, log_sum, new_output, new_log_sum):
        share = share_of_the_first(log_sum, new_log_sum)
        return share * output + (1 - share) * new_output, torch.logaddexp(log_sum, new_log_sum)

    return wrong


MERGE = Exercise(
    "many_devices.merge",
    merge,
    _merge_inputs,
    (
        Misconception(
            "plain average",
            _merged_with(lambda one, other: torch.full_like(one, 0.5)),
            "You averaged the two outputs. A device whose keys fit the query well must count for more: its share is "
            "its part of the sum of all exponentials.",
        ),
        Misconception(
            "weights by the logarithms",
            _merged_with(lambda one, other: one / (one + other)),
            "You weighted by the logarithms of the sums. Exponentials add up, their logarithms do not: take the "
            "exponential before you compare.",
        ),
        Misconception(
            "shares swapped",
            _merged_with(lambda one, other: torch.sigmoid(other - one)),
            "The shares are swapped: the output with the larger sum got the smaller share.",
        ),
        Misconception(
            "winner takes all",
            _merged_with(lambda one, other: (one > other).float()),
            "You kept the output with the larger sum and dropped the other. Its keys have attention too, only less.",
        ),
        Misconception(
            "outputs added",
            lambda output, log_sum, new_output, new_log_sum: (
                output + new_output,
                torch.logaddexp(log_sum, new_log_sum),
            ),
            "You added two outputs that were each divided by a sum of its own already. Together their weights make 2.",
        ),
        Misconception(
            "log-sums added",
            lambda output, log_sum, new_output, new_log_sum: (
                merge(output, log_sum, new_output, new_log_sum)[0],
                log_sum + new_log_sum,
            ),
            "The output is right, the second number is not: adding logarithms multiplies the sums. The next merge "
            "would go wrong.",
        ),
        Misconception(
            "larger log-sum kept",
            lambda output, log_sum, new_output, new_log_sum: (
                merge(output, log_sum, new_output, new_log_sum)[0],
                torch.maximum(log_sum, new_log_sum),
            ),
            "The output is right, but you kept the larger of the two log-sums. It is the running maximum that takes "
            "the larger one; the sum has grown by the other.",
        ),
        Misconception(
            "output only",
            lambda output, log_sum, new_output, new_log_sum: merge(output, log_sum, new_output, new_log_sum)[0],
            "You returned the output alone. With a third device to come, what would you weigh it by?",
        ),
    ),
)


# --- who holds what ------------------------------------------------------------------------------


def source(rank, step, size):
    return (rank - step) % size


def _source_inputs(size, generator):
    size = size + 2
    return integer(0, size - 1, generator), integer(0, size, generator), size


SOURCE = Exercise(
    "many_devices.source",
    source,
    _source_inputs,
    (
        Misconception(
            "against the ring",
            lambda rank, step, size: (rank + step) % size,
            "Blocks go to the next rank. So the block you hold now was with a lower rank a step ago, not a higher one.",
        ),
        Misconception(
            "no wrap",
            lambda rank, step, size: rank - step,
            "Right until the ring closes: rank 0 receives from the last process, not from rank -1.",
        ),
        Misconception(
            "stops at 0",
            lambda rank, step, size: max(rank - step, 0),
            "You stopped at rank 0. It has a predecessor too: the last process.",
        ),
        Misconception(
            "a step early",
            lambda rank, step, size: (rank - step + 1) % size,
            "One step off: at step 0 everyone still holds their own block.",
        ),
        Misconception(
            "where mine is",
            lambda rank, step, size: (step - rank) % size,
            "The sign is the wrong way round: at step 0 rank 1 would hold the block of the last process.",
        ),
        Misconception(
            "step counts from 0 for everyone",
            lambda rank, step, size: step % size,
            "This gives every process the same block at a step. There is only one of each: they must all differ.",
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


def _late_first(n_tokens, size, rank):
    return torch.cat(places(n_tokens, size, rank).chunk(2)[::-1])


def _late_reversed(n_tokens, size, rank):
    early, late = places(n_tokens, size, rank).chunk(2)
    return torch.cat([early, late.flip(0)])


PLACES = Exercise(
    "many_devices.places",
    places,
    _places_inputs,
    (
        Misconception(
            "contiguous",
            lambda n_tokens, size, rank: torch.arange(n_tokens).chunk(size)[rank],
            "This is one contiguous block. The last process then has the most scores to compute, and the first waits.",
        ),
        Misconception(
            "every size-th token",
            lambda n_tokens, size, rank: torch.arange(n_tokens)[rank::size],
            "You dealt out single tokens in turn: that is striped attention, nearly as even. Zig-zag takes two chunks.",
        ),
        Misconception(
            "chunk rank + size",
            _two_chunks(lambda size, rank: rank + size),
            "You paired chunk r with chunk r + size. Then the last process has the later half of both pairs: pair the "
            "earliest with the latest.",
        ),
        Misconception(
            "one too far",
            _two_chunks(lambda size, rank: 2 * size - rank),
            "One off at the end: there are 2 * size chunks, counted from 0, so the last is number 2 * size - 1.",
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


# --- bytes ---------------------------------------------------------------------------------------


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
            "gradients do not come home",
            _scaled(lambda size: 3 * (size - 1)),
            "After size - 1 hops the gradients are with the last device that used the keys. Their owner is one hop "
            "further.",
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
)


# --- scores --------------------------------------------------------------------------------------


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
            "own block in full",
            _with_diagonal(lambda n: n * n),
            "Within its own block a process computes a triangle: a token does not see the later ones beside it.",
        ),
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
)

EXERCISES = (MERGE, SOURCE, PLACES, BYTES, WORK)
