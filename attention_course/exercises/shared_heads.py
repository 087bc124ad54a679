"""Exercises of the page "Sharing keys and values"."""

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer, normal

# --- shared key-value heads ------------------------------------------------------------------------


def repeat_heads(key, n_heads):
    return key.repeat_interleave(n_heads // key.size(1), dim=1)


def _repeat_inputs(size, generator):
    n_kv_heads, group = (2, 3, 1)[size % 3], (3, 4, 1, 2)[size % 4]
    return normal(generator, 1 + size % 2, n_kv_heads, size + 3, size + 1), n_kv_heads * group


REPEAT = Exercise(
    "shared_heads.repeat",
    repeat_heads,
    _repeat_inputs,
    (
        Misconception(
            "repeat instead of repeat_interleave",
            lambda key, n_heads: key.repeat(1, n_heads // key.size(1), 1, 1),
            "You laid the whole stack end to end: 1 2 1 2. Query heads 1 and 2 form the first group, so the order must "
            "be 1 1 2 2. The shape is the same, and a model trained with the other order reads the wrong keys.",
        ),
        Misconception(
            "n_heads copies of each",
            lambda key, n_heads: key.repeat_interleave(n_heads, dim=1),
            "You made n_heads copies of each key-value head. How many query heads share one?",
        ),
        Misconception(
            "tokens repeated",
            lambda key, n_heads: key.repeat_interleave(n_heads // key.size(1), dim=2),
            "You repeated the tokens, as if each key stood in the sequence several times.",
        ),
        Misconception(
            "batch repeated",
            lambda key, n_heads: key.repeat_interleave(n_heads // key.size(1), dim=0),
            "You repeated the examples of the batch: heads are the second dimension.",
        ),
        Misconception(
            "first head for all",
            lambda key, n_heads: key[:, :1].expand(-1, n_heads, -1, -1),
            "Every query head has received the first key-value head: right for one of them, multi-query attention, "
            "and for no other number.",
        ),
        Misconception(
            "as many copies as key-value heads",
            lambda key, n_heads: key.repeat_interleave(key.size(1), dim=1),
            "You made as many copies as there are key-value heads. It takes n_heads in all.",
        ),
    ),
    differentiable=True,
)


# --- the cache -----------------------------------------------------------------------------------


def cache_bytes(n_layers, n_tokens, d_model, n_heads, n_kv_heads, bytes_per_number):
    return 2 * n_layers * n_tokens * n_kv_heads * (d_model // n_heads) * bytes_per_number


def _cache_inputs(size, generator):
    n_layers, n_tokens, group, n_kv_heads, d_head = (integer(low, size + 2, generator) for low in (1, 2, 1, 1, 3))
    bytes_per_number = (1, 2, 4, 8)[integer(0, 3, generator)]
    return n_layers, n_tokens, d_head * group * n_kv_heads, group * n_kv_heads, n_kv_heads, bytes_per_number


CACHE = Exercise(
    "shared_heads.cache_bytes",
    cache_bytes,
    _cache_inputs,
    (
        Misconception(
            "keys alone",
            lambda *sizes: cache_bytes(*sizes) // 2,
            "You counted keys or values. A later query needs both.",
        ),
        Misconception(
            "every query head",
            lambda n_layers, n_tokens, d_model, n_heads, n_kv_heads, bytes_per_number: (
                2 * n_layers * n_tokens * d_model * bytes_per_number
            ),
            "You stored keys and values for every query head. Heads of one group share theirs, and that is the saving.",
        ),
        Misconception(
            "one layer",
            lambda n_layers, *sizes: cache_bytes(1, *sizes),
            "Each layer has its own keys and values.",
        ),
        Misconception(
            "whole width for each head",
            lambda n_layers, n_tokens, d_model, n_heads, n_kv_heads, bytes_per_number: (
                2 * n_layers * n_tokens * n_kv_heads * d_model * bytes_per_number
            ),
            "A key-value head is d_head = d_model / n_heads wide, not d_model.",
        ),
        Misconception(
            "weights stored",
            lambda n_layers, n_tokens, d_model, n_heads, n_kv_heads, bytes_per_number: (
                n_layers * n_heads * n_tokens * n_tokens * bytes_per_number
            ),
            "That is the size of the attention weights. They are not kept: the next query makes a new row.",
        ),
        Misconception(
            "numbers, not bytes",
            lambda n_layers, n_tokens, d_model, n_heads, n_kv_heads, bytes_per_number: cache_bytes(
                n_layers, n_tokens, d_model, n_heads, n_kv_heads, 1
            ),
            "You counted numbers. Each takes bytes_per_number bytes.",
        ),
    ),
)


EXERCISES = (REPEAT, CACHE)
