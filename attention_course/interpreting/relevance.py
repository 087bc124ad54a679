"""Scores that use more of an attention layer than its weights: the vectors it adds, and the gradient of the weights.

Lesson: `chapters/interpretability.ipynb`.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from attention_course.attention import MultiHeadAttention


@torch.no_grad()
def weighted_norms(layer: MultiHeadAttention, tokens: Tensor, weights: Tensor) -> Tensor:
    """How long the vector is that each key's token adds to each query's output, all heads together.

    Kobayashi et al. 2020, arXiv:2004.10102. A large weight on a value near 0 adds little.

    Args:
        layer: Whose keys and values are made of `tokens`.
        tokens: What the layer read, `(batch, n_keys, d_model)`.
        weights: What it handed out, `(batch, n_heads, n_queries, n_keys)`.

    Returns:
        `(batch, n_queries, n_keys)`.
    """
    values = layer.value_proj(tokens).unflatten(-1, (layer.n_kv_heads, -1))
    values = values.repeat_interleave(layer.n_heads // layer.n_kv_heads, dim=2)  # (batch, n_keys, n_heads, d_head)
    output = layer.out_proj.weight.unflatten(-1, (layer.n_heads, -1))  # (d_model, n_heads, d_head)
    added = torch.einsum("bkhd,ohd->bhko", values, output)
    return torch.einsum("bhqk,bhko->bqko", weights, added).norm(dim=-1)


def relevance(read: Callable[[Tensor], tuple[Tensor, list[Tensor]]], x: Tensor) -> Tensor:
    r"""Relevance of each input token for each output, from weights times their gradients.

    Chefer et al. 2021, arXiv:2103.15679, for self-attention. It starts as the identity :math:`R`, and each block adds

    .. math:: \bar A R, \qquad \bar A = \operatorname{mean}_h \bigl(\nabla A \odot A\bigr)^+

    Args:
        read: From embedded tokens to one number each, `(batch,)`, the logit that is explained, and the weights of each
            block, the first block first, `(batch, n_heads, n, n)`.
        x: Embedded tokens `(batch, n, d_model)`.

    Returns:
        `(batch, n, n)`: a row for each output.

    Raises:
        ValueError: If there are no maps.
    """
    with torch.enable_grad():
        numbers, maps = read(x.detach().requires_grad_())
        if not maps:
            raise ValueError("read must return the weights of at least one block, got none")
        gradients = torch.autograd.grad(numbers.sum(), maps)
    relevant = torch.eye(x.size(1), dtype=x.dtype, device=x.device)
    for weights, gradient in zip(maps, gradients, strict=True):
        relevant = relevant + (gradient * weights.detach()).clamp_min(0).mean(1) @ relevant
    return relevant
