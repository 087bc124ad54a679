"""An explorer that runs a whole model in the reader's browser, on text that the reader types."""

from collections.abc import Sequence
from html import escape

import torch

from attention_course.attention import DotProductAttention, MultiHeadAttention
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore.controls import temperature_steps
from attention_course.explore.explorer import Explorer
from attention_course.explore.text_picture import draw_text, tell_looks
from attention_course.explore.translator import explore_translator, name_texts
from attention_course.language_model import CausalLanguageModel
from attention_course.positions import LearnedPositions, RotaryAttention
from attention_course.support import float16_weights

TOLD = 5  # likeliest symbols in the first state


def explore_model(
    model: CausalLanguageModel | EncoderDecoder,
    vocabulary: Sequence[str],
    text: str,
    *,
    alt: str,
    examples: Sequence[str] = (),
    limit: int = 128,
    unmasked: CausalLanguageModel | None = None,
    measured: Sequence[dict] = (),
    head: tuple[int, int] | None = None,
    source_words: Sequence[str] | None = None,
    end: str = ".",
) -> Explorer:
    """A trained model that reads what the reader types, and writes on or translates.

    The model itself runs in the browser, with its parameters rounded to 16 bits. Of a language model of characters the
    reader sees what a character looks at, head by head, what each cost the model, what it expects next and what it
    would say after each block, and may switch heads off, leave blocks out, take the positions away or lift the mask.
    Of a translator the reader sees where it looked to write each word, and may put another word in its place, switch
    off heads of the cross-attention or leave blocks out.

    Args:
        model: Its attention a `MultiHeadAttention`, its blocks pre-norm: a language model with rotary or learned
            positions, or a translator whose source is symbols.
        vocabulary: Its characters, or a translator's words: symbol i is the i-th.
        text: What it reads at first.
        alt: What is seen, in words, for whoever does not see it.
        examples: Other texts to choose from.
        limit: How many characters a text may have, or how many words a sentence and its translation.
        unmasked: For a language model: another to choose, with the same vocabulary, but trained with nothing hidden.
        measured: For a language model: what `measure_switched_off` found of it, and then of `unmasked` if there is one.
            A head that is off may then say its mean, and the cost on unread text is told.
        head: For a language model: block and head, counted from 1, whose weights are shown at first; the mean over the
            heads of the last block if left out.
        source_words: For a translator: the words that may be typed; all but the padding if left out.
        end: For a translator: the word that ends every sentence.

    Raises:
        TypeError: If the model has parts that the browser does not know, or an argument is for the other kind.
        ValueError: If the vocabulary is not the model's, a text is empty, too long or has other characters or words,
            the model has positions for fewer characters than `limit`, or what was measured is not of these models.
    """
    if isinstance(model, EncoderDecoder):
        if unmasked is not None:
            raise TypeError(f"unmasked must be None for an EncoderDecoder, got {type(unmasked).__name__}")
        if measured:
            raise TypeError(f"measured must be empty for an EncoderDecoder, got {len(measured)} measurements")
        if head is not None:
            raise TypeError(f"head must be None for an EncoderDecoder, got {head!r}")
        return explore_translator(
            model, vocabulary, text, alt=alt, examples=examples, limit=limit, source_words=source_words, end=end
        )
    if source_words is not None:
        raise TypeError(f"source_words must be None for a {type(model).__name__}, got {source_words!r}")
    offered = [model] if unmasked is None else [model, unmasked]
    if measured and len(measured) != len(offered):
        raise ValueError(f"measured must be of {len(offered)} models, got {len(measured)} measurements")
    models = [
        _describe(one, vocabulary, limit, found, masked=one is model)
        for one, found in zip(offered, measured or [None] * len(offered), strict=True)
    ]
    for name, one in name_texts(text, examples):
        if not 0 < len(one) <= limit or set(one) - set(vocabulary):
            raise ValueError(f"{name} must be 1 to {limit} characters of the vocabulary, got {one!r}")
    last = models[0]["sizes"]["blocks"]
    block, number = head or (last, 0)
    if head is not None and not (1 <= block <= last and 1 <= number <= models[0]["sizes"]["heads"]):
        raise ValueError(f"head must be a block and a head of the model, counted from 1, got {head!r}")
    data = {
        "text": text,
        "examples": list(examples),
        "vocabulary": vocabulary,
        "limit": limit,
        "head": head,
        "models": models,
        "steps": temperature_steps(),
    }
    return Explorer("model", {"data": data}, [], _first_state(model, vocabulary, text, alt, block, number), alt)


def _describe(
    model: CausalLanguageModel, vocabulary: Sequence[str], limit: int, measured: dict | None, *, masked: bool
) -> dict:
    """All that the browser needs to know of the model."""
    _check_parts(model)
    vocab_size = model.embedding.num_embeddings
    if len(vocabulary) != vocab_size or len(set(vocabulary)) != vocab_size:
        raise ValueError(f"vocabulary must have {vocab_size} different characters, got {len(set(vocabulary))}")
    if model.positions is not None and limit > model.positions.embedding.num_embeddings:
        raise ValueError(f"limit must be at most {model.positions.embedding.num_embeddings}, got {limit}")
    layer = model.blocks[0].attention
    sizes = {
        "blocks": len(model.blocks),
        "heads": layer.n_heads,
        "keyHeads": layer.n_kv_heads,
        "headWidth": layer.d_head,
        "base": getattr(layer.attention, "base", None),
        "epsilon": model.norm.eps,
        "masked": masked,
        "means": measured is not None,
    }
    if wrong := [symbol for symbol in vocabulary if len(symbol.encode("utf-16-le", "surrogatepass")) != 2]:
        raise ValueError(f"vocabulary must be characters that a browser counts as one each, got {wrong}")
    parameters = model.state_dict()
    if measured is not None:
        means = torch.tensor(measured["means"])
        expected = (sizes["blocks"], layer.n_heads, layer.d_head)
        if means.shape != expected:
            raise ValueError(f"measured must be of a model with means {expected}, got {tuple(means.shape)}")
        parameters = parameters | {f"blocks.{block}.means": mean for block, mean in enumerate(means)}
    packed = float16_weights.pack_matrices(parameters)
    name = "trained with the mask" if masked else "trained without the mask"
    described = {"name": name, "sizes": sizes, "checkpoint": packed["weights"], "shapes": packed["shapes"]}
    costs = {key: value for key, value in (measured or {}).items() if key != "means"}
    return described | ({"costs": costs} if costs else {})


def _check_parts(model: CausalLanguageModel) -> None:
    """Refuse what the browser cannot compute (`TypeError`)."""
    if not isinstance(model, CausalLanguageModel):
        raise TypeError(f"model must be a CausalLanguageModel or an EncoderDecoder, got {type(model).__name__}")
    if not isinstance(model.positions, LearnedPositions | None):
        raise TypeError(f"model must have rotary or learned positions, got {type(model.positions).__name__}")
    for block in model.blocks:
        if not isinstance(block.attention, MultiHeadAttention) or not block.norm_first:
            raise TypeError(f"model must have pre-norm blocks with a MultiHeadAttention, got {block}")
        if type(block.attention.attention) not in (DotProductAttention, RotaryAttention):
            raise TypeError(f"model must have rotary or dot-product attention, got {block.attention.attention}")


@torch.no_grad()
def _first_state(
    model: CausalLanguageModel, vocabulary: Sequence[str], text: str, alt: str, block: int, head: int
) -> str:
    """The text, what its last character looks at, and the likeliest next characters."""
    symbols = torch.tensor([[vocabulary.index(character) for character in text]], device=model.lm_head.weight.device)
    logits, weights = model(symbols, need_weights=True)
    likeliest = logits[0, -1].softmax(-1).topk(min(TOLD, len(vocabulary)))
    said = ", ".join(
        f"{vocabulary[symbol]!r} {share:.0%}"
        for share, symbol in zip(likeliest.values.tolist(), likeliest.indices.tolist(), strict=True)
    )
    heads = weights[block - 1][0, :, -1].float()
    row = (heads[head - 1] if head else heads.mean(0)).tolist()
    looks = escape(tell_looks(text, row, block, head))
    return (
        f"{draw_text(text, row, alt)}<p>{looks}</p>"
        f"<p>After “{escape(text)}” the likeliest next characters are {escape(said)}.</p>"
    )
