"""Exercises of the page "Is GPT-2 built the same way?"."""

from functools import partial

import torch.nn.functional as F

from attention_course.exercises.judging.checking import Exercise, Misconception
from attention_course.exercises.judging.drawing import normal

SHAPES = {
    "ln_1.weight": (1,),
    "ln_1.bias": (1,),
    "attn.c_attn.weight": (1, 3),
    "attn.c_attn.bias": (3,),
    "attn.c_proj.weight": (1, 1),
    "attn.c_proj.bias": (1,),
    "ln_2.weight": (1,),
    "ln_2.bias": (1,),
    "mlp.c_fc.weight": (1, 4),
    "mlp.c_fc.bias": (4,),
    "mlp.c_proj.weight": (4, 1),
    "mlp.c_proj.bias": (1,),
}


def _thirds(matrix, n_heads):
    return matrix.chunk(3, dim=-1)


def _head_by_head(matrix, n_heads):
    """Cut as if each head had its query, key and value side by side, as GPT-NeoX keeps them."""
    apart = matrix.unflatten(-1, (n_heads, 3, -1))
    return tuple(apart.select(-2, part).flatten(-2) for part in range(3))


def _rows_first(matrix, n_heads):
    """Reshaped in place of being cut: the numbers of a query's matrix run on from one row into the next."""
    return tuple(matrix.reshape(3, *matrix.shape[:-1], -1)) if matrix.dim() == 2 else _thirds(matrix, n_heads)


def _block(tokens, theirs, n_heads, *, cut=_thirds, order=(0, 1, 2), turned=(), gelu="tanh", norms=(1, 2), **kinds):
    """GPT-2's block on tokens `(batch, n, d_model)`. Matrices named in `turned` are used the wrong way round."""
    causal, biases, norm_first = (kinds.get(kind, True) for kind in ("causal", "biases", "norm_first"))

    def norm(x, number):
        return F.layer_norm(x, x.shape[-1:], theirs[f"ln_{number}.weight"], theirs[f"ln_{number}.bias"])

    def linear(x, name, weight=None, bias=None):
        weight = theirs[f"{name}.weight"] if weight is None else weight
        bias = theirs[f"{name}.bias"] if bias is None else bias
        return x @ (weight.T if name in turned else weight) + (bias if biases else 0)

    def attend(x):
        weights, bias = (cut(theirs[f"attn.c_attn.{kind}"], n_heads) for kind in ("weight", "bias"))
        made = [linear(x, "attn.c_attn", weights[part], bias[part]) for part in order]
        query, key, value = (part.unflatten(-1, (n_heads, -1)).transpose(1, 2) for part in made)
        joined = F.scaled_dot_product_attention(query, key, value, is_causal=causal).transpose(1, 2).flatten(2)
        return linear(joined, "attn.c_proj")

    def feed_forward(x):
        return linear(F.gelu(linear(x, "mlp.c_fc"), approximate=gelu), "mlp.c_proj")

    if not norm_first:
        tokens = norm(tokens + attend(tokens), norms[0])
        return norm(tokens + feed_forward(tokens), norms[1])
    tokens = tokens + attend(norm(tokens, norms[0]))
    return tokens + feed_forward(norm(tokens, norms[1]))


def block(tokens, theirs, n_heads):
    return _block(tokens, theirs, n_heads)


def _inputs(size, generator):
    d_model = 2 * size
    theirs = {}
    for name, multiples in SHAPES.items():
        drawn = normal(generator, *(d_model * multiple for multiple in multiples))
        theirs[name] = drawn / d_model**0.5 if name.endswith("c_attn.weight") else drawn
        if name in ("ln_1.weight", "ln_2.weight"):
            theirs[name] = 1 + drawn / 2
    theirs["mlp.c_fc.weight"] *= 2 / d_model**0.5  # where exact GELU and the other differ
    theirs["mlp.c_proj.weight"] *= 2
    return normal(generator, (2, 3, 1)[size % 3], size + 3, d_model), theirs, size


def _wrong(name, message, **change):
    """A mistake, in a block with GPT-2's GELU; and in one with the exact GELU, as `Block` has it by itself."""
    return (
        Misconception(name, partial(_block, **change), message),
        Misconception(
            f"{name}, and exact GELU",
            partial(_block, gelu="none", **change),
            f"{message} (And your block still has the exact GELU.)",
        ),
    )


BLOCK = Exercise(
    "gpt2.block",
    block,
    _inputs,
    (
        Misconception(
            "exact GELU",
            partial(_block, gelu="none"),
            "All matrices are right. Your numbers are off in the fourth or fifth digit: your block has the exact GELU, "
            "and GPT-2 the one with a tanh.",
        ),
        *_wrong(
            "no square matrix transposed",
            "You transposed the two matrices of the feed-forward layer, where PyTorch asks for it. The square ones of "
            "the attention fit either way, and have to be transposed too.",
            turned=("attn.c_attn", "attn.c_proj"),
        ),
        *_wrong(
            "output not transposed",
            "Query, key and value are right. The matrix behind the attention is square, so that it fits either way. "
            "GPT-2 keeps it transposed as well.",
            turned=("attn.c_proj",),
        ),
        *_wrong(
            "query, key and value not transposed",
            "You cut the fused matrix into three square ones, which fit either way. Each of them has to be transposed.",
            turned=("attn.c_attn",),
        ),
        *_wrong(
            "key and value exchanged",
            "You took the third part for the keys and the second for the values. The order is query, key, value.",
            order=(0, 2, 1),
        ),
        *_wrong(
            "query and key exchanged",
            "You took the second part for the queries and the first for the keys. The order is query, key, value.",
            order=(1, 0, 2),
        ),
        *_wrong(
            "reshaped in place of cut",
            "You made three matrices of the fused one by reshaping it, or cut it along its rows. Each row of it has a "
            "query's numbers first, then a key's, then a value's: cut its columns.",
            cut=_rows_first,
        ),
        *_wrong(
            "cut head by head",
            "You cut as if each head had its query, key and value side by side, as other models keep them. Here all "
            "queries stand first, then all keys, then all values.",
            cut=_head_by_head,
        ),
        *_wrong(
            "norms exchanged",
            "ln_1 belongs in front of the attention, and ln_2 in front of the feed-forward layer.",
            norms=(2, 1),
        ),
        *_wrong(
            "no causal mask",
            "All numbers are in their places. But the tokens see later ones: GPT-2 hides them.",
            causal=False,
        ),
        *_wrong("no biases", "The matrices are right. GPT-2's linear layers have biases, too.", biases=False),
        *_wrong(
            "post-norm",
            "Your block normalises behind each sum. GPT-2 normalises what a layer reads, as the package's block does.",
            norm_first=False,
        ),
    ),
)

EXERCISES = (BLOCK,)
