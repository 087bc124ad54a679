"""Sentences with words of two senses; for each, one other word, anywhere in the sentence, decides which is meant."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_course.tasks.batch import Batch

# Each ambiguous word, with the words that decide for its natural sense and for its sense as a thing people made.
SENSES = {
    "bank": (
        ("river", "stream", "beaver", "reed", "ferry", "canoe"),
        ("loan", "teller", "vault", "cheque", "mortgage", "robber"),
    ),
    "bat": (
        ("cave", "moth", "belfry", "roost", "fang", "vampire"),
        ("pitcher", "stadium", "glove", "helmet", "ball", "coach"),
    ),
    "crane": (
        ("nest", "marsh", "feather", "chick", "beak", "flock"),
        ("girder", "scaffold", "hook", "container", "foreman", "skyscraper"),
    ),
    "mouse": (
        ("whisker", "cat", "burrow", "barn", "tail", "trap"),
        ("keyboard", "cursor", "screen", "laptop", "cable", "desktop"),
    ),
}
SENSE_NAMES = ("natural", "made")
NEUTRAL = ("morning", "story", "road", "window", "song", "winter", "letter", "neighbour", "dream", "journey")

# Every noun fits every gap, so where a word stands tells nothing either.
GAP = "_"
TEMPLATES = tuple(
    template.split()
    for template in (
        "the _ and the _ were near a _ with the _ and _",
        "she drew a _ and the _ beside a _ without _ or _",
        "no _ without the _ he said no _ without a _ or _",
        "we found the _ under a _ behind the _ with _ and _",
        "with a _ and _ he left the _ for a _ or _",
        "they said the _ the _ and the _ had no _ or _",
    )
)
N_TOKENS = len(TEMPLATES[0])
N_NOUNS = TEMPLATES[0].count(GAP)

VOCABULARY = tuple(
    dict.fromkeys(
        [
            *SENSES,
            *(word for senses in SENSES.values() for words in senses for word in words),
            *NEUTRAL,
            *(word for template in TEMPLATES for word in template if word != GAP),
        ]
    )
)
IDS = {word: index for index, word in enumerate(VOCABULARY)}


@dataclass
class SenseSentences(Batch):
    """A batch of sentences, each with words of two senses.

    Attributes:
        tokens: Indices into `VOCABULARY`, integers `(batch, n_tokens)`.
        asked: Positions of the ambiguous words, ascending, integers `(batch, n_ambiguous)`.
        sense: What each of them means here, an index into `SENSE_NAMES`, integers `(batch, n_ambiguous)`.
        gold: Boolean `(batch, n_ambiguous, n_tokens)`: `True` at the one word that decides the sense.
    """

    tokens: Tensor
    asked: Tensor
    sense: Tensor
    gold: Tensor

    def words(self, row: int) -> list[str]:
        """One sentence as text, a word a token."""
        return [VOCABULARY[token] for token in self.tokens[row].tolist()]


def sense_sentences(n_sentences: int, generator: torch.Generator, n_ambiguous: int = 2) -> SenseSentences:
    """Sentences from templates, with ambiguous words, their deciding words and neutral nouns in random gaps.

    Ambiguous words, senses, deciding words, neutral nouns, template and gaps are drawn uniformly and
    independently of each other. So of all words only a deciding word carries information on a sense,
    and only on that of its own ambiguous word.

    Args:
        n_sentences: Size of the batch.
        generator: Source of randomness (on the CPU).
        n_ambiguous: Different ambiguous words in each sentence, 1 or 2.

    Raises:
        ValueError: If `n_ambiguous` is neither.
    """
    if n_ambiguous not in (1, 2):
        raise ValueError(f"n_ambiguous must be 1 or 2, got {n_ambiguous}")

    def draw(n_options: int, *shape: int) -> Tensor:
        return torch.randint(n_options, (n_sentences, *shape), generator=generator)

    def draw_different(n_options: int, count: int) -> Tensor:
        return torch.rand(n_sentences, n_options, generator=generator).argsort(1)[:, :count]

    which, sense = draw_different(len(SENSES), n_ambiguous), draw(2, n_ambiguous)
    deciders = _ids(list(SENSES.values()))  # (ambiguous words, senses, deciding words)
    deciding = deciders[which, sense, draw(deciders.size(-1), n_ambiguous)]
    neutral = _ids(NEUTRAL)[draw_different(len(NEUTRAL), N_NOUNS - 2 * n_ambiguous)]
    nouns = torch.cat([_ids(list(SENSES))[which], deciding, neutral], dim=1)  # (batch, N_NOUNS)

    template = draw(len(TEMPLATES))
    gaps = torch.tensor([[i for i, word in enumerate(words) if word == GAP] for words in TEMPLATES])
    place = gaps[template].gather(1, draw_different(N_NOUNS, N_NOUNS))  # where each noun goes
    frames = torch.tensor([[IDS.get(word, 0) for word in words] for words in TEMPLATES])
    tokens = frames[template].scatter(1, place, nouns)

    asked, order = place[:, :n_ambiguous].sort(dim=1)
    decided_at = place[:, n_ambiguous : 2 * n_ambiguous].gather(1, order)
    gold = decided_at[:, :, None] == torch.arange(N_TOKENS)
    return SenseSentences(tokens, asked, sense.gather(1, order), gold)


def _ids(words) -> Tensor:
    """Indices of words, or of nested sequences of words of equal lengths."""
    if isinstance(words, str):
        return torch.tensor(IDS[words])
    return torch.stack([_ids(inner) for inner in words])
