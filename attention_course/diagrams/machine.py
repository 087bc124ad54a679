"""The picture of the front page: a whole language model at work, from a text to its next letter."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attention_course.diagrams.diagram import Diagram
from attention_course.language_model import CausalLanguageModel

STEPS = ("text", "embedding", "attention", "network", "blocks", "next letter", "written")
SHOWN = 6  # of the numbers of a token
LIKELIEST = 4
LEFT, CELL, FLAT = 8, 32, 10  # where columns begin, how wide they are, and the height of a number
TOPS = {"text": 8, "embedding": 52, "attention": 120, "network": 196, "blocks": 290, "next letter": 396}
LABELS = LEFT + 9 * CELL + 12
# What stands beside each part from the first step on, so that the whole is seen: its top, its name and its lesson.
PARTS = {
    "embedding": (TOPS["embedding"] + 12, "embedding", "lesson 1"),
    "attention": (TOPS["attention"] + 18, "attention", "lessons 2 to 7"),
    "network": (TOPS["network"] + 12, "a small network", "lesson 8"),
    "blocks": (TOPS["blocks"] + 12, "{} more blocks", "lesson 8"),
    "next letter": (TOPS["next letter"], "next character", "lesson 9"),
}


@torch.no_grad()
def machine(model: CausalLanguageModel, vocabulary: Sequence[str], text: str, until: str = STEPS[-1]) -> Diagram:
    """What a language model makes of a text, from top to bottom: numbers, looks back, blocks, and the next letter.

    Args:
        model: With at least two blocks.
        vocabulary: Symbol i is the i-th.
        text: What it reads, at most 8 characters.
        until: The last part that is drawn, one of `STEPS`; later ones are named, and an empty frame keeps their place.

    Raises:
        ValueError: If the text is longer, or there is no such part.
    """
    if not 0 < len(text) <= 8:
        raise ValueError(f"text must have 1 to 8 characters, got {text!r}")
    if until not in STEPS:
        raise ValueError(f"until must be one of {list(STEPS)}, got {until!r}")
    embedded, first, weights, last, chances = _run(model, vocabulary, text)
    likely, order = chances.topk(LIKELIEST)
    names = [_visible(vocabulary[symbol]) for symbol in order]
    picture = Diagram(
        f"A language model reads {text!r}. Each character becomes numbers. Attention lets the last one "
        f"look back at all before it, a small network works on each alone, and {len(model.blocks)} such blocks follow "
        f"one another. In the end the likeliest next character is {names[0]!r}, with {likely[0]:.0%}.",
        height=456,
    )
    shown = STEPS[: STEPS.index(until) + 1]
    _draw_text(picture, text, names[0] if "written" in shown else "")
    _draw_plan(picture, len(text), len(model.blocks) - 1, shown)
    if "embedding" in shown:
        _draw_numbers(picture, "embedding", embedded)
    if "attention" in shown:
        _draw_looks(picture, weights)
    if "network" in shown:
        _draw_numbers(picture, "network", first)
    if "blocks" in shown:
        column = LEFT + (len(text) - 0.5) * CELL
        picture.arrow((column, TOPS["network"] + SHOWN * FLAT + 4), (column, TOPS["blocks"] - 4))
        _draw_numbers(picture, "blocks", last)
    if "next letter" in shown:
        _draw_chances(picture, len(text), names, likely)
    return picture


def _run(model: CausalLanguageModel, vocabulary: Sequence[str], text: str) -> tuple[Tensor, ...]:
    """Embeddings, what is after the first block, how the last character looks in it, the last stream, probabilities."""
    symbols = torch.tensor([[vocabulary.index(character) for character in text]])
    stream, streams, looks = model.embedding(symbols), [], []
    for block in model.blocks:
        stream, weights = block(stream, causal=True, need_weights=True)
        streams.append(stream[0])
        looks.append(weights[0, :, -1].mean(0))
    chances = model.lm_head(model.norm(stream))[0, -1].softmax(-1)
    return model.embedding(symbols)[0], streams[0], looks[0], streams[-1], chances


def _draw_text(picture: Diagram, text: str, written: str):
    for place, character in enumerate(text):
        picture.box(LEFT + place * CELL, TOPS["text"], CELL - 4, 30, _visible(character), tone="query")
    if written:
        picture.box(LEFT + len(text) * CELL, TOPS["text"], CELL - 4, 30, written, tone="key")
    _label(picture, TOPS["text"], "a text", "goes on" if written else "in characters")


def _draw_plan(picture: Diagram, n_tokens: int, n_more: int, shown: Sequence[str]):
    for part, (y, what, where) in PARTS.items():
        _label(picture, y, what.format(n_more), where, here=part in shown)
        if part in ("embedding", "network", "blocks") and part not in shown:
            picture.box(LEFT, TOPS[part], n_tokens * CELL - 4, SHOWN * FLAT)


def _draw_numbers(picture: Diagram, part: str, tokens: Tensor):
    picture.tensor(LEFT, TOPS[part], tokens[:, :SHOWN].T, name=part, cell=(CELL - 0.5, FLAT))


def _draw_looks(picture: Diagram, weights: Tensor):
    """Lines from the last character's place to all that it looks at."""
    last = LEFT + (len(weights) - 0.5) * CELL
    for place, weight in enumerate(weights.tolist()):
        picture.line((last, TOPS["network"] - 6), (LEFT + (place + 0.5) * CELL, TOPS["attention"]), weight=weight)


def _draw_chances(picture: Diagram, n_tokens: int, names: list[str], likely: Tensor):
    column = LEFT + (n_tokens - 0.5) * CELL
    picture.arrow((column, TOPS["blocks"] + SHOWN * FLAT + 4), (column, TOPS["next letter"] - 22))
    left = LEFT + n_tokens * CELL - 4 * 48
    picture.tensor(
        left, TOPS["next letter"], likely, name="probabilities", cell=(48, 30), numbers=True, columns=names, tone="key"
    )


def _label(picture: Diagram, y: float, what: str, where: str, here: bool = True):
    picture.text(LABELS, y + 8, what, bold=here, quiet=not here)
    picture.text(LABELS, y + 27, where, quiet=True)


def _visible(character: str) -> str:
    return {" ": "\N{OPEN BOX}", "\n": "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"}.get(character, character)
