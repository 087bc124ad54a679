"""The induction circuit of a trained model at work on one sequence, and the scores of heads as grids."""

from collections.abc import Sequence

from torch import Tensor

from attention_course.diagrams.diagram import Diagram

SEEN = 0.04  # a weight below this is not drawn


def induction_circuit(
    names: Sequence[str], previous: Tensor, induction: Tensor, period: int, said: str, share: float
) -> Diagram:
    """A previous-token head and an induction head on a sequence that repeats; its last token asks.

    Args:
        names: One for each of the n tokens, at most 12.
        previous: Weights of the head in block 1, `(n, n)`.
        induction: Weights of the head in block 2, `(n, n)`.
        period: Of the sequence: the last token's answer stood `period - 1` places before it.
        said: The model's likeliest next symbol.
        share: Its probability.
    """
    n = len(names)
    asks, answer = n - 1, n - period
    step = 468 / n
    middle = [6 + (place + 0.5) * step for place in range(n)]
    copied, looked = previous[answer, answer - 1].item(), induction[asks, answer].item()
    picture = Diagram(
        f"The induction circuit in a trained model of two blocks. The sequence {' '.join(names)} starts again after "
        f"{period} symbols, and its last token asks what comes next. In block 1, a head looks from the {names[answer]} "
        f"to the {names[answer - 1]} before it, with {copied:.0%} of its weight. In block 2, a head looks from the "
        f"last {names[asks]} to that {names[answer]}, with {looked:.0%} of its weight. Then it says {said}, with "
        f"{share:.0%}.",
        height=356,
    )
    rows = {"block 2": 84, "block 1": 196, "tokens": 308}
    for place, name in enumerate(names):
        for row, y in rows.items():
            asked = row == "block 2" and place == asks
            used = (row == "block 1" and place == answer) or (row == "tokens" and place in (answer - 1, answer, asks))
            tone = "query" if asked or (row == "tokens" and place == asks) else "key" if used else "plain"
            if row != "block 2" or asked:
                picture.box(middle[place] - step * 0.4, y - 14, step * 0.8, 28, name, tone=tone)
    for query in range(n):
        for key in range(query + 1):
            if previous[query, key] > SEEN:
                ends = (middle[key], rows["tokens"] - 14), (middle[query], rows["block 1"] + 14)
                picture.line(*ends, weight=previous[query, key].item())
    for key in range(n):
        if induction[asks, key] > SEEN:
            ends = (middle[key], rows["block 1"] - 14), (middle[asks], rows["block 2"] + 14)
            picture.line(*ends, weight=induction[asks, key].item())
    picture.text(6, 340, f"block 1, previous-token head: {copied:.0%}", bold=True)
    picture.text(6, rows["block 2"] + 32, f"block 2, induction head: {looked:.0%}", bold=True)
    picture.arrow((middle[asks], rows["block 2"] - 14), (middle[asks], 44))
    picture.text(474, 28, f"next: {said}, {share:.0%}", anchor="end", bold=True)
    return picture


def head_scores(scores: dict[str, Tensor], alt: str) -> Diagram:
    """A grid of blocks by heads for each score, side by side, all on one scale.

    Args:
        scores: For each name numbers `(blocks, heads)` from 0 to 1; at most four names.
        alt: What is seen, in words.
    """
    n_blocks, n_heads = next(iter(scores.values())).shape
    picture = Diagram(alt, height=20 + 2 * (62 + 30 * n_blocks))
    for number, (name, table) in enumerate(scores.items()):
        x, y = 76 + 236 * (number % 2), 50 + (number // 2) * (62 + 30 * n_blocks)
        picture.text(x + 20 * n_heads, y - 34, name, anchor="middle", bold=True)
        picture.tensor(
            x,
            y,
            table,
            name=name,
            cell=(40, 30),
            numbers=True,
            largest=1.0,
            rows=[f"block {block}" for block in range(1, n_blocks + 1)],
            columns=[str(head) for head in range(1, n_heads + 1)],
        )
    return picture


def score_paths(shares: Tensor, names: Sequence[str], alt: str) -> Diagram:
    """What each pair of parts adds to a head's score: rows for the query's part, columns for the key's.

    Args:
        shares: `(parts, parts)`.
        names: One for each part.
        alt: What is seen, in words.
    """
    n = len(names)
    picture = Diagram(alt, height=72 + 32 * n)
    picture.text(96 + 30 * n, 18, "part of the key", anchor="middle", bold=True)
    picture.text(6, 18, "part of the query", bold=True)
    picture.tensor(96, 64, shares, name="parts of the score", cell=(60, 32), numbers=True, rows=names, columns=names)
    return picture


def patched(
    clean: Sequence[str], corrupted: Sequence[str], place: int, head: str, says: dict[str, float], back: float
) -> Diagram:
    """One head's output at one token, taken from a clean run into a corrupted one, and what the model then says.

    Args:
        clean: A name for each of the n tokens of the clean sequence, at most 12.
        corrupted: The same of the corrupted sequence.
        place: Of which token the output is taken, counted from 0.
        head: Whose.
        says: In each of some runs, by its name, the probability of the right next token.
        back: How much of the answer comes back.
    """
    step, left = 384 / len(clean), 90
    runs = ", ".join(f"{run} {share:.0%}" for run, share in says.items())
    picture = Diagram(
        f"The output of {head} at token {place + 1}, {clean[place]}, put into the corrupted run. Clean: "
        f"{' '.join(clean)}. Corrupted: {' '.join(corrupted)}. The right next letter has {runs}. What comes back: "
        f"{back:.0%}.",
        height=160 + 28 * len(says),
    )
    for y, run, names in ((22, "clean", clean), (98, "corrupted", corrupted)):
        picture.text(6, y, run, bold=True)
        for at, name in enumerate(names):
            if at == place or clean[at] != corrupted[at]:
                tone = "query" if at == place else "key"
                picture.box(left + at * step + 1, y - 14, step - 2, 28, name, tone=tone)
            else:
                picture.text(left + (at + 0.5) * step, y, name, anchor="middle")
    middle, on_the_left = left + (place + 0.5) * step, place >= len(clean) / 2
    picture.arrow((middle, 40), (middle, 80))
    picture.text(middle + (-12 if on_the_left else 12), 60, head, anchor="end" if on_the_left else "start")
    for number, (run, share) in enumerate(says.items()):
        y = 144 + 28 * number
        picture.text(6, y, run)
        picture.box(left, y - 9, 300 * share, 18, tone="weights")
        picture.text(left + 300 * share + 8, y, f"{share:.0%}")
    picture.text(6, 144 + 28 * len(says), f"comes back: {back:.0%}", bold=True)
    return picture


def came_back(shares: Tensor, rows: Sequence[str], columns: Sequence[str], alt: str) -> Diagram:
    """What of an answer comes back with one part patched, as a grid.

    Args:
        shares: `(rows, columns)`: 0 nothing, 1 all of it.
        rows: A name for each, such as a head.
        columns: A name for each, such as a place.
        alt: What is seen, in words.
    """
    width = min(72, 372 / len(columns))
    picture = Diagram(alt, height=40 + 28 * len(rows))
    look = {"cell": (width, 28), "numbers": width > 40, "largest": 1.0}
    picture.tensor(104, 30, shares, name="comes back", rows=rows, columns=columns, **look)
    return picture
