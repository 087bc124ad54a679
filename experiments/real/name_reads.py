"""Why a path into a head of SmolLM2 brings more back than the head itself, and what two more heads of it read.

No finding of the course is judged here. What was known when this was written: the records of `two_names.py` and
`name_controls.py`. The path from 20.0 into the queries of 23.0 had brought back 11%, 23.0 itself only 10%. What is
expected was written down before anything was run; EXPECTED says it as code, and the record says which of it came out.

Texts, corruptions and what comes back of the answer, with its standard error: as in `name_controls.py`; 20 sentences
choose heads, 100 measure.

INTO: the strongest path into LOOKER, the first of the heads with the largest DIRECT in `two_names.py` that looks at the
right name. PATH as there; RECEIVED, with the looker's own output at the last token, EVERY_PLACE at all. QUERY, KEY,
VALUE: with its output where this one reads the clean run, the others the corrupted. MENDED, with KEY and VALUE: as
PATH, but the key, or the value, of the second mention is of the clean run. GAP: the clean answer minus the corrupted,
in logits. READS has RECEIVED, QUERY, KEY and VALUE of TELLER, from which that path comes (20.0), and of LATE, the head
in the last block among the five with the largest DIRECT (29.1); WORD is the path from the second mention into the
values of the teller past all heads; MAP has the late head's mean weights from the last token on every token.

Expected:
1. With the other name, PATH exceeds RECEIVED by the values: where the corrupted sentence repeats the right name, the
   looker copies it from the second mention too. QUERY exceeds RECEIVED as well, and so does MENDED by its KEY, but not
   by its VALUE; EVERY_PLACE is RECEIVED to .01.
2. With a third name PATH exceeds RECEIVED by less than half as many logits.
3. VALUE brings back half or more of RECEIVED in LATE, under both corruptions, and LATE looks most at the last token
   itself.
4. WORD brings .1 back with the other name.

Asked after the first run, in which EVERY_PLACE exceeded RECEIVED half as far as PATH, WORD brought under .01 back, and
both TELLER and LATE got nearly all by their values: LAST, PATH with the looker's output at the last token only, and
FEEDS, as in `name_controls.py`, into the values of TELLER and of LATE, with the other name. Expected before that run:

5. LAST exceeds RECEIVED too, and MENDED by its VALUE is a fifth or more below LAST.
6. 17.4 is the strongest sender to TELLER; no other brings .05 back, and all together bring half of RECEIVED or more.
7. 23.3 is the strongest sender to LATE, and brings back a quarter of RECEIVED or more.

Asked by a reader of the page, who had measured it, so that nothing is expected: READS of STRONGEST, the head that
brings most back at the last token (23.3), with LOOKING, by QUERY and KEY together; and MOVES, in logits, what its
output at the last token adds to the right name and to the other beside its mean, in the clean run, with all other heads
held.
"""

from _models import Models, rounded
from _tails import Tails
from _texts import N_CHOSEN_ON, N_MEASURED
from name_controls import KINDS, back, feeds, path, share
from name_knockouts import mean, reading
from torch import Tensor
from two_names import N_BEST, N_DIRECT, _looking, best, every_head, looks, sentences

from attention_course.interpreting.patching import READS, Patching, reading_instead

EXPECTED = {
    "by the values": lambda n: _by_the_values(**n["into"]["exchange"]),
    "third": lambda n: _excess(**n["into"]["third"]) < 0.5 * _excess(**n["into"]["exchange"]),
    "late": lambda n: max(n["map"]) == n["map"][-1] and all(
        of["late"]["value"][0] >= 0.5 * of["late"]["received"][0] for of in n["reads"].values()
    ),
    "word": lambda n: n["reads"]["exchange"]["word"][0] >= 0.1,
    "last": lambda n: _last(**n["into"]["exchange"]),
    "feeds the teller": lambda n: _many(**n["feeds"]["teller"]),
    "feeds the late": lambda n: _one(**n["feeds"]["late"]),
}


def _by_the_values(path: list[float], received: list[float], mended: dict, query: list[float], **more) -> bool:
    above = min(path[0], query[0], mended["key"][0]) > received[0] >= mended["value"][0]
    return above and abs(more["every_place"][0] - received[0]) < 0.01


def _last(last: list[float], received: list[float], mended: dict, **_) -> bool:
    return last[0] > received[0] and mended["value"][0] <= 0.8 * last[0]


def _many(received: list[float], paths: list[dict], **more) -> bool:
    first, second = sorted(paths, key=lambda path: path["back"][0], reverse=True)[:2]
    return tuple(first["head"]) == (17, 4) and second["back"][0] < 0.05 and more["all"]["value"] >= 0.5 * received[0]


def _one(received: list[float], paths: list[dict], **_) -> bool:
    most = max(paths, key=lambda path: path["back"][0])
    return tuple(most["head"]) == (23, 3) and most["back"][0] >= 0.25 * received[0]


def _excess(path: list[float], received: list[float], gap: float, **_) -> float:
    return (path[0] - received[0]) * gap


def received(tails: Tails, head: tuple[int, int], read: dict[str, Tensor]) -> list[float]:
    """What comes back with a head's output at the last token where its projections read these, others as corrupted."""
    (block, number), stream = head, tails.entering[tails.kind][head[0]]
    layer, patching = tails.layers[block], tails.patching(block)
    with reading((getattr(layer, f"{reads}_proj"), seen) for reads, seen in read.items()):
        said = Patching(tails.answer(block), [layer], stream, stream).clean_heads[0]
    return share(patching, patching.head((0, number), -1, said))


def by_reading(tails: Tails, head: tuple[int, int]) -> dict[str, list[float]]:
    """RECEIVED, and QUERY, KEY and VALUE."""
    return {"received": back(tails, head, -1)} | {
        reads: received(tails, head, {reads: entering(tails, "clean", head[0])}) for reads in READS
    }


def looking(tails: Tails, head: tuple[int, int]) -> list[float]:
    """LOOKING."""
    return received(tails, head, dict.fromkeys(("query", "key"), entering(tails, "clean", head[0])))


def moves(tails: Tails, head: tuple[int, int]) -> dict[str, list[float]]:
    """MOVES, and its standard error."""
    (block, number), held = head, tails.patching(head[0]).clean_heads
    layers, d_head = tails.layers[block:], tails.layers[block].d_head
    part, without = slice(number * d_head, (number + 1) * d_head), [held[0].clone(), *held[1:]]
    without[0][:, -1, part] = held[0][:, -1, part].mean(0)

    def logits(said: list[Tensor]) -> Tensor:
        with reading((layer.out_proj, joined) for layer, joined in zip(layers, said, strict=True)):
            return tails.logits(block, tails.entering["clean"][block])

    right, other = (logits(held) - logits(without)).unbind(-1)
    return {"right": mean(right), "other": mean(other)}


def entering(tails: Tails, run: str, block: int) -> Tensor:
    """What the attention of a block reads in a run."""
    return tails.model.blocks[block].attention_norm(tails.entering[run][block])


def query_from(tails: Tails, sender: tuple[int, int], receiver: tuple[int, int]) -> Tensor:
    """What the receiver's layer reads in the corrupted run if of all heads' outputs only the sender's is clean."""
    runs, layers, d_head = tails.patching(sender[0]), tails.layers[sender[0] :], tails.layers[sender[0]].d_head
    part, read, held = slice(sender[1] * d_head, (sender[1] + 1) * d_head), [], list(runs.corrupted_heads)
    held[0] = held[0].clone()
    held[0][..., part] = runs.clean_heads[0][..., part]
    keep = reading_instead(tails.layers[receiver[0]].query_proj, lambda seen: read.append(seen) or seen)
    with keep, reading((layer.out_proj, said) for layer, said in zip(layers, held, strict=True)):
        tails.answer(sender[0])(tails.entering[tails.kind][sender[0]])
    return read[0]


def into(tails: Tails, sender: tuple[int, int], receiver: tuple[int, int]) -> dict:
    """The path into the looker's query, under one corruption, and what might explain how much it brings back."""
    runs, query = tails.patching(0), query_from(tails, sender, receiver)
    mended = entering(tails, tails.kind, receiver[0]).clone()
    mended[:, 0] = entering(tails, "clean", receiver[0])[:, 0]
    return {
        "path": path(tails, sender, receiver, "query"),
        "last": received(tails, receiver, {"query": query}),
        "every_place": back(tails, receiver, None),
        "mended": {reads: received(tails, receiver, {"query": query, reads: mended}) for reads in ("key", "value")},
        "gap": (runs.clean - runs.corrupted).mean().item(),
    } | by_reading(tails, receiver)


def run(models: Models) -> dict:
    """What came out."""
    model = models.model
    chosen_on, texts = (sentences(models.encode, n, seed) for n, seed in ((N_CHOSEN_ON, 7), (N_MEASURED, 8)))
    brought, look = every_head(model, chosen_on)["last"], looks(model, texts)
    few, tails = Tails(model, chosen_on), {kind: Tails(model, texts, KINDS[kind]) for kind in KINDS}
    direct = sorted(best(brought, N_DIRECT), key=few.path, reverse=True)
    lookers = _looking([{"head": head, "looks": look(head, -1)} for head in direct[:N_BEST]])
    looker = next(head for head in lookers + direct if head[0] > 1)  # a random model may have no lookers
    late, (teller,), (strongest,) = max(direct[:N_BEST]), best(brought, 1, range(1, looker[0])), best(brought, 1)
    maps = model(texts["clean"], need_weights=True)[1]
    found = {
        "into": {"teller": teller, "looker": looker} | {kind: into(of, teller, looker) for kind, of in tails.items()},
        "reads": {
            kind: {
                "teller": by_reading(of, teller),
                "late": {"head": late} | by_reading(of, late),
                "word": path(of, None, teller, "value"),
                "strongest": {"head": strongest, "looking": looking(of, strongest)} | by_reading(of, strongest),
            }
            for kind, of in tails.items()
        },
        "moves": moves(tails["exchange"], strongest),
        "feeds": {
            name: feeds(few, tails["exchange"], head, ("value",)) for name, head in (("teller", teller), ("late", late))
        },
        "map": rounded(maps[late[0]][:, late[1], -1].mean(0)),
        "n_sentences": len(texts["clean"]),
    }
    return {"name_reads": found | {"expected": {name: bool(holds(found)) for name, holds in EXPECTED.items()}}}
