"""Whether *bank* leaves MiniLM with the sense that another word gives it."""

import torch
import torch.nn.functional as F
from _models import Models
from torch import Tensor

from attention_course.tasks.senses import SENSES

FRAMES = (
    "they talked about the {} and the {}",
    "the {} was not far from the {}",
    "she drew a picture of a {} and a {}",
    "we found the {} beside the {}",
    "his story is about a {} and a {}",
    "nobody remembers the {} near the {}",
    "first came the {} and then the {}",
    "there was no {} without a {}",
    "a {} is all that he saw of the {}",
    "the {} reminded her of the {}",
)
NEUTRAL = ("door", "story", "letter")
# Tried after the verdict: more words with one sense, and words that belong to one of *bank*'s.
AFTERWARDS = (
    *("chair", "bottle", "garden", "house", "man", "dog", "table", "box", "truck", "coffee"),
    *("woman", "church", "office", "road", "shop", "book", "horse", "chicken", "phone", "window"),
)
OF_A_SENSE = ("water", "fish", "money", "coin")


def sentences(encode, word: str) -> tuple[list[list[int]], Tensor, Tensor, list[list[int]]]:
    """In each of ten frames, *bank* (or another word) beside each deciding word, in turns before it and behind.

    Returns:
        The symbols of 120 sentences; which of its kind the deciding word is, `(120,)`; whether it is of money,
        `(120,)`; and the symbols of the deciding words.
    """
    texts, which, money, deciding = [], [], [], []
    for number, frame in enumerate(FRAMES):
        for sense, words in enumerate(SENSES["bank"]):
            for of_kind, other in enumerate(words):
                pair = (word, other) if number % 2 else (other, word)
                texts.append(encode(frame.format(*pair)))
                deciding.append(encode(other))
                which.append(of_kind)
                money.append(sense)
    return texts, torch.tensor(which), torch.tensor(money), deciding


@torch.no_grad()
def vectors(models: Models, word: str, cut: bool = False) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A word's vector as it enters the first block and as it leaves the last, `(120, d_model)`, and which and money."""
    texts, which, money, deciding = sentences(models.encode_for_bert, word)
    tokenizer, (symbol,) = models.bert_tokenizer, models.encode_for_bert(word)
    entered, left = [], []
    for text, other in zip(texts, deciding, strict=True):
        symbols = torch.tensor([[tokenizer.cls_token_id, *text, tokenizer.sep_token_id]])
        at = symbols[0].tolist().index(symbol)
        visible = torch.ones_like(symbols, dtype=torch.bool)
        if cut:
            begin = next(i for i in range(len(text)) if text[i : i + len(other)] == other) + 1
            visible[:, begin : begin + len(other)] = False
        tokens = models.embeddings(input_ids=symbols)
        entered.append(tokens[0, at])
        left.append(models.encoder(tokens, visible[:, None, None])[0][0, at])
    return torch.stack(entered), torch.stack(left), which, money


def right(vectors: Tensor, which: Tensor, money: Tensor) -> float:
    """Of how many the nearer mean is that of their sense; the means are of the other words' sentences."""
    found = 0.0
    for vector, number, sense in zip(vectors, which, money.tolist(), strict=True):
        means = torch.stack([vectors[(which != number) & (money == of)].mean(0) for of in (0, 1)])
        near = F.cosine_similarity(means, vector[None])
        difference = (near[sense] - near[1 - sense]).item()
        found += 0.5 if abs(difference) < 1e-6 else difference > 0
    return found / len(vectors)


def apart(vectors: Tensor, money: Tensor) -> float:
    """1 minus the cosine of the means of both senses."""
    return 1 - F.cosine_similarity(*(vectors[money == of].mean(0) for of in (0, 1)), dim=0).item()


def run(models: Models) -> dict:
    """The finding."""
    entered, left, which, money = vectors(models, "bank")
    _, cut, *_ = vectors(models, "bank", cut=True)
    others = {word: vectors(models, word) for word in NEUTRAL}
    afterwards = {word: apart(vectors(models, word)[1], money) for word in (*AFTERWARDS, *OF_A_SENSE)}
    return {
        "bank": {
            "right": right(left, which, money),
            "input": right(entered, which, money),
            "cut": right(cut, which, money),
            "apart": apart(left, money),
            "neutral": max(apart(of[1], money) for of in others.values()),
            "apart_of": {word: apart(of[1], money) for word, of in others.items()},
            "right_of": {word: right(of[1], which, money) for word, of in others.items()},
            "apart_afterwards": {word: afterwards[word] for word in AFTERWARDS},
            "apart_of_a_sense": {word: afterwards[word] for word in OF_A_SENSE},
            "n_sentences": len(left),
        }
    }
