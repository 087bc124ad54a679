"""Models of the course with one thing wrong in each, and sound ones: to try `examine` on."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention_course import tasks
from attention_course.attention import MultiHeadAttention
from attention_course.classifiers import Classifier
from attention_course.embeddings import ImagePatches
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import LearnedPositions, RotaryAttention, SinusoidalPositions
from attention_course.tasks.negation import VOCABULARY, reviews
from attention_course.transformer import Block, Encoder

WIDTH = 32


class Patient(NamedTuple):
    """A model, a batch `(inputs, targets)`, a loss, and what else `examine` is to know, by name."""

    model: nn.Module
    batch: tuple
    loss: Callable
    asked: dict


class Changed(nn.Module):
    """A model that is called in another way: `way(model, *given)`."""

    def __init__(self, model: nn.Module, way: Callable):
        super().__init__()
        self.model, self.way = model, way

    def forward(self, *given: Tensor) -> Tensor:
        """What the model returns, called in the other way."""
        return self.way(self.model, *given)


class Tagger(nn.Module):
    """An encoder that says one of `vocab_size` for each of its tokens."""

    def __init__(self, vocab_size: int = 16, n_blocks: int = 2, *, positions: bool = True, **made):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, WIDTH)
        self.positions = SinusoidalPositions(WIDTH) if positions else nn.Identity()
        self.encoder = Encoder(WIDTH, 4, n_blocks, **made)
        self.logits = nn.Linear(WIDTH, vocab_size)

    def forward(self, symbols: Tensor) -> Tensor:
        """Logits `(batch, n, vocab_size)` of integers `(batch, n)`."""
        return self.logits(self.encoder(self.positions(self.embedding(symbols)))[0])


class NoResidual(Block):
    """A block that passes on only what its layers compute."""

    def _add(self, norm: nn.LayerNorm, tokens: Tensor, update: Tensor) -> Tensor:
        return update


class BatchSecond(nn.Module):
    """PyTorch's own encoder, which takes the batch for the sequence where `batch_first` is forgotten."""

    def __init__(self):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(16, WIDTH), SinusoidalPositions(WIDTH)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 4, 64, 0.0), 2, None, False)
        self.logits = nn.Linear(WIDTH, 16)

    def forward(self, symbols: Tensor) -> Tensor:
        """Logits `(batch, n, vocab_size)` of integers `(batch, n)`."""
        return self.logits(self.encoder(self.positions(self.embedding(symbols))))


class OneToken(nn.Module):
    """A whole image as one token: whoever is alone gets the weight 1, whatever queries and keys say."""

    def __init__(self):
        super().__init__()
        self.embedding, self.encoder = nn.Linear(64, WIDTH), Encoder(WIDTH, 4, 2)
        self.logits = nn.Linear(WIDTH, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Logits `(batch, 10)` of images `(batch, 8, 8)`."""
        return self.logits(self.encoder(self.embedding(images.flatten(1))[:, None])[0][:, 0])


def per_token(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy of logits `(batch, n, vocab_size)`."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def sorter(seed: int, *made, **options) -> Patient:
    """A tagger that sorts eight numbers."""
    torch.manual_seed(seed)
    pairs = tasks.sorting(32, 8, 16, torch.Generator().manual_seed(seed))
    return Patient(Tagger(*made, **options), (pairs.source, pairs.target), per_token, {"causal": False})


def writer(seed: int, **options) -> Patient:
    """A language model on sixteen windows of text."""
    text = tasks.python_help()
    torch.manual_seed(seed)
    windows = tasks.windows(text.train, 16, 65, torch.Generator().manual_seed(seed))
    model = CausalLanguageModel(len(text.vocabulary), 64, 4, 2, **(options or {"attention": RotaryAttention()}))
    return Patient(model, (windows[:, :-1], windows[:, 1:]), per_token, {"causal": True})


def reviewer(seed: int, n_blocks: int = 2, *, positions: bool = True, **options) -> Patient:
    """A classifier of reviews of several lengths."""
    torch.manual_seed(seed)
    batch = reviews(32, torch.Generator().manual_seed(seed))
    places = SinusoidalPositions(WIDTH) if positions else None
    embedding = nn.Embedding(len(VOCABULARY), WIDTH)
    model = Classifier(embedding, 2, WIDTH, 4, n_blocks, positions=places, dropout=0.1, **options)
    return Patient(model, (batch.tokens, batch.label), F.cross_entropy, {"causal": False, "mask": batch.mask})


def reader_of_digits(seed: int, n_blocks: int = 2) -> Patient:
    """A classifier of images of digits, as patches."""
    torch.manual_seed(seed)
    digits, _ = tasks.handwritten_digits()
    digits = digits[torch.randint(len(digits), (32,), generator=torch.Generator().manual_seed(seed))]
    model = Classifier(ImagePatches(2, WIDTH), 10, WIDTH, 4, n_blocks, positions=LearnedPositions(16, WIDTH))
    return Patient(model, (digits.images, digits.labels), F.cross_entropy, {"causal": False})


def translator(seed: int) -> Patient:
    """An encoder and a decoder that sort; the decoder shifts its targets itself."""
    torch.manual_seed(seed)
    pairs = tasks.sorting(32, 8, 16, torch.Generator().manual_seed(seed))
    model = EncoderDecoder(16, WIDTH, 4, 2, dropout=0.1)
    return Patient(model, ((pairs.source, pairs.target), pairs.target), per_token, {"causal": True})


def tied(seed: int) -> Patient:
    """A language model whose logits share the small matrix of its embedding, as GPT-2 has it."""
    patient = writer(seed)
    for parameter in patient.model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=0.02)
    patient.model.lm_head.weight = patient.model.embedding.weight
    return patient


def _changed(patient: Patient, way: Callable) -> Patient:
    return patient._replace(model=Changed(patient.model, way))


def _altered(patient: Patient, change: Callable) -> Patient:
    change(patient.model)
    return patient


def _without_residuals(model: nn.Module) -> None:
    for block in model.encoder.blocks:
        block.__class__ = NoResidual


def _freeze(model: nn.Module) -> None:
    model.requires_grad_(False)
    model.logits.bias.requires_grad_(True)


def _textbook(query, key, value, mask, *, fill=-torch.inf, dropout=0.0, need_weights=False):
    weights = (query @ key.mT / query.size(-1) ** 0.5).masked_fill(~mask, fill).softmax(-1)
    return weights @ value, weights


def _attending(patient: Patient, attention: Callable) -> Patient:
    for block in patient.model.encoder.blocks:
        block.attention = MultiHeadAttention(WIDTH, 4, attention=attention)
    return patient


def _empty_sentence(seed: int) -> Patient:
    patient = _attending(reviewer(seed), _textbook)
    mask = patient.asked["mask"].clone()
    mask[3] = False
    return patient._replace(asked=patient.asked | {"mask": mask})


def _encoded(model: nn.Module, symbols: Tensor, mask: Tensor | None = None) -> Tensor:
    mask = None if mask is None else mask[:, None, None, :]
    return model.encoder(model.positions(model.embed(symbols)), mask)[0]


def _tagged(model: nn.Module, symbols: Tensor, way: Callable) -> Tensor:
    return model.logits(way(model.encoder(model.positions(model.embedding(symbols)))[0]))


def _sees_ahead(model: nn.Module, symbols: Tensor, ahead: int) -> Tensor:
    n = symbols.size(1)
    mask = torch.ones(n, n, dtype=torch.bool, device=symbols.device).tril(ahead)
    return model(symbols, mask, causal=False)[0]


# What was done wrong: the cause that `examine` should name, and who it was done to.
BROKEN: dict[str, tuple[str, Callable[[int], Patient]]] = {
    "an empty sentence, and the textbook's softmax": ("numbers", _empty_sentence),
    "dropout active in eval mode": (
        "mode",
        lambda seed: _changed(sorter(seed), lambda model, x: _tagged(model, x, F.dropout)),
    ),
    "softmax before a loss that takes one": (
        "softmax",
        lambda seed: _changed(sorter(seed), lambda model, x: model(x).softmax(-1)),
    ),
    "the matrix of the logits drawn too large": (
        "start",
        lambda seed: _altered(writer(seed), lambda model: nn.init.normal_(model.lm_head.weight)),
    ),
    "batch_first forgotten": ("rows", lambda seed: sorter(seed)._replace(model=BatchSecond())),
    "a CLS token that was never encoded": (
        "inputs",
        lambda seed: _changed(
            reviewer(seed, pooling="cls"), lambda model, x, mask: model.logits(model.cls_token.expand(len(x), -1))
        ),
    ),
    "causal mask missing": (
        "future",
        lambda seed: _changed(writer(seed), lambda model, x: _sees_ahead(model, x, x.size(1))),
    ),
    "causal mask off by one": (
        "future",
        lambda seed: _changed(writer(seed), lambda model, x: _sees_ahead(model, x, 1)),
    ),
    "targets not shifted": ("shift", lambda seed: (p := writer(seed))._replace(batch=(p.batch[0], p.batch[0]))),
    "mask inverted": ("inverted", lambda seed: _changed(reviewer(seed), lambda model, x, mask: model(x, ~mask))),
    "mask not handed on": ("mask", lambda seed: _changed(reviewer(seed), lambda model, x, mask: model(x))),
    "mean over pads, too": (
        "padding",
        lambda seed: _changed(reviewer(seed), lambda model, x, mask: model.logits(_encoded(model, x, mask).mean(1))),
    ),
    "blocks that attend to pads": (
        "padding",
        lambda seed: _changed(
            reviewer(seed), lambda model, x, mask: model.logits(model.pooling(_encoded(model, x), mask)[0])
        ),
    ),
    "positions missing": ("order", lambda seed: sorter(seed, positions=False)),
    "positions missing in a classifier": ("order", lambda seed: reviewer(seed, positions=False)),
    "logits computed from a detached state": (
        "gradient",
        lambda seed: _changed(sorter(seed), lambda model, x: _tagged(model, x, torch.detach)),
    ),
    "the whole image as one token": ("vanishing", lambda seed: reader_of_digits(seed)._replace(model=OneToken())),
    "residuals missing in eight blocks": (
        "vanishing",
        lambda seed: _altered(reader_of_digits(seed, 8), _without_residuals),
    ),
    "all but one bias frozen": ("frozen", lambda seed: _altered(sorter(seed), _freeze)),
    "a learning rate of a millionth": (
        "rate",
        lambda seed: (p := reader_of_digits(seed))._replace(asked=p.asked | {"rate": 1e-6}),
    ),
    "minus a billion in a mask": ("float16", lambda seed: _attending(reviewer(seed), partial(_textbook, fill=-1e9))),
    "a matrix ten thousand times too large before a norm": (
        "float16",
        lambda seed: _altered(
            sorter(seed, norm_first=False),
            lambda model: nn.init.normal_(model.encoder.blocks[0].feed_forward[2].weight, std=1e4),
        ),
    ),
}

SOUND: dict[str, Callable[[int], Patient]] = {
    "a tagger that sorts": sorter,
    "with much dropout": lambda seed: sorter(seed, dropout=0.5),
    "24 pre-norm blocks": lambda seed: sorter(seed, 16, 24),
    "8 post-norm blocks": lambda seed: sorter(seed, 16, 8, norm_first=False),
    "a language model": writer,
    "a language model with sinusoidal positions": lambda seed: writer(seed, positions=SinusoidalPositions(64)),
    "a language model with tied embeddings": tied,
    "logits that start at zero": lambda seed: _altered(
        writer(seed), lambda model: [nn.init.zeros_(parameter) for parameter in model.lm_head.parameters()]
    ),
    "a classifier of reviews, mean": reviewer,
    "a classifier of reviews, CLS": lambda seed: reviewer(seed, pooling="cls"),
    "a classifier of reviews, attention": lambda seed: reviewer(seed, pooling="attention"),
    "a bag of words": lambda seed: (p := reviewer(seed, 0, positions=False))._replace(asked=p.asked | {"order": False}),
    "digits as patches": reader_of_digits,
    "an encoder and a decoder": translator,
}
