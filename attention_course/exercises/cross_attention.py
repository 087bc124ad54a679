"""Exercises of the lesson "Cross-attention"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import integer, lengths_up_to, normal


def _attend(query, key, value):
    return (query @ key.transpose(-2, -1) / key.size(-1) ** 0.5).softmax(-1) @ value


# --- who asks, and who is asked ----------------------------------------------------------------


def caption(patches, words, W_q, W_k, W_v):
    return _attend(words @ W_q, patches @ W_k, patches @ W_v)


def _caption_inputs(size, generator):
    d_model, d_k, d_v = 3 + size % 2, 2 + size % 3, size + 4
    weights = (normal(generator, d_model, d) / 2 for d in (d_k, d_k, d_v))
    n_words, n_patches = (size, size + 1) if size % 4 < 3 else (size, size - 2)
    return normal(generator, n_patches, d_model), normal(generator, n_words, d_model), *weights


def _scores(patches, words, W_q, W_k):
    return words @ W_q @ (patches @ W_k).T / W_k.size(1) ** 0.5


def _causal(patches, words, W_q, W_k, W_v):
    scores = _scores(patches, words, W_q, W_k)
    return scores.masked_fill(~torch.ones_like(scores).tril().bool(), -torch.inf).softmax(-1) @ (patches @ W_v)


CAPTION = Exercise(
    "cross_attention.caption",
    caption,
    _caption_inputs,
    (
        Misconception(
            "queries from the patches",
            lambda patches, words, W_q, W_k, W_v: _attend(patches @ W_q, words @ W_k, words @ W_v),
            "You made queries of the picture: one row for each patch came out. Which of the two is being written?",
        ),
        Misconception(
            "values from the words",
            lambda patches, words, W_q, W_k, W_v: _attend(words @ W_q, patches @ W_k, words @ W_v),
            "There is one weight for each patch, so there must be one value for each patch. There are as many of yours "
            "as words.",
        ),
        Misconception(
            "attends to the words",
            lambda patches, words, W_q, W_k, W_v: _attend(words @ W_q, words @ W_k, words @ W_v),
            "This is self-attention on the words; the picture is never read.",
        ),
        Misconception(
            "attends within the picture",
            lambda patches, words, W_q, W_k, W_v: _attend(patches @ W_q, patches @ W_k, patches @ W_v),
            "This is self-attention on the patches, what an encoder does. The queries belong to the words.",
        ),
        Misconception(
            "causal mask on the picture",
            _causal,
            "You hid later patches. The whole picture is there before the first word is written, so there is no "
            "future in it to hide.",
        ),
        Misconception(
            "softmax over the words",
            lambda patches, words, W_q, W_k, W_v: _scores(patches, words, W_q, W_k).softmax(0) @ (patches @ W_v),
            "The softmax ran over the queries. Each word has one unit of attention to spend on the patches.",
        ),
        Misconception(
            "no scaling",
            lambda patches, words, W_q, W_k, W_v: (words @ W_q @ (patches @ W_k).T).softmax(-1) @ (patches @ W_v),
            "The scores are not divided by the square root of the keys' width.",
        ),
    ),
    differentiable=True,
)


# --- padding in the source -------------------------------------------------------------------------


def source_weights(scores, source, pad):
    return scores.masked_fill((source == pad)[:, None, None, :], -torch.inf).softmax(-1)


def _source_inputs(size, generator):
    """Target and source as long as each other, as in a padded batch, where the given code raises nothing; or not."""
    pad, batch, n_heads, n_source = integer(0, 9, generator), 1 + size % 3, 1 + size // 2 % 3, size + 2
    source = (pad + torch.randint(1, 10, (batch, n_source), generator=generator)) % 10
    source[torch.arange(n_source) >= lengths_up_to(n_source, batch, generator)[:, None]] = pad
    source[-1, -1] = pad
    return normal(generator, batch, n_heads, n_source + (size % 4 == 1), n_source), source, pad


def _hide_queries(scores, source, pad, fill):
    return scores.masked_fill((source == pad)[:, None, :, None], fill).softmax(-1)


def _causal_too(scores, source, pad):
    future = ~torch.ones(scores.shape[-2:]).tril().bool()
    return source_weights(scores.masked_fill(future, -torch.inf), source, pad)


def _without_heads(scores, source, pad):
    return scores.masked_fill((source == pad)[:, None, :], -torch.inf).softmax(-1)


SOURCE = Exercise(
    "cross_attention.source_mask",
    source_weights,
    _source_inputs,
    (
        Misconception(
            "polarity",
            lambda scores, source, pad: scores.masked_fill((source != pad)[:, None, None, :], -torch.inf).softmax(-1),
            "You kept the padding and hid the words. masked_fill fills where its mask is True.",
        ),
        Misconception(
            "after the softmax",
            lambda scores, source, pad: scores.softmax(-1).masked_fill((source == pad)[:, None, None, :], 0.0),
            "You zeroed weights after the softmax: the words of a short source share less than one unit.",
        ),
        Misconception(
            "scores set to 0",
            lambda scores, source, pad: scores.masked_fill((source == pad)[:, None, None, :], 0.0).softmax(-1),
            "The mask lies on the source now. But a score of 0 is an average score, not a forbidden one: its "
            "exponential is 1.",
        ),
        Misconception(
            "rows hidden",
            lambda scores, source, pad: _hide_queries(scores, source, pad, -torch.inf),
            "What is hidden is hidden well, but it is the wrong dimension. Which dimension of the scores counts source "
            "words?",
        ),
        Misconception(
            "causal too",
            _causal_too,
            "You also hid later source tokens. They were there before writing began: only padding is hidden.",
        ),
        Misconception(
            "no mask",
            lambda scores, source, pad: scores.softmax(-1),
            "The padding still gets weight.",
        ),
        Misconception(
            "dimension for heads missing",
            _without_heads,
            "Shapes are aligned from the back: your mask's batch stands where the heads are. Give it one dimension "
            "for the heads and one for the queries.",
        ),
    ),
    given=lambda scores, source, pad: _hide_queries(scores, source, pad, 0.0),
    differentiable=True,
)


# --- a decoder block of 2017 -----------------------------------------------------------------------


def decoder_block(tokens, memory, self_attention, cross_attention, feed_forward, norm, mask, memory_mask):
    tokens = norm(tokens + self_attention(tokens, tokens, mask))
    tokens = norm(tokens + cross_attention(tokens, memory, memory_mask))
    return norm(tokens + feed_forward(tokens))


def _network(inner, outer):
    """Stands for the feed-forward layer."""
    return lambda tokens: (tokens @ inner).relu() @ outer


def _attention(matrix):
    """One head of attention whose scores depend on a matrix."""

    def attention(query, key, mask):
        scores = (query @ matrix @ key.T / query.size(-1)).masked_fill(~mask, float("-inf"))
        return scores.softmax(-1) @ key

    return attention


def _norm(gain, bias):
    """A layer norm with a gain and a bias of its own."""
    return lambda tokens: torch.nn.functional.layer_norm(tokens, tokens.shape[-1:], gain, bias)


def _decoder_inputs(size, generator):
    d_model, n = size + 3, size + 1  # as many tokens as memories: swapped masks raise nothing
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    real = (torch.arange(n) < integer(1, n - 1, generator)).expand(n, n)
    return (
        normal(generator, n, d_model),
        normal(generator, n, d_model),
        _attention(normal(generator, d_model, d_model)),
        _attention(normal(generator, d_model, d_model)),
        _network(normal(generator, d_model, 2 * d_model) / 2, normal(generator, 2 * d_model, d_model) / 2),
        _norm(1 + normal(generator, d_model) / 4, normal(generator, d_model) / 4),
        causal,
        real,
    )


def _cross_first(x, memory, self_attention, cross_attention, feed_forward, norm, mask, memory_mask):
    x = norm(x + cross_attention(x, memory, memory_mask))
    x = norm(x + self_attention(x, x, mask))
    return norm(x + feed_forward(x))


def _norm_first(x, memory, self_attention, cross_attention, feed_forward, norm, mask, memory_mask):
    x = x + self_attention(norm(x), norm(x), mask)
    x = x + cross_attention(norm(x), memory, memory_mask)
    return x + feed_forward(norm(x))


def _norm_last(x, memory, self_attention, cross_attention, feed_forward, norm, mask, memory_mask):
    x = x + self_attention(x, x, mask)
    x = x + cross_attention(x, memory, memory_mask)
    return norm(x + feed_forward(x))


def _memory_asks(x, memory, self_attention, cross_attention, feed_forward, norm, mask, memory_mask):
    x = norm(x + self_attention(x, x, mask))
    x = norm(x + cross_attention(memory, x, memory_mask))
    return norm(x + feed_forward(x))


def _memory_added(x, memory, self_attention, cross_attention, feed_forward, norm, mask, memory_mask):
    x = norm(x + self_attention(x, x, mask))
    x = norm(memory + cross_attention(x, memory, memory_mask))
    return norm(x + feed_forward(x))


def _cross_replaces(x, memory, self_attention, cross_attention, feed_forward, norm, mask, memory_mask):
    x = norm(x + self_attention(x, x, mask))
    x = norm(cross_attention(x, memory, memory_mask))
    return norm(x + feed_forward(x))


def _last_not_normed(x, memory, self_attention, cross_attention, feed_forward, norm, mask, memory_mask):
    x = norm(x + self_attention(x, x, mask))
    x = norm(x + cross_attention(x, memory, memory_mask))
    return x + feed_forward(x)


def _memory_unread(x, memory, self_attention, cross_attention, feed_forward, norm, mask, memory_mask):
    x = norm(x + self_attention(x, x, mask))
    x = norm(x + cross_attention(x, x, memory_mask))
    return norm(x + feed_forward(x))


DECODER = Exercise(
    "cross_attention.decoder_block",
    decoder_block,
    _decoder_inputs,
    (
        Misconception(
            "masks swapped",
            lambda *arguments: decoder_block(*arguments[:6], arguments[7], arguments[6]),
            "The two masks are swapped. Nothing crashed, because here both sequences have the same length; the "
            "decoder reads its own future, and only the beginning of the source.",
        ),
        Misconception(
            "causal mask on both",
            lambda *arguments: decoder_block(*arguments[:7], arguments[6]),
            "Cross-attention got the causal mask. The source is complete before the first word is written: every "
            "target token may see all of it but the padding.",
        ),
        Misconception(
            "no causal mask",
            lambda *arguments: decoder_block(*arguments[:6], torch.ones_like(arguments[6]), arguments[7]),
            "Self-attention has no mask: the decoder reads the words it has to predict.",
        ),
        Misconception(
            "the last norm missing",
            _last_not_normed,
            "The last sum leaves the block without its norm. The block of 2017 has one behind each of its three sums.",
        ),
        Misconception(
            "the memory is never read",
            _memory_unread,
            "Cross-attention got the target twice: nothing of the source reaches the block. Its keys and values come "
            "from the memory.",
        ),
        Misconception(
            "no mask on the memory",
            lambda *arguments: decoder_block(*arguments[:7], torch.ones_like(arguments[7])),
            "Cross-attention has no mask: it reads the source's padding.",
        ),
        Misconception(
            "norm first",
            _norm_first,
            "This is the block of the lesson, which normalises what a layer reads. The block of 2017 normalises the "
            "sum that a layer leaves behind.",
        ),
        Misconception(
            "one norm",
            _norm_last,
            "The last sum is normalised. So must be the other two, before the next layer reads them.",
        ),
        Misconception(
            "cross-attention first",
            _cross_first,
            "The order is self-attention, cross-attention, feed-forward: look at what is written so far, then ask "
            "the source.",
        ),
        Misconception(
            "memory asks",
            _memory_asks,
            "Queries and keys of cross-attention changed places: the target asks, the memory answers.",
        ),
        Misconception(
            "added to the memory",
            _memory_added,
            "You added the update to the memory. The memory is only read; the decoder's own tokens are the stream.",
        ),
        Misconception(
            "cross-attention replaces",
            _cross_replaces,
            "There is no residual around cross-attention: what self-attention found is gone.",
        ),
    ),
    differentiable=True,
)

EXERCISES = (CAPTION, SOURCE, DECODER)
