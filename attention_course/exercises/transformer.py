"""Exercises of the chapter "The Transformer"."""

import torch

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

# --- layer norm --------------------------------------------------------------------------------


def layer_norm(tokens, gain, bias, eps):
    centred = tokens - tokens.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return gain * centred / (variance + eps).sqrt() + bias


def _layer_norm_inputs(size, generator):
    d_model = size + 2
    # Rows and columns of one size would hide a mean over the wrong dimension; eps is large enough to show.
    tokens, eps = 2 * normal(generator, 1 + size % 3, size, d_model) + 1, (0.1, 0.5)[size % 2]
    return tokens, 1 + normal(generator, d_model) / 2, normal(generator, d_model), eps


def _normalised(dim, tokens, gain, bias, eps):
    mean = tokens.mean(dim, keepdim=True)
    return gain * (tokens - mean) / (tokens.var(dim, correction=0, keepdim=True) + eps).sqrt() + bias


LAYER_NORM = Exercise(
    "transformer.layer_norm",
    layer_norm,
    _layer_norm_inputs,
    (
        Misconception(
            "over the tokens",
            lambda *arguments: _normalised(-2, *arguments),
            "You took mean and variance over the tokens. Then what one token gets depends on all others, and on "
            "the length; layer norm looks at one token at a time, along its features.",
        ),
        Misconception(
            "over the batch",
            lambda *arguments: _normalised(0, *arguments),
            "You took mean and variance over the batch: that is batch norm, and an example's output then depends "
            "on which others came with it.",
        ),
        Misconception(
            "over tokens and features",
            lambda *arguments: _normalised((-2, -1), *arguments),
            "One mean and one variance for the whole sequence: a large token then shrinks all others. Each token "
            "has its own.",
        ),
        Misconception(
            "unbiased variance",
            lambda tokens, gain, bias, eps: (
                gain * (tokens - tokens.mean(-1, keepdim=True)) / (tokens.var(-1, keepdim=True) + eps).sqrt() + bias
            ),
            "Your variance divides by d - 1, which is what `var` and `std` do unless told otherwise. Layer norm "
            "estimates nothing: it divides by d.",
        ),
        Misconception(
            "eps outside the root",
            lambda tokens, gain, bias, eps: (
                gain * (tokens - tokens.mean(-1, keepdim=True)) / (tokens.std(-1, correction=0, keepdim=True) + eps)
                + bias
            ),
            "eps was added to the standard deviation. It belongs to the variance, under the root.",
        ),
        Misconception(
            "no eps",
            lambda tokens, gain, bias, eps: layer_norm(tokens, gain, bias, 0.0),
            "The `eps` that was given is not used. (Without any, a token whose features are all equal would give "
            "0 / 0.)",
        ),
        Misconception(
            "divides by the variance",
            lambda tokens, gain, bias, eps: (
                gain * (tokens - tokens.mean(-1, keepdim=True)) / (tokens.var(-1, correction=0, keepdim=True) + eps)
                + bias
            ),
            "You divided by the variance. A token twice as large would come out half as large: take the root.",
        ),
        Misconception(
            "no centring",
            lambda tokens, gain, bias, eps: (
                gain * tokens / (tokens.square().mean(-1, keepdim=True) + eps).sqrt() + bias
            ),
            "The mean was not taken off. That is RMS norm, which many newer models use; layer norm centres first.",
        ),
        Misconception(
            "no gain and bias",
            lambda tokens, gain, bias, eps: layer_norm(tokens, torch.ones_like(gain), torch.zeros_like(bias), eps),
            "Gain and bias are not used.",
        ),
        Misconception(
            "gain on the bias",
            lambda tokens, gain, bias, eps: gain * (layer_norm(tokens, 1.0, 0.0, eps) + bias),
            "The gain multiplied the bias too. Gain first, then bias.",
        ),
    ),
    differentiable=True,
)


# --- a pre-norm block ----------------------------------------------------------------------------


def pre_norm_block(tokens, attention, feed_forward, norm_1, norm_2):
    tokens = tokens + attention(norm_1(tokens))
    return tokens + feed_forward(norm_2(tokens))


def _mixing(matrix):
    """Stands for self-attention: each token becomes a blend of all."""
    return lambda tokens: matrix.softmax(-1) @ tokens


def _network(inner, outer):
    """Stands for the feed-forward layer."""
    return lambda tokens: (tokens @ inner).relu() @ outer


def _norm(gain):
    return lambda tokens: layer_norm(tokens, gain, 0.0, 1e-5)


def _block_inputs(size, generator):
    d_model = size + 2
    return (
        3 * normal(generator, size, d_model) + 1,
        _mixing(normal(generator, size, size)),
        _network(normal(generator, d_model, 2 * d_model), normal(generator, 2 * d_model, d_model)),
        _norm(1 + normal(generator, d_model) / 2),
        _norm(1 + normal(generator, d_model) / 2),
    )


def _post_norm(tokens, attention, feed_forward, norm_1, norm_2):
    tokens = norm_1(tokens + attention(tokens))
    return norm_2(tokens + feed_forward(tokens))


def _norm_on_the_stream(tokens, attention, feed_forward, norm_1, norm_2):
    tokens = norm_1(tokens)
    tokens = tokens + attention(tokens)
    tokens = norm_2(tokens)
    return tokens + feed_forward(tokens)


def _first_norm_on_the_stream(tokens, attention, feed_forward, norm_1, norm_2):
    tokens = norm_1(tokens)
    tokens = tokens + attention(tokens)
    return tokens + feed_forward(norm_2(tokens))


def _two_lines_wrong(tokens, attention, feed_forward, norm_1, norm_2):
    """The code that is given to be fixed."""
    tokens = norm_1(tokens)
    tokens = tokens + attention(tokens)
    return feed_forward(norm_2(tokens))


def _second_norm_on_the_stream(tokens, attention, feed_forward, norm_1, norm_2):
    tokens = tokens + attention(norm_1(tokens))
    tokens = norm_2(tokens)
    return tokens + feed_forward(tokens)


def _second_norm_missing(tokens, attention, feed_forward, norm_1, norm_2):
    tokens = tokens + attention(norm_1(tokens))
    return tokens + feed_forward(tokens)


def _norms_exchanged(tokens, attention, feed_forward, norm_1, norm_2):
    return pre_norm_block(tokens, attention, feed_forward, norm_2, norm_1)


def _no_residuals(tokens, attention, feed_forward, norm_1, norm_2):
    return feed_forward(norm_2(attention(norm_1(tokens))))


def _feed_forward_alone(tokens, attention, feed_forward, norm_1, norm_2):
    tokens = tokens + attention(norm_1(tokens))
    return feed_forward(norm_2(tokens))


def _parallel(tokens, attention, feed_forward, norm_1, norm_2):
    return tokens + attention(norm_1(tokens)) + feed_forward(norm_2(tokens))


def _from_the_start(tokens, attention, feed_forward, norm_1, norm_2):
    return tokens + feed_forward(norm_2(tokens + attention(norm_1(tokens))))


def _update_normalised(tokens, attention, feed_forward, norm_1, norm_2):
    tokens = tokens + norm_1(attention(tokens))
    return tokens + norm_2(feed_forward(tokens))


PRE_NORM = Exercise(
    "transformer.pre_norm",
    pre_norm_block,
    _block_inputs,
    (
        Misconception(
            "post-norm",
            _post_norm,
            "This is the post-norm block of 2017: the norm stands behind the sum. Pre-norm normalises what a layer "
            "reads.",
        ),
        Misconception(
            "norm on the stream",
            _norm_on_the_stream,
            "You replaced the tokens by their normalised selves and added to those. The path around the layer must "
            "stay untouched: only the layer sees the norm.",
        ),
        Misconception(
            "norm on the stream in the first half",
            _first_norm_on_the_stream,
            "The feed-forward layer is right now. Before attention the tokens are still replaced by their normalised "
            "selves: only the layer should see the norm.",
        ),
        Misconception(
            "norm on the stream in the second half",
            _second_norm_on_the_stream,
            "Attention is right now. In the second half the tokens are replaced by their normalised selves, and the "
            "update is added to those: only the layer should see the norm.",
        ),
        Misconception(
            "no norm before the feed-forward",
            _second_norm_missing,
            "The feed-forward layer reads the stream as it is. Its norm is missing.",
        ),
        Misconception(
            "norms exchanged",
            _norms_exchanged,
            "Everything is in its place but the norms, which are exchanged: the first belongs to attention.",
        ),
        Misconception(
            "no residuals",
            _no_residuals,
            "Nothing is added: each layer replaces what it read.",
        ),
        Misconception(
            "no residual around the feed-forward",
            _feed_forward_alone,
            "The feed-forward layer replaces the tokens. Its output is an update too: add it.",
        ),
        Misconception(
            "both from the same tokens",
            _parallel,
            "Both layers read the block's input. Some models do that on purpose, to run them side by side; here the "
            "feed-forward layer reads the stream after attention has written to it.",
        ),
        Misconception(
            "attention is dropped from the sum",
            _from_the_start,
            "The second sum starts from the block's input again, so that what attention wrote is lost from the stream.",
        ),
        Misconception(
            "update normalised",
            _update_normalised,
            "You normalised what the layers give back, not what they read.",
        ),
    ),
    given=_two_lines_wrong,
    differentiable=True,
)

EXERCISES = (LAYER_NORM, PRE_NORM)
