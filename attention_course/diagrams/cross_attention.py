"""One run of a translator: which words read which, in its three attentions, and what each mask hides."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attention_course.diagrams.diagram import Area, Diagram
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.masks import causal_mask

SMALL, LARGE = (18, 19), (26, 21)  # a cell of the upper maps, and of the map below them
TITLE, NAMES = 48, 54  # the height of a map's two lines, and of the words above it
START = "start"


@torch.no_grad()
def three_attentions(model: EncoderDecoder, vocabulary: Sequence[str], sentence: Sequence[str], end: str) -> Diagram:
    """A translator reads a sentence and writes its translation: the last block's attentions, mean of their heads.

    Args:
        model: Its `pad` not `None`.
        vocabulary: The word of each of its symbols.
        sentence: What it reads, 2 to 8 words; one symbol of padding is added.
        end: The word after which the translation is complete.

    Raises:
        ValueError: If the sentence is too short or too long, or so is its translation.
    """
    if not 2 <= len(sentence) <= 8:
        raise ValueError(f"sentence must have 2 to 8 words, got {len(sentence)}")
    symbols = [vocabulary.index(word) for word in sentence]
    source = torch.tensor([[*symbols, model.pad]], device=model.lm_head.weight.device)
    written = [vocabulary[symbol] for symbol in model.generate(source, 9)[0].tolist()]
    if end not in written[:8]:
        raise ValueError(f"the translation of sentence must end after at most 8 words, got {written}")
    written = written[: written.index(end) + 1]
    maps, masks = _look(model, source, source.new_tensor([[vocabulary.index(word) for word in written]]))
    read = [START, *written[:-1]]
    n = len(sentence)
    maps["source reads source"], masks["source reads source"] = (
        table["source reads source"][:n] for table in (maps, masks)
    )
    return _draw([*sentence, "pad"], read, written, maps, masks)


def _look(model: EncoderDecoder, source: Tensor, target: Tensor) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The weights and the mask of each attention: `(rows, columns)`, `True` = may attend."""
    seen = (source != model.pad)[:, None, None, :]
    memory, in_source = model.encoder(model.positions(model.embedding(source)), seen, need_weights=True)
    read = torch.cat([target.new_full((1, 1), model.start_symbol), target[:, :-1]], dim=1)
    causal = causal_mask(read.size(1), device=read.device)
    _, weights = model.decoder(model.positions(model.embedding(read)), memory, causal, seen, need_weights=True)
    in_target, across = weights[-1]
    looks = {"source reads source": in_source[-1], "target reads target": in_target, "target reads source": across}
    maps = {name: heads[0].mean(0) for name, heads in looks.items()}
    masks = dict(zip(maps, (seen[0, 0], causal, seen[0, 0]), strict=True))
    return maps, {name: mask.expand(maps[name].shape) for name, mask in masks.items()}


def _draw(
    source: list[str], read: list[str], written: list[str], maps: dict[str, Tensor], masks: dict[str, Tensor]
) -> Diagram:
    n_read = len(source) - 1
    upper = TITLE + NAMES + SMALL[1] * max(n_read, len(read)) + 12
    lower = TITLE + NAMES + LARGE[1] * len(read) + 12
    gap = 44
    picture = Diagram(_alt(source, read, written, maps["target reads source"]), height=upper + gap + lower + 30)
    first = picture.box(4, 4, 226, upper)
    second = picture.box(250, 4, 226, upper)
    third = picture.box(34, 4 + upper + gap, 412, lower)
    hides = {"source reads source": "padding", "target reads target": "the future", "target reads source": "padding"}
    places = {
        "source reads source": (first, SMALL, source[:n_read], source),
        "target reads target": (second, SMALL, read, read),
        "target reads source": (third, LARGE, [f"after {word}" for word in read], source),
    }
    for number, (name, (area, cell, rows, columns)) in enumerate(places.items(), 1):
        picture.text(area.x + 10, area.y + 17, f"{number}  {name}", bold=True)
        picture.text(area.x + 10, area.y + 37, f"mask hides {hides[name]}", quiet=True)
        _map(picture, area, name, maps[name], masks[name], cell, rows, columns)
    words = third.x + 102 + LARGE[0] * len(source)
    top = third.y + TITLE + NAMES
    picture.text(words + 22, top - 14, "writes")
    for row, word in enumerate(written):
        y = top + (row + 0.5) * LARGE[1]
        picture.arrow((words + 2, y), (words + 18, y))
        picture.text(words + 24, y, word)
    for area, label, x in ((first, "keys and values", 140), (second, "queries", 340)):
        picture.arrow((x, area.bottom[1]), (x, third.y))
        left = area is first
        picture.text(x - 8 if left else x + 8, area.bottom[1] + gap / 2, label, anchor="end" if left else "start")
    picture.text(240, third.bottom[1] + 18, "last block of each, mean of its heads", anchor="middle", quiet=True)
    return picture


def _map(
    picture: Diagram,
    area: Area,
    name: str,
    weights: Tensor,
    mask: Tensor,
    cell: tuple[float, float],
    rows: Sequence[str],
    columns: Sequence[str],
):
    x, y = area.x + (98 if cell is LARGE else 62), area.y + TITLE + NAMES
    grid = picture.tensor(x, y, weights, name=name, cell=cell, tone="weights", largest=1, rows=rows, columns=columns)
    for row, column in (~mask).nonzero().tolist():
        picture.text(*grid.cell(row, column).centre, "×", anchor="middle", quiet=True)


def _alt(source: list[str], read: list[str], written: list[str], across: Tensor) -> str:
    looks = [
        f"after {before} it looks most at {_said(source[best])} and writes {_said(word)}"
        for before, word, best in zip(read, written, across.argmax(1).tolist(), strict=True)
    ]
    return (
        f"A translator's three attentions while it turns {_sentence(source[:-1])} into {_sentence(written)}. "
        "Each is a map in which rows read columns; crosses mark what the mask hides. First the source reads the "
        "source, and padding is hidden. Second the target reads what is written of the target, and the future is "
        "hidden. Third the target reads the source, with queries from the second map's rows and keys and values from "
        f"the first, and padding is hidden. There, {'; '.join(looks)}."
    )


def _said(word: str) -> str:
    return "the period" if word == "." else word


def _sentence(words: list[str]) -> str:
    return " ".join(word for word in words if word != ".")
