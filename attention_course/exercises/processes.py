"""Exercises of the page on attention in several processes."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer

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
    "processes.bytes",
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
    "processes.work",
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

EXERCISES = (BYTES, WORK)
