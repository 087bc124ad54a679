"""An encoder that answers with one class: tokens in, pooled into one vector, scored.

Lesson: `chapters/classifiers.ipynb`.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attention_course.attention import masked_softmax
from attention_course.transformer import Encoder


class MeanPooling(nn.Module):
    """Every token counts alike, padding not at all."""

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Average the tokens.

        Args:
            tokens: `(batch, n_tokens, d_model)`.
            mask: Boolean `(batch, n_tokens)`; `True` = may count. Without one all do.

        Returns:
            One vector each `(batch, d_model)`, and the weights `(batch, n_tokens)`.
        """
        weights = masked_softmax(tokens.new_zeros(tokens.shape[:-1]), mask)
        return _weighted_sum(weights, tokens), weights


class FirstTokenPooling(nn.Module):
    """The first token speaks for all: put a learned one there (CLS, Devlin et al. 2018, arXiv:1810.04805)."""

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """As for `MeanPooling`, with all the weight on the first token; the mask is not needed."""
        weights = torch.zeros_like(tokens[..., 0])
        weights[:, 0] = 1
        return tokens[:, 0], weights


class AttentionPooling(nn.Module):
    """A learned query asks all tokens (Yang et al. 2016, doi:10.18653/v1/N16-1174, without their extra layer).

    Args:
        d_model: Width of the tokens.
    """

    def __init__(self, d_model: int):
        super().__init__()
        self.score = nn.Linear(d_model, 1)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """As for `MeanPooling`, with learned weights."""
        weights = masked_softmax(self.score(tokens).squeeze(-1), mask)
        return _weighted_sum(weights, tokens), weights


def _weighted_sum(weights: Tensor, tokens: Tensor) -> Tensor:
    return (weights.unsqueeze(-2) @ tokens).squeeze(-2)


@dataclass(frozen=True)
class ClassifierWeights:
    """Where a classifier looked.

    Attributes:
        blocks: For each block the weights `(batch, n_heads, n_tokens, n_tokens)`; a CLS token is the first.
        pooling: The share of each token in the answer, `(batch, n_tokens)`.
    """

    blocks: list[Tensor]
    pooling: Tensor


class Classifier(nn.Module):
    """Embed, add positions, encode, pool, score the classes.

    Args:
        embed: Makes tokens `(batch, n_tokens, d_model)` of the input: `nn.Embedding` of words, `ImagePatches`,
            `FeatureTokens`, or `nn.Linear` of a series of numbers.
        n_classes: Number of classes.
        d_model: Width of the tokens.
        n_heads: Number of heads in each block.
        n_layers: Number of blocks; 0 pools the embedded tokens, normed.
        pooling: `"mean"`, `"cls"` (a learned token is put first) or `"attention"`.
        positions: A module that adds positions to the tokens, `positions(tokens)`.
        dropout: As for `Block`.

    Raises:
        ValueError: If `pooling` is none of these.
    """

    def __init__(
        self,
        embed: nn.Module,
        n_classes: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        *,
        pooling: str = "mean",
        positions: nn.Module | None = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        if pooling not in ("mean", "cls", "attention"):
            raise ValueError(f"pooling must be 'mean', 'cls' or 'attention', got {pooling!r}")
        self.embed = embed
        self.positions = positions
        self.cls_token = nn.Parameter(torch.randn(d_model) * 0.02) if pooling == "cls" else None
        self.encoder = Encoder(d_model, n_heads, n_layers, dropout=dropout)
        if pooling == "mean":
            self.pooling = MeanPooling()
        else:
            self.pooling = FirstTokenPooling() if pooling == "cls" else AttentionPooling(d_model)
        self.logits = nn.Linear(d_model, n_classes)

    def forward(
        self, inputs: Tensor, mask: Tensor | None = None, *, need_weights: bool = False
    ) -> tuple[Tensor, ClassifierWeights | None]:
        """Score the classes.

        Args:
            inputs: What `embed` reads.
            mask: Boolean `(batch, n_tokens)`; `True` = real, `False` = padding.
            need_weights: Whether to return the weights.

        Returns:
            Logits `(batch, n_classes)`, and the `ClassifierWeights` or `None`.
        """
        tokens = self.embed(inputs)
        if self.positions is not None:
            tokens = self.positions(tokens)
        if self.cls_token is not None:
            tokens = torch.cat([self.cls_token.expand(len(tokens), 1, -1), tokens], dim=1)
            if mask is not None:
                mask = torch.cat([mask.new_ones(len(mask), 1), mask], dim=1)
        block_mask = None if mask is None else mask[:, None, None, :]
        tokens, block_weights = self.encoder(tokens, block_mask, need_weights=need_weights)
        pooled, pool_weights = self.pooling(tokens, mask)
        return self.logits(pooled), ClassifierWeights(block_weights, pool_weights) if need_weights else None
