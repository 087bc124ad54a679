"""Exercises of the chapter "One answer for a whole sequence"."""

import torch
import torch.nn.functional as F

from attention_course.attention import scaled_dot_product_attention
from attention_course.exercises.checking import Exercise, Misconception
from attention_course.exercises.drawing import integer, lengths_up_to, normal


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
            "one count for the batch",
            lambda tokens, mask: (tokens * mask[:, :, None]).sum(1) / mask.sum(),
            "You divided every sentence by the number of real tokens in the whole batch. Each has a count of its own.",
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


# --- attention pooling -----------------------------------------------------------------------------


def attention_pooling(tokens, mask, query):
    scores = (tokens @ query).masked_fill(~mask, float("-inf"))
    return (scores.softmax(1)[:, :, None] * tokens).sum(1)


def _pooling_inputs(size, generator):
    tokens, mask = _padded_batch(size, generator)
    return tokens, mask, normal(generator, tokens.size(-1)) / 2


def _pooled(make_weights):
    """A wrong pooling whose weights `(batch, n_tokens)` are made from scores and mask."""

    def wrong(tokens, mask, query):
        return (make_weights(tokens @ query, mask)[:, :, None] * tokens).sum(1)

    return wrong


POOLING = Exercise(
    "classifiers.attention_pooling",
    attention_pooling,
    _pooling_inputs,
    (
        Misconception(
            "no mask",
            _pooled(lambda scores, mask: scores.softmax(1)),
            "The mask is not used: pads take a share of the attention.",
        ),
        Misconception(
            "softmax over the batch",
            _pooled(lambda scores, mask: scores.masked_fill(~mask, float("-inf")).softmax(0)),
            "The softmax ran over the batch: the sentences compete with each other, token by token.",
        ),
        Misconception(
            "mask after the softmax",
            _pooled(lambda scores, mask: scores.softmax(1) * mask),
            "You masked the weights, after the softmax: those left over no longer sum to 1.",
        ),
        Misconception(
            "mask inverted",
            _pooled(lambda scores, mask: scores.masked_fill(mask, float("-inf")).softmax(1)),
            "You hid the real tokens: masked_fill fills where its mask is True, and this one is True for real tokens. "
            "(A sentence without padding became NaN.)",
        ),
        Misconception(
            "filled with 0",
            _pooled(lambda scores, mask: scores.masked_fill(~mask, 0.0).softmax(1)),
            "You set the scores of pads to 0. The exponential of 0 is 1: they still get a share.",
        ),
        Misconception(
            "hard",
            _pooled(
                lambda scores, mask: F.one_hot(scores.masked_fill(~mask, float("-inf")).argmax(1), mask.size(1)).float()
            ),
            "You took the best token alone. Blend all of them by the softmax, or the query gets no gradient.",
        ),
        Misconception(
            "sigmoid",
            _pooled(lambda scores, mask: scores.sigmoid() * mask),
            "A sigmoid opens a gate for each token on its own. Here tokens share one unit of attention: a softmax.",
        ),
        Misconception(
            "no softmax",
            _pooled(lambda scores, mask: scores * mask),
            "There is no softmax: the weights are raw scores, some of them negative.",
        ),
        Misconception(
            "returns the weights",
            lambda tokens, mask, query: (tokens @ query).masked_fill(~mask, float("-inf")).softmax(1),
            "These are the weights. One step more: blend the tokens with them.",
        ),
    ),
    differentiable=True,
)


# --- patches of an image ---------------------------------------------------------------------------


def image_patches(images, patch_size):
    patches = images.unflatten(2, (-1, patch_size)).unflatten(1, (-1, patch_size))
    return patches.transpose(2, 3).flatten(3).flatten(1, 2)


def _images(size, generator):
    patch_size, batch = 2 + size % 2, (2, 3, 1)[size % 3]
    height, width = (1 + size // 2, 2 + size // 2) if size % 4 < 2 else (1 + size // 2, size // 2)
    return normal(generator, batch, patch_size * height, patch_size * width), patch_size


PATCHES = Exercise(
    "classifiers.image_patches",
    image_patches,
    _images,
    (
        Misconception(
            "reshape alone",
            lambda images, patch_size: images.reshape(len(images), -1, patch_size**2),
            "A reshape alone cuts the image into strips of pixels that lie side by side in memory. A patch has "
            "pixels from several rows: split both sides, then swap two dimensions before you flatten.",
        ),
        Misconception(
            "column by column",
            lambda images, patch_size: image_patches(images.transpose(1, 2), patch_size),
            "Patches go column by column, and so do their pixels: the image is mirrored at its diagonal.",
        ),
        Misconception(
            "patches column by column",
            lambda images, patch_size: (
                images.unflatten(2, (-1, patch_size))
                .unflatten(1, (-1, patch_size))
                .permute(0, 3, 1, 2, 4)
                .flatten(3)
                .flatten(1, 2)
            ),
            "Each patch is right, but they come column by column. Row by row is asked: the right neighbour next.",
        ),
        Misconception(
            "pixels column by column",
            lambda images, patch_size: (
                images.unflatten(2, (-1, patch_size))
                .unflatten(1, (-1, patch_size))
                .permute(0, 1, 3, 4, 2)
                .flatten(3)
                .flatten(1, 2)
            ),
            "The patches are in order, but the pixels within each are transposed.",
        ),
        Misconception(
            "pixels before patches",
            lambda images, patch_size: image_patches(images, patch_size).transpose(1, 2),
            "The dimensions are (batch, pixels, patches), as F.unfold returns them. A token for each patch comes "
            "first, its pixels last.",
        ),
        Misconception(
            "overlapping",
            lambda images, patch_size: F.unfold(images[:, None], patch_size).transpose(1, 2),
            "The patches overlap: the window moves on by one pixel. Move it by a whole patch (stride).",
        ),
        Misconception(
            "one token a row of pixels",
            lambda images, patch_size: images,
            "These are the rows of pixels: tokens, but not patches.",
        ),
        Misconception(
            "not flattened",
            lambda images, patch_size: image_patches(images, patch_size).unflatten(2, (patch_size, patch_size)),
            "The patches are right and still squares. A token is a vector: flatten each.",
        ),
    ),
)


# --- statistics that do not leak ---------------------------------------------------------------------


def standardise(train, test):
    return (test - train.mean(0)) / train.std(0, correction=0)


def _split_table(size, generator):
    scale, shift = 0.5 + 2 * torch.rand(size, generator=generator), 3 * normal(generator, size)
    return tuple(scale * normal(generator, n_rows, size) + shift for n_rows in (size + 4, size - 1))


def _by_rows_of(choose):
    """The test rows, standardised with the statistics of other rows."""
    return lambda train, test: (test - choose(train, test).mean(0)) / choose(train, test).std(0, correction=0)


STANDARDISE = Exercise(
    "classifiers.standardise",
    standardise,
    _split_table,
    (
        Misconception(
            "all rows",
            _by_rows_of(lambda train, test: torch.cat([train, test])),
            "Mean and deviation come from all rows, so the test rows have told the model about themselves before "
            "the test. Use the training rows alone.",
        ),
        Misconception(
            "the test rows' own",
            _by_rows_of(lambda train, test: test),
            "You standardised the test rows by themselves. The model learned on another scale, and a single new "
            "flower would have no deviation at all.",
        ),
        Misconception(
            "over the features",
            lambda train, test: (test - test.mean(1, keepdim=True)) / test.std(1, correction=0, keepdim=True),
            "You took each row's mean over its features: centimetres of sepal mixed with centimetres of petal. "
            "Each column has its own.",
        ),
        Misconception(
            "one number for the table",
            lambda train, test: (test - train.mean()) / train.std(correction=0),
            "You used one mean and one deviation for the whole table. Each column has its own: dimension 0.",
        ),
        Misconception(
            "variance",
            lambda train, test: (test - train.mean(0)) / train.var(0, correction=0),
            "You divided by the variance. Its root has the unit of the column.",
        ),
        Misconception(
            "centred only",
            lambda train, test: test - train.mean(0),
            "The columns are centred but not scaled: divide by the standard deviation.",
        ),
        Misconception(
            "divided by n - 1",
            lambda train, test: (test - train.mean(0)) / train.std(0),
            "The rows are the right ones, but torch divides by n - 1 where nothing is said. Divide by n, as "
            "scikit-learn's StandardScaler does: correction=0.",
        ),
        Misconception(
            "returns the training rows",
            lambda train, test: standardise(train, train),
            "You returned the training rows. Their statistics are right: apply them to the test rows.",
        ),
    ),
)


def hit_rate(weights, gold):
    return gold.gather(1, weights.argmax(1, keepdim=True)).float().mean()


def _pointing_inputs(size, generator):
    weights = torch.randn(2 * size, size + 3, generator=generator).softmax(-1)
    gold = torch.rand(weights.shape, generator=generator) < 0.4
    gold[:, 0] = True  # every sequence has a gold token
    gold[0], gold[1] = False, False
    gold[0, weights[0].argmax()] = True  # one hit
    gold[1, weights[1].argmin()] = True  # and one miss at least
    return weights, gold


HIT_RATE = Exercise(
    "classifiers.hit_rate",
    hit_rate,
    _pointing_inputs,
    (
        Misconception(
            "share of the weight",
            lambda weights, gold: (weights * gold).sum(1).mean(),
            "This is the share of the weight on gold tokens, the other measure. A hit asks only where the largest "
            "weight is.",
        ),
        Misconception(
            "largest over the batch",
            lambda weights, gold: gold.gather(0, weights.argmax(0, keepdim=True)).float().mean(),
            "The largest weight was sought over the batch: for each token the sequence, instead of for each sequence "
            "the token.",
        ),
        Misconception(
            "index of the first gold token",
            lambda weights, gold: (weights.argmax(1) == gold.int().argmax(1)).float().mean(),
            "You compared with the first gold token only. A sequence may have several, and each of them is a hit.",
        ),
        Misconception(
            "counts hits",
            lambda weights, gold: gold.gather(1, weights.argmax(1, keepdim=True)).sum(),
            "This is the number of hits. A rate divides by the number of sequences.",
        ),
        Misconception(
            "per gold token",
            lambda weights, gold: gold.gather(1, weights.argmax(1, keepdim=True)).sum() / gold.sum(),
            "You divided by the number of gold tokens. There is one largest weight a sequence: divide by the "
            "sequences.",
        ),
        Misconception(
            "above average",
            lambda weights, gold: (gold & (weights > 1 / weights.size(1))).any(1).float().mean(),
            "Some gold token with more than its even share is not enough: it has to be the largest of all.",
        ),
    ),
)


def stop_at(losses, patience):
    best, best_at = float("inf"), 0
    for step, loss in enumerate(losses.tolist()):
        if loss < best:
            best, best_at = loss, step
        elif step - best_at >= patience:
            break
    return torch.tensor(best_at)  # a tensor, so that a float is no index


def _curve_inputs(size, generator):
    """A noisy valley with ties, and a lower one after it, which all but endless patience never sees."""
    n = 8 * size
    losses = (torch.linspace(0, 1, n) - 0.35).abs() + 0.25 * normal(generator, n)
    losses = losses.mul(5).round().div(5)
    losses[-1] = losses.min() - 1
    return losses, n if size % 3 == 0 else integer(1, 1 + size // 2, generator)


def _first_rise(losses, patience):
    for step in range(1, len(losses)):
        if losses[step] > losses[step - 1]:
            return step - 1
    return len(losses) - 1


def _rises_in_a_row(losses, patience):
    best_at, rises = 0, 0
    for step in range(1, len(losses)):
        rises = rises + 1 if losses[step] > losses[step - 1] else 0
        if losses[step] < losses[best_at]:
            best_at = step
        if rises >= patience:
            break
    return best_at


def _stopped_step(losses, patience):
    best_at = 0
    for step in range(1, len(losses)):
        if losses[step] < losses[best_at]:
            best_at = step
        elif step - best_at >= patience:
            return step
    return len(losses) - 1


EARLY_STOPPING = Exercise(
    "classifiers.early_stopping",
    stop_at,
    _curve_inputs,
    (
        Misconception(
            "lowest of all",
            lambda losses, patience: losses.argmin().item(),
            "This is the lowest loss of the whole curve. Early stopping does not see what comes after it stops.",
        ),
        Misconception(
            "stops at the first rise",
            _first_rise,
            "You stopped at the first rise. Held-out losses are noisy; patience says how many records to wait for "
            "a new lowest one.",
        ),
        Misconception(
            "returns where it stopped",
            _stopped_step,
            "This is where training stopped. The weights to keep are those of the lowest loss before it, patience "
            "records earlier.",
        ),
        Misconception(
            "counts rises in a row",
            _rises_in_a_row,
            "You counted rises from one record to the next. A loss that zigzags above its lowest value never rises "
            "often in a row: compare with the lowest so far.",
        ),
    ),
)

EXERCISES = (MEAN, CLS, POOLING, PATCHES, STANDARDISE, HIT_RATE, EARLY_STOPPING)
