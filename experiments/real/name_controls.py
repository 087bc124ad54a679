"""Controls of the patching in `two_names.py`, heads that take the answer away, and what feeds the strongest head.

No finding of the course is judged here. What was known when this was written: the record of `two_names.py`. In it the
mean of 23.3, the head that brings most back, brings over half as much as the head itself under the exchange, as a head
would that only ceases to say the wrong name; under the third name no mean was tried. Heads 24.4 and 29.0 take the
answer farthest away on the 20 sentences, and were not measured on the 100. Of what feeds 23.3 ten heads had been
tried, five of them because they act at the last token, and under the exchange alone. What is expected was written down
before the rest was measured; EXPECTED says it as code, and the record says which of it came out.

Texts, both kinds of corruption, the answer, and what comes back of it: as in `two_names.py`. A share measured on the
100 sentences is recorded with its standard error, that of a ratio of two means over the sentences.

Measured, under the exchange and under the third name:
- Of the HEADS that bring .05 or more back on the 20, each at its place: BACK; MEAN, with the head's mean output over
  the 100 clean sentences there; FOREIGN, with its output on 100 pieces of Python's help pages, 14 tokens each, at all
  places: what comes back without anything of the sentence.
- NEGATIVE: of the five heads that take the answer farthest away on the 20 at the last token, BACK, and LOOKS as there.
- FEEDS: all paths into query, key and value of 23.3 (the head that brings most back at the last token on the 20), from
  all heads of earlier blocks, on the 20: ALL, their sums, and the ten that change the answer most, either way, which
  are measured on the 100 as PATHS. WORDS, on the 100: the paths from the second mention itself, past all heads, through
  the feed-forward layers. RECEIVED is BACK of 23.3: a path can bring back that much.

Expected:
1. Under the third name FOREIGN brings back less than a quarter of BACK, either way, in each of the heads.
2. Under the third name MEAN does, too.
3. Under the exchange FOREIGN of 23.3 brings back a quarter of its BACK or more, since it ceases to say the wrong name.
4. Each of the five NEGATIVE heads takes the answer away on the 100 too, by more than two standard errors, and three of
   them give the right name more weight than the other name's mentions, as in Wang et al.
5. Under the exchange WORDS into the value bring back half of RECEIVED or more, and no head's path a quarter.
6. Under the third name the strongest path of a head is into the query: 23.3 is told where to look.
"""

from _models import Models
from _tails import Tails
from _texts import N_CHOSEN_ON, N_MEASURED, pieces
from torch import Tensor
from two_names import N_BEST, WHERE, best, every_head, looks, sentences

from attention_course.interpreting.circuits import attention_layers
from attention_course.interpreting.patching import READS, Patching

KINDS = {"exchange": "corrupted", "third": "third"}
LEAST, N_PATHS = 0.05, 10

EXPECTED = {
    "foreign": lambda n: all(_small(head["third"], "foreign") for head in n["heads"]),
    "mean": lambda n: all(_small(head["third"], "mean") for head in n["heads"]),
    "ceasing": lambda n: not any(
        _small(head["exchange"], "foreign") for head in n["heads"] if head["head"] == n["feeds"]["head"]
    ),
    "negative": lambda n: (
        all(head["exchange"][0] < -2 * head["exchange"][1] for head in n["negative"])
        and sum(head["looks"][0] > head["looks"][1] + head["looks"][2] for head in n["negative"]) >= 3
    ),
    "value of the word": lambda n: _by_the_word(**n["feeds"]["exchange"]),
    "told where to look": lambda n: (
        max(n["feeds"]["third"]["paths"], key=lambda path: path["back"][0])["reads"] == "query"
    ),
}


def _small(head: dict, control: str) -> bool:
    """Whether a control brings back less than a quarter of what the head does, either way."""
    return abs(head[control][0]) < 0.25 * head["back"][0]


def _by_the_word(received: list[float], words: dict, paths: list[dict], **_) -> bool:
    """Whether a head gets half of what it brings back from the word by its value, and a quarter from no head."""
    most = max(path["back"][0] for path in paths)
    return words["value"][0] >= 0.5 * received[0] and most < 0.25 * received[0]


def share(patching: Patching, answer: Tensor) -> list[float]:
    """What comes back on average over the sentences, and its standard error."""
    gap, moved = patching.clean - patching.corrupted, answer - patching.corrupted
    back = moved.mean() / gap.mean()
    error = (moved - back * gap).std() / len(gap) ** 0.5 / gap.mean().abs()
    return [back.item(), error.item()]


def back(tails: Tails, head: tuple[int, int], place: int, mean: bool = False) -> list[float]:
    """What comes back with one head's output at one place, or with its mean over the clean sentences there."""
    patching = tails.patching(head[0])
    said = patching.clean_heads[0]
    return share(patching, patching.head((0, head[1]), place, said.mean(0).expand_as(said) if mean else None))


def path(tails: Tails, sender: tuple[int, int] | None, receiver: tuple[int, int], reads: str) -> list[float]:
    """What comes back through one path; from no sender, that is from the words behind the prefix past all heads."""
    start = sender[0] if sender else 0
    patching = tails.patching(start)
    return share(patching, patching.path(sender and (0, sender[1]), (receiver[0] - start, receiver[1]), reads))


def controlled(model, texts: dict[str, Tensor], others: Tensor, heads: list[tuple[tuple[int, int], str]]) -> list[dict]:
    """BACK, MEAN and FOREIGN of heads, each at its place, under both kinds of corruption."""

    def answer(symbols: Tensor) -> Tensor:
        right, other = model(symbols)[0][:, -1].gather(-1, texts["names"]).unbind(-1)
        return right - other

    rows = [{"head": head, "at": at} for head, at in heads]
    for kind, corrupted in KINDS.items():
        tails = Tails(model, texts, corrupted)
        foreign = Patching(answer, attention_layers(model), others, texts[corrupted])
        for row, (head, at) in zip(rows, heads, strict=True):
            row[kind] = {
                "back": back(tails, head, WHERE[at]),
                "mean": back(tails, head, WHERE[at], mean=True),
                "foreign": share(tails.patching(0), foreign.head(head)),
            }
    return rows


def feeds(few: Tails, tails: Tails, receiver: tuple[int, int], into: tuple[str, ...] = READS) -> dict:
    """What feeds these of one head's query, key and value, under the corruption of both."""
    found = []
    for block in range(receiver[0]):
        heads = [(block, head) for head in range(few.layers[block].n_heads)]
        found += [(few.path(head, receiver, reads), head, reads) for head in heads for reads in into]
        few.behind.clear()  # else all of them would be kept
    strongest = sorted(found, key=lambda one: abs(one[0]), reverse=True)[:N_PATHS]
    return {
        "received": back(tails, receiver, -1),
        "words": {reads: path(tails, None, receiver, reads) for reads in into},
        "all": {reads: sum(share for share, _, by in found if by == reads) for reads in into},
        "paths": [
            {"head": head, "reads": reads, "back": path(tails, head, receiver, reads)} for _, head, reads in strongest
        ],
    }


def run(models: Models) -> dict:
    """What came out."""
    model = models.model
    chosen_on, texts = (sentences(models.encode, n, seed) for n, seed in ((N_CHOSEN_ON, 7), (N_MEASURED, 8)))
    others = pieces(models.encode, texts["clean"].size(1))[1][: len(texts["clean"])]
    brought, look = every_head(model, chosen_on), looks(model, texts)
    heads = [(head, at) for at in WHERE for head in best(brought[at], (brought[at] >= LEAST).sum().item())]
    few, tails = ({kind: Tails(model, of, KINDS[kind]) for kind in KINDS} for of in (chosen_on, texts))
    (receiver,) = best(brought["last"], 1, range(1, len(model.blocks)))  # there are heads before it
    found = {
        "heads": controlled(model, texts, others, heads),
        "negative": [
            {"head": head, "looks": look(head, -1)} | {kind: back(tails[kind], head, -1) for kind in KINDS}
            for head in best(-brought["last"], N_BEST)
        ],
        "feeds": {"head": receiver} | {kind: feeds(few[kind], tails[kind], receiver) for kind in KINDS},
        "n_sentences": len(texts["clean"]),
    }
    return {"name_controls": found | {"expected": {name: bool(holds(found)) for name, holds in EXPECTED.items()}}}
