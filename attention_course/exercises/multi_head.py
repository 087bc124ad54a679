"""Exercises of the chapter "Multi-head attention"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, normal

# --- splitting -------------------------------------------------------------------------------


def split_heads(tokens, n_heads):
    return tokens.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def _view_split(tokens, n_heads):
    return tokens.reshape(len(tokens), n_heads, tokens.size(1), -1)


def unpack(fused, n_heads):
    return tuple(split_heads(part, n_heads) for part in fused.chunk(3, -1))


def _fused_inputs(size, generator):
    n_heads = (2, 3, 4)[size % 3]
    return normal(generator, 1 + size // 2 % 3, size + 5, 3 * n_heads * (size + 2)), n_heads


def _with_parts(part):
    """A wrong answer that makes each of the three from a third of the features in its own way."""
    return lambda fused, n_heads: tuple(part(third, n_heads) for third in fused.chunk(3, -1))


FUSED = Exercise(
    "multi_head.fused",
    unpack,
    _fused_inputs,
    (
        Misconception(
            "view without transpose",
            _with_parts(_view_split),
            "The shapes are right and the numbers are not: a view keeps their order in memory, where a token's heads "
            "lie side by side. Your first head holds all the features of the first tokens.",
        ),
        Misconception(
            "no transpose",
            _with_parts(lambda tokens, n_heads: tokens.unflatten(-1, (n_heads, -1))),
            "You cut the features into heads, but heads still stand behind tokens. Attention works on the last two "
            "dimensions, so here heads would attend to heads.",
        ),
        Misconception(
            "head by head",
            lambda fused, n_heads: tuple(fused.unflatten(-1, (n_heads, 3, -1)).permute(3, 0, 2, 1, 4)),
            "You read each row as query, key and value of head 1, then query, key and value of head 2. Some models "
            "keep their numbers in that order; here all queries come first, then all keys, then all values.",
        ),
        Misconception(
            "every third feature",
            lambda fused, n_heads: tuple(
                split_heads(part, n_heads) for part in fused.unflatten(-1, (-1, 3)).unbind(-1)
            ),
            "You dealt the features out in turn, one to the queries, one to the keys, one to the values. All queries "
            "come first: they are the first third of each row.",
        ),
        Misconception(
            "every n_heads-th feature",
            _with_parts(lambda tokens, n_heads: tokens.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)),
            "Your heads take every n_heads-th feature. That could be trained too, but weights copied from any other "
            "implementation would be shuffled: the first head is the first d_head features.",
        ),
        Misconception(
            "features before tokens",
            _with_parts(lambda tokens, n_heads: split_heads(tokens, n_heads).transpose(-2, -1)),
            "Tokens and features are the wrong way round: (batch, heads, d_head, tokens). That is what the keys look "
            "like inside the product of the scores, not what a head receives.",
        ),
        Misconception(
            "not split into heads",
            lambda fused, n_heads: fused.chunk(3, -1),
            "Queries, keys and values are apart, and still as wide as the model. Each has to be split into heads too.",
        ),
    ),
    differentiable=True,
)


# --- the whole of it -----------------------------------------------------------------------------


def multi_head(query, key, value, n_heads):
    q, k, v = (split_heads(projected, n_heads) for projected in (query, key, value))
    return _join(_attend(q, k, v, q.size(-1)))


def _attend(q, k, v, width):
    return (q @ k.transpose(-2, -1) / width**0.5).softmax(-1) @ v


def _join(heads):
    return heads.transpose(1, 2).flatten(-2)


def _multi_head_inputs(size, generator):
    n_heads, batch = (2, 3, 4)[size % 3], (2, 1)[size % 2]
    n_queries, n_keys = (size + 4, size + 2) if size % 4 < 2 else (size, size + 3)
    return (*(normal(generator, batch, n, n_heads * (size + 1)) for n in (n_queries, n_keys, n_keys)), n_heads)


def _read_queries_length(query, key, value, n_heads):
    batch, n_queries, d_model = query.shape
    q, k, v = (
        projected.view(batch, n_queries, n_heads, d_model // n_heads).transpose(1, 2)
        for projected in (query, key, value)
    )
    return _join(_attend(q, k, v, q.size(-1)))


def _with_split(split):
    """A wrong multi-head attention that splits in its own way."""

    def wrong(query, key, value, n_heads):
        q, k, v = (split(projected, n_heads) for projected in (query, key, value))
        return _join(_attend(q, k, v, q.size(-1)))

    return wrong


def _with_join(join):
    """A wrong multi-head attention that joins in its own way."""

    def wrong(query, key, value, n_heads):
        q, k, v = (split_heads(projected, n_heads) for projected in (query, key, value))
        return join(_attend(q, k, v, q.size(-1)))

    return wrong


def _wrong_scale_and_join(query, key, value, n_heads):
    """Handed out to be fixed."""
    q, k, v = (split_heads(projected, n_heads) for projected in (query, key, value))
    return _attend(q, k, v, query.size(-1)).reshape(query.shape)


MULTI_HEAD = Exercise(
    "multi_head.attention",
    multi_head,
    _multi_head_inputs,
    (
        Misconception(
            "one head",
            lambda query, key, value, n_heads: _attend(query, key, value, query.size(-1)),
            "This is one head over the whole width: n_heads has no influence.",
        ),
        Misconception(
            "divides by sqrt(d_model)",
            lambda query, key, value, n_heads: _join(
                _attend(*(split_heads(projected, n_heads) for projected in (query, key, value)), query.size(-1))
            ),
            "The division is by the square root of d_model. A score is now a sum of d_head products: scale for those.",
        ),
        Misconception(
            "split by view",
            _with_split(_view_split),
            "The split is a view without a transpose, so each head mixes several tokens.",
        ),
        Misconception(
            "joined by view",
            _with_join(lambda heads: heads.reshape(len(heads), heads.size(2), -1)),
            "The heads come out right, but they are joined by a view: undo the transpose before you flatten.",
        ),
        Misconception(
            "heads interleaved",
            _with_join(lambda heads: heads.permute(0, 2, 3, 1).flatten(-2)),
            "Joined, the features of the heads alternate. The first d_head features must be the first head's.",
        ),
        Misconception(
            "heads averaged",
            _with_join(lambda heads: heads.mean(1)),
            "You averaged the heads, which mixes their answers again. They stand side by side, so that the output "
            "projection can tell them apart.",
        ),
        Misconception(
            "length of the queries used for the keys",
            _read_queries_length,
            "You reshape keys and values with the number of queries. In cross-attention the two differ.",
        ),
    ),
    given=_wrong_scale_and_join,
    differentiable=True,
)


# --- ablation ------------------------------------------------------------------------------------


def _replaced_by(replacement):
    """An ablation that puts something of its own in the place of the head."""

    def ablation(heads, head):
        heads = heads.clone()
        heads[:, head] = replacement(heads, head)
        return heads

    return ablation


ablate = _replaced_by(lambda heads, head: heads[:, head].mean((0, 1)))


def _ablate_inputs(size, generator):
    batch, n_heads = (2, 3, 1)[size % 3], 2 + size // 2
    return normal(generator, batch, n_heads, size, size + 1) + 1, integer(0, n_heads - 1, generator)


def _ablate_example(heads, head):
    heads = heads.clone()
    heads[head] = heads[head].mean((0, 1))
    return heads


ABLATE = Exercise(
    "multi_head.ablate",
    ablate,
    _ablate_inputs,
    (
        Misconception(
            "zero",
            _replaced_by(lambda heads, head: 0.0),
            "You put zeros there. That removes what the head says and also shifts everything behind it by the head's "
            "mean, which the next layer has come to expect. Put the mean there.",
        ),
        Misconception(
            "mean of each example",
            _replaced_by(lambda heads, head: heads[:, head].mean(1, keepdim=True)),
            "You averaged over the tokens of each example, so the head still says something about its example. "
            "Average over the batch too.",
        ),
        Misconception(
            "mean of each position",
            _replaced_by(lambda heads, head: heads[:, head].mean(0)),
            "You averaged over the batch alone, so the head still says something about the position. Average over "
            "the tokens too.",
        ),
        Misconception(
            "one number",
            _replaced_by(lambda heads, head: heads[:, head].mean()),
            "You averaged over the features as well. Each feature has a mean of its own.",
        ),
        Misconception(
            "mean of the other heads",
            _replaced_by(lambda heads, head: (heads.sum(1) - heads[:, head]) / (heads.size(1) - 1)),
            "You put the other heads' mean there. That brings their information in where they have no business.",
        ),
        Misconception(
            "head taken out",
            lambda heads, head: torch.cat([heads[:, :head], heads[:, head + 1 :]], dim=1),
            "You took the head out, so the output projection, which expects n_heads * d_head features, no longer fits.",
        ),
        Misconception(
            "counted from 1",
            lambda heads, head: ablate(heads, head - 1),
            "You replaced the head before the one that was asked for: heads are counted from 0 in the code.",
        ),
        Misconception(
            "an example instead of a head",
            _ablate_example,
            "heads[head] is an example of the batch: heads are the second dimension.",
        ),
    ),
)


EXERCISES = (FUSED, MULTI_HEAD, ABLATE)
