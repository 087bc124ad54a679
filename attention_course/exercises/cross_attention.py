"""Exercises of the chapter "Cross-attention"."""

import torch

from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer, lengths_up_to, normal


def _attend(query, key, value):
    return (query @ key.transpose(-2, -1) / key.size(-1) ** 0.5).softmax(-1) @ value


# --- who asks, and who is asked ----------------------------------------------------------------


def cross_attention(target, source, W_q, W_k, W_v):
    return _attend(target @ W_q, source @ W_k, source @ W_v)


def _cross_inputs(size, generator):
    d_model, d_k, d_v = 3 + size % 2, 2 + size % 3, size + 4
    weights = (normal(generator, d_model, d) / 2 for d in (d_k, d_k, d_v))
    n_target, n_source = (size, size + 1) if size % 4 < 3 else (size, size - 2)
    return normal(generator, n_target, d_model), normal(generator, n_source, d_model), *weights


def _unscaled(target, source, W_q, W_k, W_v):
    return (target @ W_q @ (source @ W_k).T).softmax(-1) @ (source @ W_v)


def _over_targets(target, source, W_q, W_k, W_v):
    return (target @ W_q @ (source @ W_k).T / W_k.size(1) ** 0.5).softmax(0) @ (source @ W_v)


def _causal(target, source, W_q, W_k, W_v):
    scores = target @ W_q @ (source @ W_k).T / W_k.size(1) ** 0.5
    return scores.masked_fill(~torch.ones_like(scores).tril().bool(), -torch.inf).softmax(-1) @ (source @ W_v)


CROSS = Exercise(
    "cross_attention.layer",
    cross_attention,
    _cross_inputs,
    (
        Misconception(
            "queries from the source",
            lambda target, source, W_q, W_k, W_v: _attend(source @ W_q, target @ W_k, target @ W_v),
            "You let the source ask and the target answer: one row for each source token came out. Who needs "
            "something, and who has it?",
        ),
        Misconception(
            "values from the target",
            lambda target, source, W_q, W_k, W_v: _attend(target @ W_q, source @ W_k, target @ W_v),
            "There is one weight for each source token, so there must be one value for each source token: a key "
            "and its value come from the same token.",
        ),
        Misconception(
            "attends to the target",
            lambda target, source, W_q, W_k, W_v: _attend(target @ W_q, target @ W_k, target @ W_v),
            "This is self-attention on the target; the source is never read.",
        ),
        Misconception(
            "attends within the source",
            lambda target, source, W_q, W_k, W_v: _attend(source @ W_q, source @ W_k, source @ W_v),
            "This is self-attention on the source, what the encoder does. The queries belong to the target.",
        ),
        Misconception(
            "causal mask on the source",
            _causal,
            "You hid later source tokens. The whole source is there before the first target token is written, so "
            "there is no future in it to hide.",
        ),
        Misconception(
            "softmax over the target",
            _over_targets,
            "The softmax ran over the queries. Each target token has one unit of attention to spend on the source.",
        ),
        Misconception("no scaling", _unscaled, "The scores are not divided by the square root of the keys' width."),
    ),
    differentiable=True,
)


# --- heads of two lengths ------------------------------------------------------------------------


def head_attention(query, key, value, n_heads):
    def split(tokens):
        return tokens.unflatten(-1, (n_heads, -1)).transpose(1, 2)

    return _attend(split(query), split(key), split(value)).transpose(1, 2).flatten(-2)


def _heads_inputs(size, generator):
    n_heads, batch = (2, 3, 4)[size % 3], (2, 1)[size % 2]
    n_target, n_source = (size, size + 2) if size % 4 < 3 else (size, size - 1)
    return (*(normal(generator, batch, n, n_heads * (size + 1)) for n in (n_target, n_source, n_source)), n_heads)


def _length_of_the_query(query, key, value, n_heads):
    batch, seq_len, d_model = query.shape

    def split(tokens):
        return tokens.view(batch, seq_len, n_heads, d_model // n_heads).transpose(1, 2)

    return _attend(split(query), split(key), split(value)).transpose(1, 2).reshape(batch, seq_len, d_model)


def _viewed(query, key, value, n_heads):
    def split(tokens):
        return tokens.reshape(len(tokens), n_heads, tokens.size(1), -1)

    return _attend(split(query), split(key), split(value)).transpose(1, 2).flatten(-2)


def _badly_joined(query, key, value, n_heads):
    def split(tokens):
        return tokens.unflatten(-1, (n_heads, -1)).transpose(1, 2)

    return _attend(split(query), split(key), split(value)).reshape(query.shape)


def _wide_scale(query, key, value, n_heads):
    # A query n_heads ** 0.5 times smaller gives scores divided by sqrt(d_model).
    return head_attention(query / n_heads**0.5, key, value, n_heads)


HEADS = Exercise(
    "cross_attention.heads",
    head_attention,
    _heads_inputs,
    (
        Misconception(
            "length of the query",
            _length_of_the_query,
            "You reshaped keys with the length of the query. In self-attention the two are equal and nobody "
            "notices; let each tensor bring its own length.",
        ),
        Misconception(
            "keys cut to the query's length",
            lambda query, key, value, n_heads: head_attention(
                query, key[:, : query.size(1)], value[:, : query.size(1)], n_heads
            ),
            "You cut the source to the length of the target. Nothing crashes, and the last source tokens are never "
            "read.",
        ),
        Misconception(
            "view without transpose",
            _viewed,
            "You viewed (batch, tokens, d_model) as (batch, heads, tokens, d_head) directly, which mixes tokens with "
            "features. Split the last dimension, then swap.",
        ),
        Misconception(
            "joined without transpose",
            _badly_joined,
            "The heads are right, but you joined them while they still stood before the tokens: swap back first.",
        ),
        Misconception(
            "scale of the whole width",
            _wide_scale,
            "You divided by the square root of d_model. A head's dot product has d_head terms.",
        ),
        Misconception(
            "one head",
            lambda query, key, value, n_heads: _attend(query, key, value),
            "The heads were never split: this is one head of the full width.",
        ),
    ),
    differentiable=True,
)


# --- padding in the source -------------------------------------------------------------------------


def source_weights(scores, source, pad):
    return scores.masked_fill((source == pad)[:, None, None, :], -torch.inf).softmax(-1)


def _source_inputs(size, generator):
    pad, batch, n_heads, n_source = integer(0, 9, generator), 1 + size % 3, 1 + size // 2 % 3, size + 2
    source = (pad + torch.randint(1, 10, (batch, n_source), generator=generator)) % 10
    source[torch.arange(n_source) >= lengths_up_to(n_source, batch, generator)[:, None]] = pad
    source[-1, -1] = pad
    return normal(generator, batch, n_heads, size + 3, n_source), source, pad


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
            "A score of 0 is an average score, not a forbidden one: its exponential is 1.",
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
    differentiable=True,
)


# --- alignment error ---------------------------------------------------------------------------------


def alignment_error(weights, gold):
    words = gold.any(-1)
    hit = gold.gather(-1, weights.argmax(-1, keepdim=True))[..., 0]
    return 1 - hit[words].double().mean()


def _alignment_inputs(size, generator):
    shape = ((4, 1, 2)[size % 3], size + 2, size + 3)
    gold = torch.rand(shape, generator=generator) < 1.5 / shape[-1]
    gold[..., -1] |= ~gold.any(-1)
    gold[0, -2:] = gold[1:, -1:] = False  # padding
    weights = (normal(generator, *shape) + 1.5 * gold).softmax(-1)
    return weights, gold


ALIGNMENT = Exercise(
    "cross_attention.alignment_error",
    alignment_error,
    _alignment_inputs,
    (
        Misconception(
            "padding counts as missed",
            lambda weights, gold: 1 - gold.gather(-1, weights.argmax(-1, keepdim=True)).double().mean(),
            "Rows without any gold were counted as misses. They are padding: leave them out.",
        ),
        Misconception(
            "share that hits",
            lambda weights, gold: 1 - alignment_error(weights, gold),
            "This is the share that hits; the error is the share that misses.",
        ),
        Misconception(
            "weight outside gold",
            lambda weights, gold: 1 - (weights * gold).sum(-1)[gold.any(-1)].double().mean(),
            "You summed the weight that falls outside the gold. That is a fair measure too, but here a row counts "
            "as right or wrong by its largest weight.",
        ),
        Misconception(
            "argmax over the target",
            lambda weights, gold: 1 - gold.gather(-2, weights.argmax(-2, keepdim=True)).double().mean(),
            "You took, for each source word, the target word that looks at it most. A row is a target word: its "
            "largest weight is along the last dimension.",
        ),
        Misconception(
            "half the weight",
            lambda weights, gold: 1 - ((weights * gold).sum(-1) > 0.5)[gold.any(-1)].double().mean(),
            "You asked for half of the weight. The largest weight of a row can be smaller than that.",
        ),
        Misconception(
            "all gold words",
            lambda weights, gold: 1 - ((weights > 1 / weights.size(-1)) == gold).all(-1)[gold.any(-1)].double().mean(),
            "You asked each row to find all its gold words and no others. One hit is enough.",
        ),
    ),
)


# --- one step of beam search ------------------------------------------------------------------------


def beam_step(scores, log_probs):
    best = (scores[:, None] + log_probs).flatten().topk(len(scores)).indices
    return torch.stack([best // log_probs.size(1), best % log_probs.size(1)], dim=1)


def _beam_inputs(size, generator):
    width = size - 1
    log_probs = (2 * normal(generator, width, size + 3)).log_softmax(-1)
    return -1.5 * torch.rand(width, generator=generator), log_probs


def _pairs(totals, width):
    best = totals.flatten().topk(width).indices
    return torch.stack([best // totals.size(1), best % totals.size(1)], dim=1)


BEAM = Exercise(
    "cross_attention.beam_step",
    beam_step,
    _beam_inputs,
    (
        Misconception(
            "one child each",
            lambda scores, log_probs: torch.stack([torch.arange(len(scores)), log_probs.argmax(-1)], dim=1),
            "Every beginning kept its own best continuation: that is greedy decoding done several times. They "
            "compete: two may come from one beginning, and none from another.",
        ),
        Misconception(
            "forgets the past",
            lambda scores, log_probs: _pairs(log_probs, len(scores)),
            "You compared the last symbols alone. A beginning that was unlikely so far stays so.",
        ),
        Misconception(
            "multiplies logarithms",
            lambda scores, log_probs: _pairs(scores[:, None] * log_probs, len(scores)),
            "Probabilities are multiplied, so their logarithms are added.",
        ),
        Misconception(
            "symbol and beginning swapped",
            lambda scores, log_probs: beam_step(scores, log_probs).flip(1),
            "First the beginning, then the symbol.",
        ),
        Misconception(
            "divides by the width",
            lambda scores, log_probs: torch.stack(
                [
                    (best := (scores[:, None] + log_probs).flatten().topk(len(scores)).indices) // len(scores),
                    best % len(scores),
                ],
                dim=1,
            ),
            "Flattening laid the rows end to end, and a row is as long as the vocabulary: divide by that.",
        ),
        Misconception(
            "least likely",
            lambda scores, log_probs: _pairs(-(scores[:, None] + log_probs), len(scores)),
            "You kept the least likely ones. Logarithms of probabilities are negative; the likeliest is nearest to 0.",
        ),
    ),
)

# --- a decoder block -------------------------------------------------------------------------------


def decoder_block(tokens, memory, self_attention, cross_attention, feed_forward, mask, memory_mask):
    tokens = tokens + self_attention(tokens, tokens, mask)
    tokens = tokens + cross_attention(tokens, memory, memory_mask)
    return tokens + feed_forward(tokens)


def _network(inner, outer):
    """Stands for the feed-forward layer."""
    return lambda tokens: (tokens @ inner).relu() @ outer


def _attention(matrix):
    """One head of attention whose scores depend on a matrix."""

    def attention(query, key, mask):
        scores = (query @ matrix @ key.T / query.size(-1)).masked_fill(~mask, float("-inf"))
        return scores.softmax(-1) @ key

    return attention


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
        causal,
        real,
    )


def _cross_first(tokens, memory, self_attention, cross_attention, feed_forward, mask, memory_mask):
    tokens = tokens + cross_attention(tokens, memory, memory_mask)
    tokens = tokens + self_attention(tokens, tokens, mask)
    return tokens + feed_forward(tokens)


def _no_causal_mask(tokens, memory, self_attention, cross_attention, feed_forward, mask, memory_mask):
    return decoder_block(
        tokens, memory, self_attention, cross_attention, feed_forward, torch.ones_like(mask), memory_mask
    )


def _no_memory_mask(tokens, memory, self_attention, cross_attention, feed_forward, mask, memory_mask):
    return decoder_block(
        tokens, memory, self_attention, cross_attention, feed_forward, mask, torch.ones_like(memory_mask)
    )


def _memory_asks(tokens, memory, self_attention, cross_attention, feed_forward, mask, memory_mask):
    tokens = tokens + self_attention(tokens, tokens, mask)
    tokens = tokens + cross_attention(memory, tokens, memory_mask)
    return tokens + feed_forward(tokens)


def _memory_added(tokens, memory, self_attention, cross_attention, feed_forward, mask, memory_mask):
    tokens = tokens + self_attention(tokens, tokens, mask)
    tokens = memory + cross_attention(tokens, memory, memory_mask)
    return tokens + feed_forward(tokens)


def _cross_replaces(tokens, memory, self_attention, cross_attention, feed_forward, mask, memory_mask):
    tokens = tokens + self_attention(tokens, tokens, mask)
    tokens = cross_attention(tokens, memory, memory_mask)
    return tokens + feed_forward(tokens)


DECODER = Exercise(
    "cross_attention.decoder_block",
    decoder_block,
    _decoder_inputs,
    (
        Misconception(
            "masks swapped",
            lambda tokens, memory, self_attention, cross_attention, feed_forward, mask, memory_mask: decoder_block(
                tokens, memory, self_attention, cross_attention, feed_forward, memory_mask, mask
            ),
            "The two masks are swapped. Nothing crashed, because here both sequences have the same length; the "
            "decoder reads its own future, and only the beginning of the source.",
        ),
        Misconception(
            "causal mask on both",
            lambda tokens, memory, self_attention, cross_attention, feed_forward, mask, memory_mask: decoder_block(
                tokens, memory, self_attention, cross_attention, feed_forward, mask, mask
            ),
            "Cross-attention got the causal mask. The source is complete before the first word is written: every "
            "target token may see all of it but the padding.",
        ),
        Misconception(
            "no causal mask",
            _no_causal_mask,
            "Self-attention has no mask: the decoder reads the words it has to predict.",
        ),
        Misconception(
            "no mask on the memory",
            _no_memory_mask,
            "Cross-attention has no mask: it reads the source's padding.",
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


EXERCISES = (CROSS, HEADS, SOURCE, ALIGNMENT, BEAM, DECODER)
