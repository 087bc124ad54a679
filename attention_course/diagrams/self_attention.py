"""The diagrams of the lesson "Self-attention"."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from attention_course.diagrams.diagram import Diagram, Grid

STEPS = ("tokens", "query", "keys", "scores", "weights", "answer", "sum")
CELL = (36, 26)
NARROW = (30, 26)  # of a query and of a key
WIDE = (52, 26)  # of a token and of a value, whose columns have names
COLUMNS = {"query": 52, "keys": 128, "scores": 200, "weights": 268, "values": 322}
TOKENS = (142, 26)
MATRICES = 158
TOP = 288  # of the rows of words below the matrices
UNIT = 66  # of the plane of two features
ORIGIN = (84, 256)


def one_token(
    tokens: Tensor,
    matrices: Sequence[Tensor],
    names: Sequence[str],
    features: Sequence[str],
    *,
    asking: int,
    until: str = "sum",
) -> Diagram:
    """Self-attention as one token meets it: three matrices, scores, weights, what is found, and the sum with the token.

    The query is made from the row of the token that asks, keys and values from all rows.

    Args:
        tokens: Three numbers a token, `(n, 3)`.
        matrices: W_Q and W_K of two columns, `(3, 2)`, and W_V, `(3, 3)`.
        names: A word for each token.
        features: What the three numbers of a token, and of a value, say.
        asking: Which token is followed.
        until: How far: `tokens`, `query`, `keys`, `scores`, `weights`, `answer` or `sum`.
    """
    drawn = STEPS[: STEPS.index(until) + 1]
    query, keys, values = (tokens @ matrix for matrix in matrices)
    scores = keys @ query[asking] / 2**0.5
    weights = scores.softmax(0)
    picture = Diagram(_alt(names, features, asking, weights, drawn), height=512)
    bottom = TOP + len(names) * CELL[1]
    grid = picture.tensor(*TOKENS, tokens, name="tokens", cell=WIDE, numbers=True, rows=names, columns=features)
    picture.frame(grid.row(asking))

    def column(name: str, numbers: Tensor, tone: str = "plain") -> Grid:
        cell, x = NARROW if numbers.size(1) > 1 else CELL, COLUMNS[name]
        picture.text(x + cell[0] * numbers.size(1) / 2, TOP - 14, name, anchor="middle")
        y = TOP + CELL[1] * (asking if name == "query" else 0)
        return picture.tensor(x, y, numbers, name=name, cell=cell, tone=tone, numbers=True)

    if "query" in drawn:
        own = grid.row(asking).left
        beside = (own[0] - 14 - 8.25 * len(names[asking]), own[1])  # left of the word's name
        asked = _matrix(picture, matrices[0], "Q", COLUMNS["query"], "query", beside)
        for row, name in enumerate(names):
            picture.text(COLUMNS["query"] - 6, TOP + (row + 0.5) * CELL[1], name, anchor="end", bold=row == asking)
        picture.arrow(asked.bottom, (asked.bottom[0], TOP - 26))
        asked = column("query", query[asking][None], "query")
    if "keys" in drawn:
        every = picture.box(grid.right[0] + 28, grid.y, 48, grid.height, "all\nrows")
        for row in range(len(names)):
            picture.arrow((grid.right[0] + 4, grid.row(row).right[1]), (every.x, grid.row(row).right[1]))
        turn = (every.bottom[0], MATRICES - 26)
        known = _matrix(picture, matrices[1], "K", COLUMNS["keys"], "key", every.bottom, turn)
        picture.arrow(known.bottom, (known.bottom[0], TOP - 26))
        known = column("keys", keys, "key")
    if "scores" in drawn:
        compared = column("scores", scores[:, None])
        picture.arrow(known.right, compared.left)
        picture.arrow(asked.bottom, (asked.bottom[0], bottom + 22), (compared.bottom[0], bottom + 22), compared.bottom)
        picture.text(
            (asked.bottom[0] + compared.bottom[0]) / 2, bottom + 37, "query · key / √2", anchor="middle", quiet=True
        )
    if "weights" in drawn:
        shared = column("weights", weights[:, None], "weights")
        picture.arrow(compared.right, shared.left)
        picture.text((compared.right[0] + shared.x) / 2, bottom + 14, "softmax", anchor="middle", quiet=True)
    if "answer" in drawn:
        x = COLUMNS["values"]
        made = _matrix(picture, matrices[2], "V", x, "value", every.right)
        picture.arrow(made.bottom, (made.bottom[0], TOP - 40))
        picture.text(made.bottom[0], TOP - 29, "values", anchor="middle")
        held = picture.tensor(x, TOP, values, name="values", cell=WIDE, tone="value", numbers=True, columns=features)
        found = picture.tensor(x, bottom + 44, weights @ values, name="answer", cell=WIDE, tone="weights", numbers=True)
        picture.text(shared.x, found.left[1], f"{names[asking]} finds", anchor="end")  # the arrow comes from the right
        picture.arrow(held.bottom, found.top)
        picture.arrow(shared.bottom, (shared.bottom[0], found.left[1]), found.left)
    if "sum" in drawn:
        came, leaves = tokens[asking], tokens[asking] + weights @ values
        for name, numbers, below, tone, does in (
            ("before", came, 78, "plain", "+ {} came as"),
            ("after", leaves, 112, "output", "= {} leaves as"),
        ):
            row = picture.tensor(x, bottom + below, numbers, name=name, cell=WIDE, tone=tone, numbers=True)
            picture.text(x - 8, row.left[1], does.format(names[asking]), anchor="end", bold=name == "after")
    return picture


def _matrix(picture: Diagram, matrix: Tensor, letter: str, x: float, tone: str, *way: tuple[float, float]) -> Grid:
    """One of the three matrices, at the end of an arrow that comes from the rows that it multiplies."""
    cell = WIDE if letter == "V" else NARROW
    drawn = picture.tensor(x, MATRICES, matrix, name=f"W_{letter}", cell=cell, tone=tone, numbers=True)
    picture.arrow(*way, (drawn.top[0], way[-1][1]), drawn.top)
    beside, anchor = (drawn.right[0] + 6, "start") if letter == "K" else (drawn.left[0] - 6, "end")
    picture.text(beside, drawn.left[1], f"W_{letter}", anchor=anchor)
    return drawn


def _alt(names: Sequence[str], features: Sequence[str], asking: int, weights: Tensor, drawn: Sequence[str]) -> str:
    asks = names[asking]
    parts = {
        "tokens": f"The words {', '.join(names)} as rows of three numbers, {', '.join(features)}, with a frame "
        f"around {asks}.",
        "query": f"The row of {asks} goes through the matrix W Q and becomes its query.",
        "keys": "All rows go through W K and become keys.",
        "scores": "The query times each key gives a score for each word.",
        "weights": "The softmax turns the scores into weights: "
        + ", ".join(f"{name} {weight:.2f}" for name, weight in zip(names, weights.tolist(), strict=True))
        + ".",
        "answer": "All rows go through W V and become values, again rows of three numbers. The weights blend them "
        f"into the row that {asks} finds.",
        "sum": f"It is added to the row with which {asks} came, and the sum is the row with which it leaves.",
    }
    return f"One word in self-attention: {asks}. " + " ".join(parts[part] for part in drawn)


def in_the_plane(
    words: Mapping[str, Sequence[float]],
    moving: str,
    ends: Mapping[str, Sequence[float]],
    features: Sequence[str],
) -> Diagram:
    """Where a word goes beside others: arrows in the plane of two features.

    Args:
        words: Each with its two numbers, from 0 to 3.
        moving: The one of them that moves.
        ends: What stands beside it, and the two numbers with which it leaves then.
        features: What the two numbers say.
    """
    told = [f"Beside {beside} it leaves at ({x:.2f}, {y:.2f})." for beside, (x, y) in ends.items()]
    at = [f"{word} at ({x:g}, {y:g})" for word, (x, y) in words.items()]
    picture = Diagram(
        f"The word {moving} in the plane of {' and '.join(features)}. There are {', '.join(at)}. {' '.join(told)}",
        height=ORIGIN[1] + 48,
    )

    def place(x: float, y: float) -> tuple[float, float]:
        return ORIGIN[0] + UNIT * x, ORIGIN[1] - UNIT * y

    across, up = place(3.7, 0), place(0, 3.7)
    picture.arrow(place(-0.35, 0), across)
    picture.arrow(place(0, -0.35), up)
    picture.text(across[0] + 6, across[1], features[0], bold=True)
    picture.text(up[0] + 10, up[1] + 4, features[1], bold=True)
    for number in (1, 2, 3):
        picture.text(place(number, 0)[0], ORIGIN[1] + 22, str(number), anchor="middle", quiet=True)
        picture.text(ORIGIN[0] - 16, place(0, number)[1], str(number), anchor="end", quiet=True)
    start = place(*words[moving])
    for beside, end in ends.items():
        x, y = place(*end)
        picture.arrow(start, (x, y))
        middle, flat = ((start[0] + x) / 2, (start[1] + y) / 2), abs(x - start[0]) > abs(y - start[1])
        right, below = (0, 20) if flat else (12, 0)
        picture.text(middle[0] + right, middle[1] + below, f"beside {beside}", anchor="middle" if flat else "start")
    for word, (x, y) in words.items():
        x, y = place(x, y)
        picture.box(x - 5, y - 5, 10, 10, tone="query" if word == moving else "plain")
        right, anchor = (-12, "end") if word == moving else (12, "start")  # the arrows go up and to the right
        picture.text(x + right, y - 12, word, anchor=anchor, bold=word == moving)
    return picture


def paths(words: Sequence[str]) -> Diagram:
    """How the first word reaches the last one: through every state of a recurrent network, or in one step.

    Args:
        words: From 3 to 7 of them.
    """
    steps = len(words) - 1
    picture = Diagram(
        f"Two ways from the first of {len(words)} words to the last. Above, a recurrent network: each word has a "
        f"state, and the first word reaches the last through {steps} states, one after the other. Below, "
        "self-attention: the last word looks at every word directly, the first one included.",
        height=322,
    )
    gap = 464 / len(words)
    middles = [8 + gap * (number + 0.5) for number in range(len(words))]
    picture.text(8, 14, f"recurrent network: {steps} steps, one after the other", bold=True)
    states = [picture.box(x - 0.28 * gap, 44, 0.56 * gap, 36, tone="output") for x in middles]
    for x, word, state in zip(middles, words, states, strict=True):
        picture.text(x, 124, word, anchor="middle")
        picture.arrow((x, 112), state.bottom)
    for one, other in zip(states, states[1:], strict=False):
        picture.arrow(one.right, other.left)
    picture.text(8, 168, "self-attention: 1 step, for all words at once", bold=True)
    answer = picture.box(middles[-1] - 0.28 * gap, 196, 0.56 * gap, 36, tone="output")
    for number, (x, word) in enumerate(zip(middles, words, strict=True)):
        picture.text(x, 306, word, anchor="middle")
        picture.arrow((x, 294), (answer.x + answer.width * (number + 0.5) / len(words), answer.bottom[1]))
    return picture
