"""An explorer that runs a whole translator in the reader's browser, on sentences that the reader types."""

from collections.abc import Sequence
from html import escape

import torch

from attention_course.attention import DotProductAttention, MultiHeadAttention
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore.explorer import Explorer
from attention_course.explore.first_state import draw_maps
from attention_course.positions import SinusoidalPositions
from attention_course.support import float16_weights


def explore_translator(
    model: EncoderDecoder,
    vocabulary: Sequence[str],
    text: str,
    *,
    alt: str,
    examples: Sequence[str],
    limit: int,
    source_words: Sequence[str] | None,
    end: str,
) -> Explorer:
    """The part of `explore_model` that is for translators, with the same arguments and errors."""
    _check_parts(model)
    _check_vocabulary(model, vocabulary, end)
    known = [word for index, word in enumerate(vocabulary) if index != model.pad]
    words = list(dict.fromkeys(source_words or known))
    if wrong := set(words) - set(known):
        raise ValueError(f"source_words must be in vocabulary, and no padding, got {wrong}")
    for name, one in name_texts(text, examples):
        split = split_words(one, end)
        if not 0 < len(split) <= limit or set(split) - set(words):
            unknown = sorted(set(split) - set(words))
            raise ValueError(f"{name} must be 1 to {limit} words that may be typed, got {one!r}, unknown: {unknown}")
    packed = float16_weights.pack_matrices(dict(model.named_parameters()))  # one that is shared comes once
    layer = model.encoder.blocks[0].attention
    data = {
        "text": text,
        "examples": list(examples),
        "vocabulary": list(vocabulary),
        "words": words,
        "end": end,
        "limit": limit,
        "sizes": {
            "blocks": len(model.encoder.blocks),
            "heads": layer.n_heads,
            "keyHeads": layer.n_kv_heads,
            "headWidth": layer.d_head,
            "base": model.positions.base,
            "epsilon": model.encoder.norm.eps,
            "start": model.start_symbol,
        },
        "checkpoint": packed["weights"],
        "shapes": packed["shapes"],
    }
    first = _first_state(model, vocabulary, split_words(text, end), limit, vocabulary.index(end), alt)
    return Explorer("translator", {"data": data}, [], first, alt)


def split_words(text: str, end: str) -> list[str]:
    """A sentence's words; the one that ends it may follow another without a space."""
    return text.replace(end, f" {end} ").split()


def name_texts(text: str, examples: Sequence[str]) -> list[tuple[str, str]]:
    """All texts that an explorer offers, each after the argument that it came as."""
    return [("text", text), *((f"examples[{index}]", one) for index, one in enumerate(examples))]


def _check_parts(model: EncoderDecoder) -> None:
    """Refuse what the browser cannot compute (`TypeError`)."""
    if model.embed_source is not model.embedding:
        raise TypeError(f"model must read symbols, got embed_source {type(model.embed_source).__name__}")
    if type(model.positions) is not SinusoidalPositions:
        raise TypeError(f"model must have sinusoidal positions, got {type(model.positions).__name__}")
    for block in (*model.encoder.blocks, *model.decoder.blocks):
        layers = (block.attention, getattr(block, "cross_attention", block.attention))
        if not block.norm_first or not all(isinstance(layer, MultiHeadAttention) for layer in layers):
            raise TypeError(f"model must have pre-norm blocks with a MultiHeadAttention, got {block}")
        if not all(type(layer.attention) is DotProductAttention for layer in layers):
            raise TypeError(f"model must have dot-product attention, got {block}")


def _check_vocabulary(model: EncoderDecoder, vocabulary: Sequence[str], end: str) -> None:
    """Refuse what are not the model's words (`ValueError`)."""
    vocab_size = model.lm_head.out_features
    if len(vocabulary) != vocab_size or len(set(vocabulary)) != vocab_size:
        raise ValueError(f"vocabulary must have {vocab_size} different words, got {len(set(vocabulary))}")
    if wrong := [word for word in vocabulary if split_words(word, end) != [word]]:
        raise ValueError(f"vocabulary must be words without spaces and without {end!r}, got {wrong}")
    if end not in vocabulary:
        raise ValueError(f"end must be in vocabulary, got {end!r}")


@torch.no_grad()
def _first_state(
    model: EncoderDecoder, vocabulary: Sequence[str], words: list[str], limit: int, end: int, alt: str
) -> str:
    """The translation, and the weights of the last block's cross-attention, mean of its heads."""
    source = torch.tensor([[vocabulary.index(word) for word in words]], device=model.lm_head.weight.device)
    written = model.generate(source, limit)[0].tolist()
    written = written[: written.index(end) + 1] if end in written else written
    _, weights = model(source, source.new_tensor([written]), need_weights=True)
    translation = [vocabulary[symbol] for symbol in written]
    mean = weights[-1][0].mean(0, keepdim=True).float().cpu().numpy()
    rows = [f"after {read} → {word}" for read, word in zip(["start", *translation], translation, strict=False)]
    maps = draw_maps(mean, rows, words, None, alt)
    return f"<p>“{escape(' '.join(words))}” is translated as “{escape(' '.join(translation))}”.</p>{maps}"
