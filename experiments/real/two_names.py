"""Which heads of SmolLM2 bring the right one of two names back, and which heads read them: patching, as measured.

No finding of the course is judged here. Wang et al. 2022, arXiv:2211.00593, describe a circuit of heads in GPT-2 small
for such sentences: heads at the second mention notice that the name stands there twice, later heads at the last token
read that through their values, and tell still later ones (name movers), by their queries, to look at the other name and
to copy it. What is expected here was written down before any head had been patched; EXPECTED says it as code, and the
record says which of it came out.

Texts: sentences such as "When Mary and John went to the store, John gave a ring to" in six frames of 14 tokens, where
either name is mentioned first in turns; 20 choose heads, 100 others measure; none is left out. In the corrupted
sentence the second mention is exchanged for the other name ("..., Mary gave a ring to"), so that the right answer is
the other one; in a second kind of corruption, by a third name. The answer is the logit of the name that the clean
sentence asks for minus that of the other. What comes back is 0 as in the corrupted and 1 as in the clean run, of means
over sentences. Blocks and heads are counted from 0.

Measured: CLEAN, CORRUPTED, THIRD, mean answers, and RIGHT, the share of clean sentences whose answer is above 0. Each
of the 270 heads is patched at the second mention and at the last token, on the 20; of the five that bring most back at
each, it is measured on the 100: BACK, and as controls ELSEWHERE (the same head at the other of the two places), MEAN
(its mean over the clean sentences in place of its output) and BACK_THIRD (from the third name). LOOKS: their weights on
the right name, the other name's first mention and the second mention, the first token, from where they are patched.
DIRECT: of the 20 heads that bring most back at the last token, what they bring to the logits past all other heads.
Paths: into query, key and value of MOVER, the head with the largest DIRECT (from block 2 on), from the five heads
before its block that bring most back at the last token; and into those of TELLER, the head that brings most back at the
last token of those before MOVER's block, from the five before its block that bring most back at the second mention.
Controls are as many senders drawn from the other heads of the same blocks. RECEIVED is what comes back with the
receiver's own output patched at the last token: a path can bring back that much.

Expected, after Wang et al.:
1. The answer is above 0 in 90 of 100 and 2 or more on average; with a third name it is nearer to 0 than that; with
   random weights it is above 0 in 35 to 65.
2. At each of both places the best head brings .1 back or more, and half of the 270 bring less than .01 either way.
3. The heads of the second mention are in earlier blocks than those of the last token, on average.
4. In each of the ten, MEAN and ELSEWHERE bring back less than half as much.
5. Three of the five heads with the largest DIRECT give the right name more weight than the other name's mentions.
6. The strongest path into MOVER is into its query, and brings back a quarter of RECEIVED.
7. The strongest path into TELLER is into its value, and brings back a quarter of RECEIVED.
8. No path of the drawn senders brings back as much as the strongest one into the same receiver.

Asked after the first run, in which MOVER looked at the second mention: the same paths into LOOKER, of the five heads
with the largest DIRECT the first that gives the right name more weight than the other name's mentions.
"""

from collections.abc import Callable

import torch
from _models import Models, rounded, untrained
from _tails import Tails
from _texts import N_CHOSEN_ON, N_MEASURED, generator
from mapping import NAMES, PLACES, THINGS, VERBS
from torch import Tensor

from attention_course.interpreting.patching import READS

FRAMES = (
    *("When {} and {} went to the {}, {} {} a {} to", "After {} and {} came to the {}, {} {} a {} to"),
    *("While {} and {} were at the {}, {} {} a {} to", "Once {} and {} got to the {}, {} {} a {} to"),
    *("Then {} and {} walked to the {}, {} {} a {} to", "As {} and {} ran to the {}, {} {} a {} to"),
)
FIRST, OTHER, SECOND = 1, 3, 9  # where names stand: the two, and the one that is mentioned again
N_BEST, N_DIRECT = 5, 20
WHERE = {"second": 0, "last": -1}  # in what is run behind the prefix

EXPECTED = {
    "task": lambda n: n["right"] >= 0.9 and n["clean"] >= 2 > abs(n["third"]) and 0.35 <= n["untrained"] <= 0.65,
    "few heads": lambda n: all(n["heads"][at][0]["back"] >= 0.1 and n["median"][at] < 0.01 for at in WHERE),
    "earlier first": lambda n: sum(a["head"][0] - b["head"][0] for a, b in zip(*n["heads"].values(), strict=True)) < 0,
    "controls": lambda n: all(
        2 * max(head["mean"], head["elsewhere"]) < head["back"] for at in WHERE for head in n["heads"][at]
    ),
    "movers look": lambda n: len(_looking(n["direct"])) >= 3,
    "query of the mover": lambda n: _strongest(n["paths"]["mover"], "query"),
    "value of the teller": lambda n: _strongest(n["paths"]["teller"], "value"),
    "not the drawn": lambda n: all(_most(p["drawn"]) < _most(p["senders"]) for p in n["paths"].values()),
}


def _looking(heads: list[dict]) -> list[tuple[int, int]]:
    return [head["head"] for head in heads if head["looks"][0] > head["looks"][1] + head["looks"][2]]


def _most(senders: list[dict]) -> float:
    return max(sender[reads] for sender in senders for reads in READS)


def _strongest(paths: dict, reads: str) -> bool:
    most = max(sender[reads] for sender in paths["senders"])
    return most == _most(paths["senders"]) and most >= 0.25 * paths["received"]


def sentences(encode, n: int, seed: int) -> dict[str, Tensor]:
    """Clean sentences, both corruptions, `(n, 14)`, and the symbols of the right name and of the other, `(n, 2)`."""
    source, found = generator(seed), {"clean": [], "corrupted": [], "third": [], "names": []}
    for number in range(n):
        first, second, third = (NAMES[at] for at in torch.randperm(len(NAMES), generator=source)[:3].tolist())
        place, verb, thing = (words[_draw(len(words), source)] for words in (PLACES, VERBS, THINGS))
        right, other = ((first, second), (second, first))[number % 2]
        frame = FRAMES[_draw(len(FRAMES), source)]
        for kind, again in (("clean", other), ("corrupted", right), ("third", third)):
            found[kind].append(encode(frame.format(first, second, place, again, verb, thing)))
        found["names"].append([found["clean"][-1][at] for at in ((FIRST, OTHER), (OTHER, FIRST))[number % 2]])
    return {name: torch.tensor(rows) for name, rows in found.items()}


def _draw(n: int, source: torch.Generator) -> int:
    return torch.randint(n, (), generator=source).item()


def every_head(model, texts: dict[str, Tensor]) -> dict[str, Tensor]:
    """What each head brings back at both places, `(n_blocks, n_heads)`."""
    tails, rows = Tails(model, texts), []
    for block, layer in enumerate(tails.layers):
        rows.append([[tails.back((block, head), at) for at in WHERE.values()] for head in range(layer.n_heads)])
        tails.behind.clear()  # else all of them would be kept
    return dict(zip(WHERE, torch.tensor(rows).unbind(-1), strict=True))


def best(back: Tensor, n: int, blocks: range | None = None) -> list[tuple[int, int]]:
    """The `n` heads that bring most back, most first; of some blocks only, if they are named."""
    order = [divmod(number, back.size(1)) for number in back.flatten().argsort(descending=True).tolist()]
    return [head for head in order if blocks is None or head[0] in blocks][:n]


def drawn(senders: list[tuple[int, int]], n_heads: int, seed: int) -> list[tuple[int, int]]:
    """For each sender another head of its block, none of the senders."""
    source, found = generator(seed), []
    for block, _ in senders:
        free = [(block, head) for head in range(n_heads) if (block, head) not in senders + found]
        found += [free[_draw(len(free), source)]] if free else []
    return found


@torch.no_grad()
def looks(model, texts: dict[str, Tensor]) -> Callable[[tuple[int, int], int], list[float]]:
    """Of a head, from a place: mean weights on the right name, the other's two mentions, and the first token."""
    _, maps = model(texts["clean"], need_weights=True)
    right_first = (texts["clean"][:, FIRST] == texts["names"][:, 0])[:, None]
    places = torch.where(right_first, torch.tensor([FIRST, OTHER]), torch.tensor([OTHER, FIRST]))
    places = torch.cat([places, torch.tensor([[SECOND, 0]]).expand(len(places), -1)], 1)

    def of(head: tuple[int, int], place: int) -> list[float]:
        rows = maps[head[0]][:, head[1], SECOND if place == 0 else place]
        return rounded(rows.gather(1, places).mean(0))

    return of


@torch.no_grad()
def answers(model, texts: dict[str, Tensor], kind: str) -> Tensor:
    """The right name's logit minus the other's, for whole sentences of one kind, `(n_sentences,)`."""
    right, other = model(texts[kind])[0][:, -1].gather(-1, texts["names"]).unbind(-1)
    return right - other


def paths(tails: Tails, senders: list[tuple[int, int]], receiver: tuple[int, int], n_heads: int) -> dict:
    """Paths into one receiver, from these senders and from as many that are drawn."""

    def of(heads):
        return [{"head": head} | {reads: tails.path(head, receiver, reads) for reads in READS} for head in heads]

    found = {"head": receiver, "received": tails.back(receiver, -1), "senders": of(senders)}
    return found | {"drawn": of(drawn(senders, n_heads, seed=3))}


def run(models: Models) -> dict:
    """What came out."""
    model = models.model
    chosen_on, texts = (sentences(models.encode, n, seed) for n, seed in ((N_CHOSEN_ON, 7), (N_MEASURED, 8)))
    back = every_head(model, chosen_on)
    n_heads = back["last"].size(1)

    few = Tails(model, chosen_on)
    direct = sorted(best(back["last"], N_DIRECT), key=few.path, reverse=True)
    mover = next(head for head in direct if head[0] >= 2)
    (teller,) = best(back["last"], 1, range(1, mover[0]))

    tails, from_third, look = Tails(model, texts), Tails(model, texts, "third"), looks(model, texts)
    heads = {
        at: [
            {
                "head": head,
                "back": tails.back(head, place),
                "elsewhere": tails.back(head, -1 - place),
                "mean": tails.back(head, place, mean=True),
                "back_third": from_third.back(head, place),
                "looks": look(head, place),
            }
            for head in best(back[at], N_BEST)
        ]
        for at, place in WHERE.items()
    }
    said = answers(model, texts, "clean")
    found = {
        "clean": said.mean().item(),
        "corrupted": answers(model, texts, "corrupted").mean().item(),
        "third": answers(model, texts, "third").mean().item(),
        "right": (said > 0).float().mean().item(),
        "right_by_order": [(said[order::2] > 0).float().mean().item() for order in (0, 1)],
        "untrained": (answers(untrained(model), texts, "clean") > 0).float().mean().item(),
        "median": {at: back[at].abs().median().item() for at in WHERE},
        "heads": heads,
        "direct": [
            {"head": head, "direct": tails.path(head), "back": tails.back(head, -1), "looks": look(head, -1)}
            for head in direct[:N_BEST]
        ],
        "paths": {
            "mover": paths(tails, best(back["last"], N_BEST, range(mover[0])), mover, n_heads),
            "teller": paths(tails, best(back["second"], N_BEST, range(teller[0])), teller, n_heads),
        },
        "n_sentences": len(said),
        "every_head": {at: rounded(back[at]) for at in WHERE},
    }
    found["expected"] = {name: bool(holds(found)) for name, holds in EXPECTED.items()}
    for looker in _looking(found["direct"])[:1]:
        found["after"] = {"looker": paths(tails, best(back["last"], N_BEST, range(looker[0])), looker, n_heads)}
    return {"two_names": found}
