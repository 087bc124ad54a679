"""Reviews that say the same thing twice, once by negating its opposite: the same words in another order disagree."""

import random
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.support.validation import validate_whole_number
from attention_course.tasks.batch import Batch

PAD = 0
NOUNS = ("film", "acting", "music", "plot", "camera", "ending", "cast")
GOOD = ("good", "wonderful", "clever", "great")
BAD = ("bad", "awful", "silly", "weak")
NEGATIONS = ("not", "never", "hardly")
JOINTS = ("and", "as", "since")
# Words that change nothing, before the first clause, on either side of the negation, and behind the second clause.
OPENINGS = ("", "", "last night", "to be honest", "as far as i know")
BEFORE = ("", "", "for once", "in my eyes", "as i said")
AFTER = ("", "", "really", "so very", "what i call")
CLOSINGS = ("", "", "if you ask me", "by the way", "when all is said and done")
# Five words or more, for reviews in which the words that decide are far apart.
ASIDES = ("to be honest", "as far as i know", "in my eyes", "if you ask me", "by the way", "when all is said and done")
FAR = tuple(
    f"{aside} {after}".strip()
    for aside in ASIDES
    for after in dict.fromkeys(AFTER)
    if len(f"{aside} {after}".split()) >= 5
)
LABELS = ("bad", "good")
NEGATED = 1 / 3  # how often a clause negates the opposite of what it means

VOCABULARY = (
    "<pad>",
    *dict.fromkeys(
        word
        for phrases in (OPENINGS, BEFORE, AFTER, CLOSINGS, JOINTS, NEGATIONS, GOOD, BAD, NOUNS, ("the", "was"))
        for phrase in phrases
        for word in phrase.split()
    ),
)
IDS = {word: index for index, word in enumerate(VOCABULARY)}


@dataclass
class Reviews(Batch):
    """A batch of reviews, the short ones filled up with `PAD` behind.

    Attributes:
        tokens: Indices into `VOCABULARY`, integers `(batch, n_tokens)`; as long as the longest sentence.
        label: Whether the review is good or bad, an index into `LABELS`, integers `(batch,)`.
        gold: Boolean `(batch, n_tokens)`: `True` at the words that decide, adjectives and negations.
        mixed: Boolean `(batch,)`: `True` where one clause of two is negated, so that the bag of words cannot tell.
    """

    tokens: Tensor
    label: Tensor
    gold: Tensor
    mixed: Tensor

    @property
    def mask(self) -> Tensor:
        """Boolean `(batch, n_tokens)`; `True` = real, `False` = padding."""
        return self.tokens != PAD

    def words(self, row: int) -> list[str]:
        """One sentence without its padding, a word a token."""
        return [VOCABULARY[token] for token in self.tokens[row].tolist() if token != PAD]


def reviews(n_sentences: int, generator: torch.Generator, *, far: bool = False) -> Reviews:
    """Draw reviews such as "to be honest the film was not really good and the acting was awful".

    A review has one clause or two, on different things, and they agree. Each says its opinion plainly or, one time in
    three, by negating the opposite. Every choice is independent of the others. In a *mixed* review one clause of two
    is negated, so one adjective is good and one bad. To exchange them turns the label over and leaves the bag of words
    as it is, and both reviews are equally likely: a classifier that sees only which words occur is right on exactly
    half of the mixed ones.

    Args:
        n_sentences: Size of the batch, 1 or more.
        generator: Source of randomness (on the CPU).
        far: Put five words or more between any two of the words that decide, as in "the film was not to be honest so
            very good by the way and the acting was if you ask me really awful": no run of six words holds two of them.

    Raises:
        ValueError: If `n_sentences` is no whole number of 1 or more.
    """
    validate_whole_number("n_sentences", n_sentences, at_least=1)
    draw = random.Random(int(torch.randint(2**62, (1,), generator=generator)))
    sentences, all_deciding, is_good, mixed = zip(*(_sentence(draw, far) for _ in range(n_sentences)), strict=True)
    n_tokens = max(map(len, sentences))
    tokens = torch.full((n_sentences, n_tokens), PAD)
    gold = torch.zeros(n_sentences, n_tokens, dtype=torch.bool)
    for row, (words, deciding) in enumerate(zip(sentences, all_deciding, strict=True)):
        tokens[row, : len(words)] = torch.tensor([IDS[word] for word in words])
        gold[row, deciding] = True
    return Reviews(tokens, torch.tensor(is_good).long(), gold, torch.tensor(mixed))


def encode(sentence: str) -> Tensor:
    """A sentence of your own as tokens `(1, n_tokens)`.

    Raises:
        ValueError: If the vocabulary lacks one of its words.
    """
    words = sentence.split()
    unknown = [word for word in words if word not in IDS]
    if unknown or not words:
        raise ValueError(f"sentence must be made of the words of VOCABULARY, got {unknown or 'none'}")
    return torch.tensor([[IDS[word] for word in words]])


def _sentence(draw: random.Random, far: bool) -> tuple[list[str], list[int], bool, bool]:
    """The words, where the deciding ones stand, whether the review is good, and whether it is mixed."""
    is_good = draw.random() < 0.5
    negated = [draw.random() < NEGATED for _ in range(draw.choice((1, 2)))]
    words, deciding = draw.choice(OPENINGS).split(), []
    for clause, noun in enumerate(draw.sample(NOUNS, len(negated))):
        if clause == 1:
            words += draw.choice(CLOSINGS[2:]).split() if far else ()
            words.append(draw.choice(JOINTS))
        words += ["the", noun, "was", *draw.choice(BEFORE).split()]
        if negated[clause]:
            deciding.append(len(words))
            words.append(draw.choice(NEGATIONS))
        words += draw.choice(FAR if far else AFTER).split()
        deciding.append(len(words))
        words.append(draw.choice(GOOD if is_good != negated[clause] else BAD))
    return [*words, *draw.choice(CLOSINGS).split()], deciding, is_good, set(negated) == {True, False}
