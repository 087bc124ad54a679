"""What a language model learns from one word, how it writes the word, and what one writes while it learns a text."""

from collections.abc import Sequence

import torch

from attention_course.diagrams.diagram import Area, Diagram
from attention_course.language_model import CausalLanguageModel

ROW, CELL = 34, 46  # the height of a row, the width of a weight
LINE, LETTERS = 20, 42  # of what is written while it learns: how high a line is, and how many letters stand in it


@torch.no_grad()
def next_symbols(model: CausalLanguageModel, vocabulary: str, word: str) -> Diagram:
    """Training on a word in one pass, and writing it one symbol at a time.

    Args:
        model: Of one block with one head.
        vocabulary: The character of each of its symbols.
        word: Two to five of these characters.

    Raises:
        ValueError: If the model has more maps than one, or the word is too short or too long.
    """
    if len(model.blocks) != 1 or model.blocks[0].attention.n_heads != 1:
        raise ValueError("model must have one block with one head, so that there is one map to draw")
    if not 2 <= len(word) <= 5:
        raise ValueError(f"word must have 2 to 5 characters, got {word!r}")
    symbols = torch.tensor([vocabulary.index(character) for character in word])
    logits, weights = model(symbols[None, :-1], need_weights=True)
    probability = logits[0].softmax(-1).gather(1, symbols[1:, None])
    written = model.generate(symbols[None, :1], len(word) - 1, temperature=0)[0]

    n = len(word) - 1
    picture = Diagram(
        f"Learning the word {word} and writing it. In training, each of the letters {', '.join(word[:-1])} has a row. "
        "The row shows how much weight the letter gives to itself and to the letters before it, and the letter that "
        "it should predict, which is the next one in the word, with the probability that the model gives to it. "
        "In writing, each new letter is appended to the text, and the model reads the longer text to make the next.",
        height=(n + 1) * ROW + n * 50 + 112,
    )
    _training(picture, word, weights[0][0, 0], probability)
    _writing(picture, "".join(vocabulary[symbol] for symbol in written), (n + 1) * ROW + 98)
    return picture


def while_it_learns(moments: Sequence[tuple[str, float, str]]) -> Diagram:
    """What a model writes at several moments of its training.

    Args:
        moments: When, the bits for a letter of unread text, and what the model wrote.
    """
    told = " ".join(f"{when}, {bits:.2f} bits: {text}" for when, bits, text in moments)
    lines = [[text[start : start + LETTERS] for start in range(0, len(text), LETTERS)] for *_, text in moments]
    picture = Diagram(
        f"What a model writes while it learns, with its bits for a letter of unread text. {told}",
        height=sum(LINE * len(one) + 46 for one in lines),
    )
    y = 0
    for (when, bits, _), written in zip(moments, lines, strict=True):
        picture.text(8, y + 14, f"{when}: {bits:.2f} bits for a letter", bold=True)
        area = picture.box(4, y + 26, 472, LINE * len(written) + 10)
        for number, line in enumerate(written):
            shown = line.replace(" ", "\N{NO-BREAK SPACE}")
            picture.text(14, area.y + 5 + LINE * (number + 0.5), shown)
        y += LINE * len(written) + 46
    return picture


def _training(picture: Diagram, word: str, weights: torch.Tensor, probability: torch.Tensor):
    picture.text(8, 14, "training: all rows in one pass", bold=True)
    n = len(weights)
    right = 96 + n * CELL
    for x, heading in ((36, "input"), (96 + n * CELL / 2, "weights"), (right + 58, "target"), (428, "probability")):
        picture.text(x, 42, heading, anchor="middle")
    grid = picture.tensor(
        96, 80, weights, name="weights", cell=(CELL, ROW), numbers=True, tone="weights", largest=1, columns=word[:-1]
    )
    for row, (symbol, target) in enumerate(zip(word, word[1:], strict=False)):
        area = grid.row(row)
        asked = _symbol(picture, 36, area.centre[1], symbol)
        answer = _symbol(picture, right + 58, area.centre[1], target, tone="output")
        picture.arrow(asked.right, area.left)
        picture.arrow(area.right, answer.left)
    cell = (64, ROW)
    picture.tensor(396, 80, probability, name="probability of the target", cell=cell, numbers=True, largest=1)


def _writing(picture: Diagram, word: str, top: float):
    picture.text(8, top, "writing: one symbol at a time", bold=True)
    for length in range(1, len(word)):
        y = top + 34 + 50 * (length - 1)
        read = [_symbol(picture, 36 + 40 * place, y, symbol) for place, symbol in enumerate(word[:length])]
        newest = _symbol(picture, 338, y, word[length], tone="output")
        picture.arrow(read[-1].right, newest.left)
        if length < len(word) - 1:
            x, below = 36 + 40 * length, newest.bottom[1] + 10
            picture.arrow(newest.bottom, (newest.bottom[0], below), (x, below), (x, below + 12), dashed=True)


def _symbol(picture: Diagram, x: float, y: float, symbol: str, *, tone: str = "plain") -> Area:
    return picture.box(x - 15, y - 14, 30, 28, symbol, tone=tone)
