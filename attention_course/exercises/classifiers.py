"""Exercises of the lesson on classifiers: a mean over real tokens, and a CLS token."""

import torch
import torch.nn.functional as F

from attention_course.attention import scaled_dot_product_attention
from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import lengths_up_to, normal


def _padded_batch(size, generator):
    """Tokens and a mask: the first sequence without padding, and what pads hold is large."""
    n_tokens, batch = size + 3, (3, 4, 1)[size % 3]
    mask = torch.arange(n_tokens) < lengths_up_to(n_tokens, batch, generator)[:, None]
    tokens = normal(generator, batch, n_tokens, size + 4)
    return torch.where(mask[:, :, None], tokens, 10 * tokens), mask


# --- the masked mean ----------------------------------------------------------------------------


def masked_mean(tokens, mask):
    return (tokens * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)


MEAN = Exercise(
    "classifiers.masked_mean",
    masked_mean,
    _padded_batch,
    (
        Misconception(
            "divides by the padded length",
            lambda tokens, mask: (tokens * mask[:, :, None]).mean(1),
            "Padding is out of the sum but not out of the count: you divided by the padded length, so a short "
            "sentence shrinks towards zero.",
        ),
        Misconception(
            "no mask",
            lambda tokens, mask: tokens.mean(1),
            "The mask is not used, so padding votes like a word.",
        ),
        Misconception(
            "mask inverted",
            lambda tokens, mask: (tokens * ~mask[:, :, None]).sum(1) / (~mask).sum(1, keepdim=True),
            "You averaged the padding: the mask is True for real tokens. (A sentence without padding gave 0 / 0.)",
        ),
        Misconception(
            "divides by the count of padding",
            lambda tokens, mask: (tokens * mask[:, :, None]).sum(1) / (~mask).sum(1, keepdim=True),
            "The sum is over real tokens, but you divided by how many are not: count the True, not the False.",
        ),
        Misconception(
            "a sum",
            lambda tokens, mask: (tokens * mask[:, :, None]).sum(1),
            "This is a sum: long sentences get long vectors. Divide by how many tokens were added.",
        ),
        Misconception(
            "all real tokens of the batch",
            lambda tokens, mask: tokens[mask].mean(0).expand(len(tokens), -1),
            "Indexing with the mask joined the sentences: this is one mean over the batch, the same for all.",
        ),
        Misconception(
            "averages the features",
            lambda tokens, mask: (tokens * mask[:, :, None]).mean(2),
            "You averaged over the features and kept the tokens. Average over dimension 1.",
        ),
    ),
    given=lambda tokens, mask: (tokens * mask[:, :, None]).sum(1) / mask.sum(),
    differentiable=True,
)


# --- a CLS token ---------------------------------------------------------------------------------


def _encode(tokens, mask):
    """One layer of attention over tokens that know where they stand, as `encoder(tokens, mask)`."""
    place = torch.arange(tokens.size(1), dtype=tokens.dtype)[:, None] * torch.linspace(0.1, 0.9, tokens.size(2))
    tokens = tokens + place.sin()
    output, _ = scaled_dot_product_attention(tokens, tokens, tokens, mask[:, None, :])
    return tokens + output


def _with_cls(tokens, mask, cls, *, at_end=False, real=True):
    """The batch and its mask with the CLS token added."""
    token, entry = cls.expand(len(tokens), 1, -1), torch.full_like(mask[:, :1], real)
    pairs = ((tokens, token), (mask, entry)) if at_end else ((token, tokens), (entry, mask))
    return tuple(torch.cat(pair, dim=1) for pair in pairs)


def cls_vector(tokens, mask, cls, encoder):
    return encoder(*_with_cls(tokens, mask, cls))[:, 0]


def _cls_inputs(size, generator):
    tokens, mask = _padded_batch(size, generator)
    return tokens, mask, normal(generator, tokens.size(-1)), _encode


def _mask_extended_behind(tokens, mask, cls, encoder):
    longer, _ = _with_cls(tokens, mask, cls)
    return encoder(longer, F.pad(mask, (0, 1), value=True))[:, 0]


def _everything_real(tokens, mask, cls, encoder):
    longer, _ = _with_cls(tokens, mask, cls)
    return encoder(longer, torch.ones_like(longer[..., 0], dtype=torch.bool))[:, 0]


def _mask_not_extended(tokens, mask, cls, encoder):
    longer, _ = _with_cls(tokens, mask, cls)
    return encoder(longer, mask)[:, 0]


CLS = Exercise(
    "classifiers.cls_vector",
    cls_vector,
    _cls_inputs,
    (
        Misconception(
            "mask not extended",
            _mask_not_extended,
            "The sequence has grown by one token and the mask has not: it needs an entry for the CLS token.",
        ),
        Misconception(
            "mask extended behind",
            _mask_extended_behind,
            "The token went to the front and its entry of the mask to the end, so every entry is off by one: "
            "the first pad counts as real, and so does the last.",
        ),
        Misconception(
            "everything real",
            _everything_real,
            "Your mask lets pads in: keep the given mask, with one entry in front.",
        ),
        Misconception(
            "CLS token masked",
            lambda tokens, mask, cls, encoder: encoder(*_with_cls(tokens, mask, cls, real=False))[:, 0],
            "The CLS token's entry is False, so no token may attend to it, not even itself. It is real.",
        ),
        Misconception(
            "at the end, read at the end",
            lambda tokens, mask, cls, encoder: encoder(*_with_cls(tokens, mask, cls, at_end=True))[:, -1],
            "You put the token behind the padding. There its position depends on how long the batch's longest "
            "sentence is; in front it is always the same.",
        ),
        Misconception(
            "at the end, read in front",
            lambda tokens, mask, cls, encoder: encoder(*_with_cls(tokens, mask, cls, at_end=True))[:, 0],
            "You put the token at the end and read the first one: that is the sentence's first word.",
        ),
        Misconception(
            "reads the mean",
            lambda tokens, mask, cls, encoder: encoder(*_with_cls(tokens, mask, cls)).mean(1),
            "The token is in the right place, but you averaged all of them, padding too. Read the one you put there.",
        ),
        Misconception(
            "no CLS token",
            lambda tokens, mask, cls, encoder: encoder(tokens, mask)[:, 0],
            "You read the first word. The learned token is not used.",
        ),
        Misconception(
            "added after the encoder",
            lambda tokens, mask, cls, encoder: cls.expand(len(tokens), -1),
            "The token has not been through the encoder: it is the same for every sentence. It must be there "
            "when the tokens attend to each other.",
        ),
        Misconception(
            "all tokens",
            lambda tokens, mask, cls, encoder: encoder(*_with_cls(tokens, mask, cls)),
            "These are all encoded tokens. Return the vector of the CLS token alone.",
        ),
    ),
    differentiable=True,
)


EXERCISES = (MEAN, CLS)
