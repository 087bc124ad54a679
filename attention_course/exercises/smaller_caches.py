"""Exercises of the page "Smaller caches"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- shared key-value heads ------------------------------------------------------------------------


def repeat_heads(key, n_heads):
    return key.repeat_interleave(n_heads // key.size(1), dim=1)


def _repeat_inputs(size, generator):
    n_kv_heads, group = (2, 3, 1)[size % 3], (3, 4, 1, 2)[size % 4]
    return normal(generator, 1 + size % 2, n_kv_heads, size + 3, size + 1), n_kv_heads * group


REPEAT = Exercise(
    "smaller_caches.repeat",
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


# --- key-value heads of a trained layer, made one for each group ------------------------------------


def pool(weight, n_heads, n_kv_heads):
    groups = weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))
    return groups.mean(1).flatten(0, 1)


def _pool_inputs(size, generator):
    n_kv_heads, group, d_head = (2, 3, 1)[size % 3], (3, 2, 4)[integer(0, 2, generator)], size + 3
    n_heads = n_kv_heads * group
    return normal(generator, n_heads * d_head, 2 * size + 1), n_heads, n_kv_heads


def _pooled(pooled):
    """A wrong way to make one of the heads of each group, `(n_kv_heads, group, d_head, d_model)`."""

    def wrong(weight, n_heads, n_kv_heads):
        return pooled(weight.unflatten(0, (n_kv_heads, n_heads // n_kv_heads, -1))).flatten(0, 1)

    return wrong


POOL = Exercise(
    "smaller_caches.pool",
    pool,
    _pool_inputs,
    (
        Misconception(
            "first head",
            _pooled(lambda groups: groups[:, 0]),
            "You kept the first head of each group and threw the others away. Every head of the group should count.",
        ),
        Misconception(
            "last head",
            _pooled(lambda groups: groups[:, -1]),
            "You kept the last head of each group and threw the others away. Every head of the group should count.",
        ),
        Misconception(
            "sum",
            _pooled(lambda groups: groups.sum(1)),
            "You added the heads up. Scores would be some n_heads / n_kv_heads times as large, and the softmax much "
            "more decided than the model has learned.",
        ),
        Misconception(
            "sum, divided by the number of groups",
            lambda weight, n_heads, n_kv_heads: pool(weight, n_heads, n_kv_heads) * n_heads / n_kv_heads**2,
            "You added the heads up and divided by n_kv_heads, the number of groups. How many heads are in one group?",
        ),
        Misconception(
            "wrong order",
            lambda weight, n_heads, n_kv_heads: (
                weight.unflatten(0, (n_heads // n_kv_heads, n_kv_heads, -1)).mean(0).flatten(0, 1)
            ),
            "Your groups are made of heads that lie n_kv_heads apart: with four heads and two groups 1 with 3 and 2 "
            "with 4. But query heads 1 and 2 will read the first key-value head.",
        ),
        Misconception(
            "rows within a head",
            lambda weight, n_heads, n_kv_heads: weight.unflatten(0, (-1, n_heads // n_kv_heads)).mean(1),
            "You averaged neighbouring rows of the matrix. Those are features of one head: a head has d_head rows, "
            "and feature i of one head goes with feature i of the others.",
        ),
        Misconception(
            "one mean for all",
            lambda weight, n_heads, n_kv_heads: weight.unflatten(0, (n_heads, -1)).mean(0).repeat(n_kv_heads, 1),
            "Every key-value head has become the mean of all heads. That is right for one of them; where there are "
            "more, each is the mean of its own group.",
        ),
        Misconception(
            "as many heads as before",
            _pooled(lambda groups: groups.mean(1, keepdim=True).expand_as(groups).flatten(0, 1)),
            "The means are right, and each stands there once for every query head. Then the cache is as large as "
            "before: keep each once.",
        ),
        Misconception(
            "heads apart",
            lambda weight, n_heads, n_kv_heads: pool(weight, n_heads, n_kv_heads).unflatten(0, (n_kv_heads, -1)),
            "The means are right. nn.Linear keeps one matrix: lay the heads behind one another again.",
        ),
    ),
    differentiable=True,
)


# --- what a window keeps --------------------------------------------------------------------------


def kept(n_tokens, window, n_sinks):
    place = torch.arange(n_tokens)
    return ((place < n_sinks) | (place >= n_tokens - window)).nonzero().flatten()


def _kept_inputs(size, generator):
    n_sinks, window = integer(0, 3, generator), integer(0, 3, generator) and size
    # By turns a long text, one in which the two groups overlap, one shorter than the window, and a single token.
    lengths = n_sinks + window + integer(2, 4, generator), n_sinks + window - 1, window - 1, 1
    return max(lengths[integer(0, 3, generator)], 1), window, n_sinks


KEPT = Exercise(
    "smaller_caches.kept",
    kept,
    _kept_inputs,
    (
        Misconception(
            "kept twice",
            lambda n_tokens, window, n_sinks: torch.cat(
                [torch.arange(min(n_sinks, n_tokens)), torch.arange(max(n_tokens - window, 0), n_tokens)]
            ),
            "In a short text some of the newest tokens are also among the first, and you keep them twice: their values "
            "would get twice the weight.",
        ),
        Misconception(
            "kept twice, and places that are not there",
            lambda n_tokens, window, n_sinks: torch.cat(
                [torch.arange(n_sinks), torch.arange(n_tokens - window, n_tokens)]
            ),
            "Right for a long text. In a short one the two groups overlap, and a place is kept twice; in a very short "
            "one your places begin below 0 or go on behind the newest token.",
        ),
        Misconception(
            "kept twice, and first tokens that are not there",
            lambda n_tokens, window, n_sinks: torch.cat(
                [torch.arange(n_sinks), torch.arange(max(n_tokens - window, 0), n_tokens)]
            ),
            "Right for a long text. In a short one the two groups overlap, and a place is kept twice; in a very short "
            "one there are fewer tokens than n_sinks.",
        ),
        Misconception(
            "no sinks",
            lambda n_tokens, window, n_sinks: kept(n_tokens, window, 0),
            "You keep the window alone. The first n_sinks stay too.",
        ),
        Misconception(
            "sinks alone",
            lambda n_tokens, window, n_sinks: kept(n_tokens, 0, n_sinks),
            "You keep the first tokens alone. The newest window tokens stay too.",
        ),
        Misconception(
            "one too many",
            lambda n_tokens, window, n_sinks: kept(n_tokens, window + 1, n_sinks),
            "Your window is one too long: places count from 0, so the newest token stands at n_tokens - 1.",
        ),
        Misconception(
            "one too few",
            lambda n_tokens, window, n_sinks: kept(n_tokens, window - 1, n_sinks),
            "Your window is one too short. The newest token counts as one of its tokens.",
        ),
        Misconception(
            "what goes",
            lambda n_tokens, window, n_sinks: torch.tensor(
                sorted(set(range(n_tokens)) - set(kept(n_tokens, window, n_sinks).tolist())), dtype=torch.long
            ),
            "Those are the places that go.",
        ),
        Misconception(
            "a mask",
            lambda n_tokens, window, n_sinks: torch.isin(torch.arange(n_tokens), kept(n_tokens, window, n_sinks)),
            "The booleans are right. Asked for are the places themselves, whole numbers.",
        ),
        Misconception(
            "the oldest beside the sinks",
            lambda n_tokens, window, n_sinks: torch.arange(min(n_sinks + window, n_tokens)),
            "Your window lies behind the first tokens and never moves. It holds the newest ones.",
        ),
    ),
)


# --- the cache of a model that mixes windows with full blocks --------------------------------------


def cache_bytes(n_tokens, n_blocks, every, window, d_model, n_heads, n_kv_heads, bytes_per_number):
    full = n_blocks // every
    held = full * n_tokens + (n_blocks - full) * min(window, n_tokens)
    return 2 * held * n_kv_heads * (d_model // n_heads) * bytes_per_number


def _cache_inputs(size, generator):
    every, window = (1, 2, 3, 4)[size % 4], 10 * size
    n_tokens = integer(5, window - 1, generator) if size % 2 else integer(window + 1, 2 * window, generator)
    n_blocks, n_kv_heads = every * integer(1, 4, generator), integer(1, size + 2, generator)
    n_heads, d_head = integer(1, size, generator) * n_kv_heads, integer(2, 9, generator)
    bytes_per_number = (1, 2, 4, 8)[integer(0, 3, generator)]
    return n_tokens, n_blocks, every, window, d_head * n_heads, n_heads, n_kv_heads, bytes_per_number


def _per_held(held):
    def wrong(n_tokens, n_blocks, every, window, d_model, n_heads, n_kv_heads, bytes_per_number):
        n_held = held(n_tokens, n_blocks, n_blocks // every, window)
        return 2 * n_held * n_kv_heads * (d_model // n_heads) * bytes_per_number

    return wrong


CACHE_BYTES = Exercise(
    "smaller_caches.cache_bytes",
    cache_bytes,
    _cache_inputs,
    (
        Misconception(
            "all blocks hold everything",
            _per_held(lambda n_tokens, n_blocks, full, window: n_blocks * n_tokens),
            "Every block is counted with all tokens. A block with a window never looks further back, and forgets.",
        ),
        Misconception(
            "all blocks forget",
            _per_held(lambda n_tokens, n_blocks, full, window: n_blocks * min(window, n_tokens)),
            "Every block is counted with its window. Some of them see everything, and those fill the memory.",
        ),
        Misconception(
            "window always full",
            _per_held(lambda n_tokens, n_blocks, full, window: full * n_tokens + (n_blocks - full) * window),
            "A text shorter than the window does not fill it.",
        ),
        Misconception(
            "kinds of blocks exchanged",
            _per_held(
                lambda n_tokens, n_blocks, full, window: (n_blocks - full) * n_tokens + full * min(window, n_tokens)
            ),
            "The two kinds are exchanged: one block in `every` sees everything, the others have the window.",
        ),
        Misconception(
            "one block of each kind",
            _per_held(lambda n_tokens, n_blocks, full, window: n_tokens + min(window, n_tokens)),
            "You counted one block of each kind. How many of each are there?",
        ),
        Misconception(
            "keys alone",
            lambda *sizes: cache_bytes(*sizes) // 2,
            "You counted keys or values. A later query needs both.",
        ),
        Misconception(
            "every query head",
            lambda *sizes: cache_bytes(*sizes[:-2], sizes[-3], sizes[-1]),
            "You stored keys and values for every query head. Heads of one group share theirs, and that is the saving.",
        ),
        Misconception(
            "whole width for each head",
            lambda *sizes: cache_bytes(*sizes) * sizes[-3],
            "A key is as wide as one query head, d_model / n_heads, not d_model.",
        ),
        Misconception(
            "numbers, not bytes",
            lambda *sizes: cache_bytes(*sizes[:-1], 1),
            "You counted numbers. Each takes bytes_per_number bytes.",
        ),
    ),
)


EXERCISES = (REPEAT, POOL, KEPT, CACHE_BYTES)
