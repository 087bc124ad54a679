"""Both real models in the course's own blocks, and what every measurement does with them."""

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import real_models
from attention_course.language_model import CausalLanguageModel
from attention_course.transformer import Encoder

BATCH = 10


@dataclass(frozen=True)
class Models:
    """SmolLM2 and MiniLM, with the tokenizer of each; `embeddings` makes the encoder's first tokens of symbols."""

    tokenizer: object
    model: CausalLanguageModel
    bert_tokenizer: object
    embeddings: nn.Module
    encoder: Encoder

    def encode(self, text: str) -> list[int]:
        """SmolLM2's symbols of a text."""
        return self.tokenizer(text, verbose=False).input_ids

    def encode_for_bert(self, text: str) -> list[int]:
        """MiniLM's symbols of a text, without [CLS] and [SEP]."""
        return self.bert_tokenizer(text, add_special_tokens=False, verbose=False).input_ids


def load() -> Models:
    """Both, without gradients."""
    models = Models(*real_models.smollm2(), *real_models.minilm())
    for module in (models.model, models.embeddings, models.encoder):
        module.requires_grad_(False)
    return models


def untrained(model: nn.Module, seed: int = 0) -> nn.Module:
    """A model of the same shape with random weights, of the size at which such models start."""
    other, source = deepcopy(model), torch.Generator().manual_seed(seed)
    for name, parameter in other.named_parameters():
        if parameter.dim() > 1:
            parameter.data.normal_(0, parameter.size(-1) ** -0.5, generator=source)
        else:
            parameter.data.fill_("norm" in name and name.endswith("weight"))
    return other


@torch.no_grad()
def token_bits(model: CausalLanguageModel, symbols: Tensor) -> Tensor:
    """What each symbol but the first costs, in bits: `(n_texts, length)` to `(n_texts, length - 1)`."""
    costs = [
        F.cross_entropy(model(some[:, :-1])[0].transpose(1, 2), some[:, 1:], reduction="none")
        for some in symbols.split(BATCH)
    ]
    return torch.cat(costs) / math.log(2)


def bits(model: CausalLanguageModel, symbols: Tensor) -> float:
    """Their mean."""
    return token_bits(model, symbols).mean().item()


@torch.no_grad()
def head_scores(model: CausalLanguageModel, symbols: Tensor, *scores: Callable[[Tensor], Tensor]) -> list[Tensor]:
    """Scores of every head, each a mean over texts: `(n_blocks, n_heads)` for each of `scores`.

    Args:
        model: Returns its weights if asked.
        symbols: `(n_texts, length)`.
        scores: From weights `(batch, heads, n, n)` to `(batch, heads)`.
    """
    totals = [0.0] * len(scores)
    for some in symbols.split(BATCH):
        _, maps = model(some, need_weights=True)
        for number, score in enumerate(scores):
            totals[number] = totals[number] + torch.stack([score(weights).sum(0) for weights in maps])
    return [total / len(symbols) for total in totals]


def rounded(numbers: Tensor, digits: int = 3) -> list:
    """As a record keeps them."""
    return (numbers.double() * 10**digits).round().div(10**digits).tolist()
