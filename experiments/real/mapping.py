"""Whether a map of SmolLM2's attention names the word that its answer depends on most."""

import torch
from _models import BATCH, Models
from _texts import generator
from torch import Tensor

from attention_course.interpreting.interpret import rollout

NAMES = (
    *("Mary", "John", "Anna", "Peter", "Sarah", "David", "Emma", "Thomas", "Laura"),
    *("Paul", "Alice", "James", "Julia", "Mark", "Helen", "Robert", "Kate", "Daniel"),
)
PLACES = ("store", "park", "school", "beach", "station", "office", "garden", "hotel", "library", "museum")
THINGS = ("book", "ring", "card", "letter", "ball", "gift", "key", "phone", "bottle", "flower")
VERBS = ("gave", "handed", "passed", "offered", "showed", "sold")
FRAME = "When {} and {} went to the {}, {} {} a {} to"
KINDS = (NAMES, NAMES, PLACES, NAMES, VERBS, THINGS)  # of the gaps, in this order
N_DRAWN, N_KEPT, N_EXCHANGES = 200, 100, 2


def sentences(encode) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences, the places of the words in their gaps, and the symbols of the right name and of the other.

    Each word is one symbol, so that all sentences are as long. Half of them repeat the first name, half the second.

    Returns:
        Integers `(200, n)`, `(6,)` and `(200, 2)`.
    """
    source, rows, answers = generator(0), [], []
    for number in range(N_DRAWN):
        first, second = (NAMES[at] for at in torch.randperm(len(NAMES), generator=source)[:2].tolist())
        place, verb, thing = (words[_draw(len(words), source)] for words in (PLACES, VERBS, THINGS))
        repeated, right = ((first, second), (second, first))[number % 2]
        rows.append(encode(FRAME.format(first, second, place, repeated, verb, thing)))
        answers.append([_symbol(encode, right), _symbol(encode, repeated)])
    pattern = encode(FRAME.format(*["Mary"] * 6))
    gaps = [at for at, symbol in enumerate(pattern) if symbol == _symbol(encode, "Mary")]
    return torch.tensor(rows), torch.tensor(gaps), torch.tensor(answers)


def _draw(n: int, source: torch.Generator) -> int:
    return torch.randint(n, (), generator=source).item()


def _symbol(encode, word: str) -> int:
    (symbol,) = encode(" " + word)
    return symbol


@torch.no_grad()
def answer(model, symbols: Tensor, answers: Tensor, hidden: int | None = None) -> Tensor:
    """The right name's logit minus the other's, `(n_sentences,)`, perhaps with one place hidden from all tokens."""
    visible = torch.ones(symbols.size(1), dtype=torch.bool)
    if hidden is not None:
        visible[hidden] = False
    found = []
    for some, of in zip(symbols.split(BATCH), answers.split(BATCH), strict=True):
        right, other = model(some, visible)[0][:, -1].gather(-1, of).unbind(-1)
        found.append(right - other)
    return torch.cat(found)


def exchange_effects(model, encode, symbols: Tensor, gaps: Tensor, answers: Tensor, seed: int) -> Tensor:
    """How far the answer moves when a gap's word is exchanged for others that the sentence does not hold: `(n, 6)`."""
    whole, source, effects = answer(model, symbols, answers), generator(seed), []
    for gap, kind in zip(gaps.tolist(), KINDS, strict=True):
        known, moved = [_symbol(encode, word) for word in kind], 0.0
        for _ in range(N_EXCHANGES):
            other = symbols.clone()
            for row in other:
                free = [symbol for symbol in known if symbol not in row.tolist()]
                row[gap] = free[_draw(len(free), source)]
            moved = moved + (answer(model, other, answers) - whole).abs() / N_EXCHANGES
        effects.append(moved)
    return torch.stack(effects, 1)


@torch.no_grad()
def maps(model, symbols: Tensor, gaps: Tensor) -> dict[str, Tensor]:
    """The weights from the last token to each gap's word by three kinds of map, each `(n, 6)`."""
    found = {"map": [], "all_blocks": [], "rollout": []}
    for some in symbols.split(BATCH):
        _, weights = model(some, need_weights=True)
        found["map"].append(weights[-1].mean(1)[:, -1, gaps])
        found["all_blocks"].append(torch.stack(weights).mean((0, 2))[:, -1, gaps])
        found["rollout"].append(rollout(weights)[:, -1, gaps])
    return {name: torch.cat(rows) for name, rows in found.items()}


def run(models: Models) -> dict:
    """The finding."""
    model, encode = models.model, models.encode
    symbols, gaps, answers = sentences(encode)
    said = answer(model, symbols, answers)
    kept = (said > 0).nonzero().flatten()[:N_KEPT]
    symbols, answers = symbols[kept], answers[kept]
    effects, again = (exchange_effects(model, encode, symbols, gaps, answers, seed) for seed in (1, 2))
    most = effects.argmax(1)

    def agrees(scores: Tensor) -> float:
        return (scores.argmax(1) == most).float().mean().item()

    whole = answer(model, symbols, answers)
    erased = [(answer(model, symbols, answers, gap) - whole).abs() for gap in gaps.tolist()]
    return {
        "map_and_exchange": {
            **{name: agrees(scores) for name, scores in maps(model, symbols, gaps).items()},
            "again": agrees(again),
            "chance": 1 / len(KINDS),
            "erased": agrees(torch.stack(erased, 1)),
            "commonest": most.bincount(minlength=len(KINDS)).max().item() / len(most),
            "n_sentences": len(kept),
            "n_right_of_200": (said > 0).sum().item(),
            "most_by_gap": most.bincount(minlength=len(KINDS)).tolist(),
            "mean_effects": effects.mean(0).tolist(),
        }
    }
