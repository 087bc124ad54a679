"""Two more controls of the patching in `two_names.py`: a model with shuffled weights, and heads that are knocked out.

No finding of the course is judged here. What was known when this was written: the records of `two_names.py` and
`name_controls.py`. Heads had only been brought back, one at a time; none had been taken away. Wang et al. 2022,
arXiv:2211.00593, report that in GPT-2 small other heads (backups) take over when the name movers are knocked out. What
is expected was written down before anything was run; EXPECTED says it as code, and the record says which of it came
out.

Texts, corruptions, the answer and what comes back of it: as in `name_controls.py`; 20 sentences choose heads, 100
measure. Pairs are a mean over sentences, in logits, and its standard error.

UNTRAINED: each matrix of SmolLM2 with its entries in random order. RIGHT as in `two_names.py`; GAP, the clean answer
minus the corrupted, and TRAINED_GAP. Of the HEADS that bring .05 or more back in the trained model, each at its place,
and of LARGEST, the one with the largest FITTED on the 20, either way, of all 270 at both places: MOVED, by how much the
patched head moves the answer, and FITTED, the slope of that over the gaps of single sentences: what comes back of a
model's own difference, where the mean gap is near zero. TRAINED has both for the trained model.

KNOCKED: of the clean sentences, with the mean over them in place of what the heads say at the last token. MOVERS are
the five heads with the largest DIRECT of `two_names.py`, LOOKERS those of them that give the right name more weight
than the other name's mentions, NEGATIVE the five that take the answer farthest away. LOSS: by how much the answer
falls; HELD: the same with all other heads' outputs held as they were; TAKEN_OVER: HELD minus LOSS, what the reactions
of other heads save. DRAWN: LOSS of ten sets of as many other heads of the same blocks, none of these groups. REACTIONS:
of the five later heads whose reaction moves the answer most on the 20, either way: REACTION, the answer minus that with
this head alone held as before; BEFORE and AFTER, what the head contributes by itself, with its mean in its place and
all others held; LOOKS before.

Expected:
1. With shuffled weights the answer is above 0 in 35 to 65 of 100; no head moves it by a twentieth of the trained gap,
   and FITTED is under .05 in each of the HEADS.
2. LARGEST has under half of the largest FITTED in the trained model.
3. No drawn set loses a quarter of what its group loses, either way.
4. Without MOVERS half of the answer or more is lost.
5. Of MOVERS and of LOOKERS, a quarter of HELD or more is taken over.
6. A backup is among the five that react to the loss of MOVERS: it contributes nothing against the answer before, and at
   least twice as much after.
7. The largest of these reactions is that of a head of NEGATIVE, which takes less away.
8. Without NEGATIVE the answer gains, by more than two standard errors.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import partial
from itertools import product

import torch
from _models import Models
from _tails import Tails
from _texts import N_CHOSEN_ON, N_MEASURED, generator
from name_controls import LEAST
from torch import Tensor, nn
from two_names import N_BEST, N_DIRECT, WHERE, _looking, best, drawn, every_head, looks, sentences

from attention_course.interpreting.patching import Patching, reading_instead

N_DRAWS = 10

EXPECTED = {
    "untrained": lambda n: _nothing(**n["untrained"]),
    "none as large": lambda n: (
        2 * abs(n["untrained"]["largest"]["fitted"]) < max(row["trained"]["fitted"] for row in n["untrained"]["heads"])
    ),
    "drawn": lambda n: all(
        abs(loss) < 0.25 * abs(group["loss"][0]) for group in n["knocked"].values() for loss in group["drawn"]
    ),
    "movers": lambda n: n["knocked"]["movers"]["loss"][0] >= 0.5 * n["clean"][0],
    "taken over": lambda n: all(
        n["knocked"][name]["taken_over"][0] >= 0.25 * n["knocked"][name]["held"][0] for name in ("movers", "lookers")
    ),
    "backup": lambda n: any(
        row["after"][0] >= 2 * row["before"][0] >= 0 and row["reaction"][0] > 2 * row["reaction"][1]
        for row in n["knocked"]["movers"]["reactions"]
    ),
    "relenting": lambda n: _relents(n["knocked"]["movers"]["reactions"], n["knocked"]["negative"]["heads"]),
    "negative": lambda n: n["knocked"]["negative"]["loss"][0] < -2 * n["knocked"]["negative"]["loss"][1],
}


def _nothing(right: float, trained_gap: list[float], heads: list[dict], largest: dict, **_) -> bool:
    moved = [abs(row["moved"][0]) < 0.05 * trained_gap[0] for row in (*heads, largest)]
    return 0.35 <= right <= 0.65 and all(moved) and all(abs(row["fitted"]) < 0.05 for row in heads)


def _relents(reactions: list[dict], negative: list[tuple[int, int]]) -> bool:
    most = sorted(reactions, key=lambda row: abs(row["reaction"][0]))[-1:]  # a random model may have none
    return any(row["head"] in negative and row["reaction"][0] > 0 for row in most)


def mean(numbers: Tensor) -> list[float]:
    """The mean over sentences, and its standard error."""
    return [numbers.mean().item(), (numbers.std() / len(numbers) ** 0.5).item()]


def shuffled(model: nn.Module, seed: int = 0) -> nn.Module:
    """The same model with the entries of each matrix in random order, so that their sizes stay."""
    other, source = deepcopy(model), generator(seed)
    for parameter in other.parameters():
        if parameter.dim() > 1:
            order = torch.randperm(parameter.numel(), generator=source)
            parameter.data = parameter.data.flatten()[order].view_as(parameter)
    return other


def moved(tails: Tails, head: tuple[int, int], at: str) -> dict:
    """MOVED and FITTED of one patched head."""
    patching = tails.patching(head[0])
    gap, by = patching.clean - patching.corrupted, patching.head((0, head[1]), WHERE[at]) - patching.corrupted
    return {"moved": mean(by), "fitted": (by @ gap / (gap @ gap)).item()}


def without_training(trained: Tails, chosen_on: dict, texts: dict, heads: list[tuple[tuple[int, int], str]]) -> dict:
    """What the trained model's heads, and the best of all, bring back with shuffled weights."""
    model, slopes = shuffled(trained.model), {}
    few, tails = Tails(model, chosen_on), Tails(model, texts)
    for block, layer in enumerate(few.layers):
        for head, at in product(range(layer.n_heads), WHERE):
            slopes[(block, head), at] = moved(few, (block, head), at)["fitted"]
        few.behind.clear()  # else all of them would be kept
    largest = max(slopes, key=lambda one: abs(slopes[one]))
    runs, trained_runs = tails.patching(0), trained.patching(0)
    return {
        "right": (runs.clean > 0).float().mean().item(),
        "gap": mean(runs.clean - runs.corrupted),
        "trained_gap": mean(trained_runs.clean - trained_runs.corrupted),
        "heads": [
            {"head": head, "at": at, "trained": moved(trained, head, at)} | moved(tails, head, at) for head, at in heads
        ],
        "largest": {"head": largest[0], "at": largest[1]} | moved(tails, *largest),
    }


@contextmanager
def reading(parts: Iterable[tuple[nn.Module, Tensor]]) -> Iterator[None]:
    """Inside the `with`, each of these modules reads the tensor beside it."""
    with ExitStack() as hooks:
        for module, seen in parts:
            hooks.enter_context(reading_instead(module, lambda _, seen=seen: seen))
        yield


class Knocking:
    """Clean sentences from one block on, and what changes where some heads say something else at the last token."""

    def __init__(self, tails: Tails, first: int):
        self.first, self.layers, self.answer = first, tails.layers[first:], tails.answer(first)
        self.stream, self.before = tails.entering["clean"][first], tails.patching(first)
        self.means = [said.mean(0).expand_as(said) for said in self.before.clean_heads]

    def exchanged(self, joined: list[Tensor], others: list[Tensor], heads: list[tuple[int, int]]) -> list[Tensor]:
        """All layers' head outputs, with those of some heads at the last token from others."""
        return [self._in(number, *both, heads) for number, both in enumerate(zip(joined, others, strict=True))]

    def _in(self, number: int, joined: Tensor, others: Tensor, heads: list[tuple[int, int]]) -> Tensor:
        changed, d_head = joined.clone(), self.layers[number].d_head
        for head in (head for block, head in heads if block == self.first + number):
            part = slice(head * d_head, (head + 1) * d_head)
            changed[:, -1, part] = others[:, -1, part]
        return changed

    def held(self, joined: list[Tensor]) -> Tensor:
        """The answers with all heads' outputs held as these."""
        with reading((layer.out_proj, said) for layer, said in zip(self.layers, joined, strict=True)):
            return self.answer(self.stream)

    def without(self, heads: list[tuple[int, int]]) -> Patching:
        """Runs, both the same, in which these heads say their means and later heads react: `clean`, `clean_heads`."""
        with ExitStack() as hooks:
            for number, (layer, means) in enumerate(zip(self.layers, self.means, strict=True)):
                change = partial(self._in, number, others=means, heads=heads)
                hooks.enter_context(reading_instead(layer.out_proj, change))
            return Patching(self.answer, self.layers, self.stream, self.stream)

    def contribution(self, run: Patching, head: tuple[int, int]) -> Tensor:
        """How much lower the answers of a run are with the head's mean in its place, all others held."""
        return run.clean - self.held(self.exchanged(run.clean_heads, self.means, [head]))

    def reaction(self, after: Patching, head: tuple[int, int]) -> Tensor:
        """How much lower the answers of a run are with this head held as before, all others held as they are."""
        return after.clean - self.held(self.exchanged(after.clean_heads, self.before.clean_heads, [head]))


def knocked(few: Knocking, all_of: Knocking, heads: list[tuple[int, int]], sets: list[list], look) -> dict:
    """What the answer loses without these heads, and without the sets that were drawn; which later heads react."""
    after, before, n_heads = few.without(heads), all_of.before, few.layers[0].n_heads
    first = min((block for block, _ in heads), default=few.first) + 1
    later = product(range(first, few.first + len(few.layers)), range(n_heads))
    by = {head: few.reaction(after, head).mean().abs().item() for head in later if head not in heads}
    after, held = all_of.without(heads), all_of.held(all_of.exchanged(before.clean_heads, all_of.means, heads))
    return {
        "heads": heads,
        "loss": mean(before.clean - after.clean),
        "held": mean(before.clean - held),
        "taken_over": mean(after.clean - held),
        "right": (after.clean > 0).float().mean().item(),
        "drawn": [(before.clean - all_of.without(some).clean).mean().item() for some in sets],
        "reactions": [
            {
                "head": head,
                "reaction": mean(all_of.reaction(after, head)),
                "before": mean(all_of.contribution(before, head)),
                "after": mean(all_of.contribution(after, head)),
                "looks": look(head, -1),
            }
            for head in sorted(by, key=by.get, reverse=True)[:N_BEST]
        ],
    }


def run(models: Models) -> dict:
    """What came out."""
    model = models.model
    chosen_on, texts = (sentences(models.encode, n, seed) for n, seed in ((N_CHOSEN_ON, 7), (N_MEASURED, 8)))
    brought, look = every_head(model, chosen_on), looks(model, texts)
    n_heads, few, tails = brought["last"].size(1), Tails(model, chosen_on), Tails(model, texts)
    heads = [(head, at) for at in WHERE for head in best(brought[at], (brought[at] >= LEAST).sum().item())]

    movers = sorted(best(brought["last"], N_DIRECT), key=few.path, reverse=True)[:N_BEST]
    lookers = _looking([{"head": head, "looks": look(head, -1)} for head in movers])
    groups = {"movers": movers, "lookers": lookers, "negative": best(-brought["last"], N_BEST)}
    named = movers + groups["negative"]
    draws = [dict(zip(named, drawn(named, n_heads, seed), strict=False)) for seed in range(N_DRAWS)]
    both = [Knocking(of, min(named)[0]) for of in (few, tails)]
    found = {
        "clean": mean(both[1].before.clean),
        "untrained": without_training(tails, chosen_on, texts, heads),
        "knocked": {
            name: knocked(*both, group, [[draw[head] for head in group if head in draw] for draw in draws], look)
            for name, group in groups.items()
        },
        "n_sentences": len(texts["clean"]),
    }
    return {"name_knockouts": found | {"expected": {name: bool(holds(found)) for name, holds in EXPECTED.items()}}}
