"""The diagrams of the lesson "Self-attention"."""

from collections.abc import Sequence

from torch import Tensor

from attention_course.diagrams.diagram import Diagram, Grid

STEPS = ("tokens", "query", "keys", "scores", "weights", "answer")
CELL = (36, 26)
COLUMNS = {"query": 70, "keys": 150, "scores": 232, "weights": 314, "values": 402}
TOP = 250  # of the rows of words below the matrices


def one_token(
    tokens: Tensor,
    matrices: Sequence[Tensor],
    names: Sequence[str],
    *,
    asking: int,
    until: str = "answer",
) -> Diagram:
    """Self-attention as one token meets it: three matrices, scores, weights and the answer, with their numbers.

    Args:
        tokens: Two numbers a token, `(n, 2)`.
        matrices: W_Q, W_K and W_V of one column each, `(2, 1)`.
        names: A word for each token.
        asking: Which token is followed.
        until: How far: `tokens`, `query`, `keys`, `scores`, `weights` or `answer`.
    """
    drawn = STEPS[: STEPS.index(until) + 1]
    query, keys, values = (tokens @ matrix for matrix in matrices)
    scores = keys @ query[asking]  # one column, so that nothing is divided
    weights = scores.softmax(0)
    picture = Diagram(_alt(names, asking, weights, drawn), height=416)

    def column(name: str, numbers: Tensor, tone: str = "plain") -> Grid:
        picture.text(COLUMNS[name] + CELL[0] / 2, TOP - 14, name, anchor="middle")
        first = asking if name == "query" else 0
        return picture.tensor(
            COLUMNS[name], TOP + first * CELL[1], numbers.reshape(-1, 1), name=name, cell=CELL, tone=tone, numbers=True
        )

    grid = picture.tensor(200, 30, tokens, name="tokens", cell=CELL, numbers=True, rows=names)
    picture.text(236, 14, "tokens", anchor="middle", bold=True)
    picture.frame(grid.row(asking))
    for part, letter, place, tone in zip(
        ("query", "keys", "answer"), "QKV", ("query", "keys", "values"), ("query", "key", "value"), strict=True
    ):
        if part in drawn:
            _matrix(picture, grid, matrices["QKV".index(letter)], letter, COLUMNS[place], tone)
    for row, name in enumerate(names):
        if "query" in drawn:
            picture.text(COLUMNS["query"] - 8, TOP + (row + 0.5) * CELL[1], name, anchor="end", bold=row == asking)
    bottom = TOP + len(names) * CELL[1]
    if "query" in drawn:
        asked = column("query", query[asking], "query")
    if "keys" in drawn:
        known = column("keys", keys, "key")
    if "scores" in drawn:
        compared = column("scores", scores)
        picture.arrow(known.right, compared.left)
        picture.arrow(asked.bottom, (asked.bottom[0], bottom + 22), (compared.bottom[0], bottom + 22), compared.bottom)
        picture.text(169, bottom + 37, "query × key", anchor="middle", quiet=True)
    if "weights" in drawn:
        shared = column("weights", weights, "weights")
        picture.arrow(compared.right, shared.left)
        picture.text(290, bottom + 14, "softmax", anchor="middle", quiet=True)
    if "answer" in drawn:
        held = column("values", values, "value")
        answer = picture.tensor(
            COLUMNS["values"], bottom + 48, weights @ values, name="answer", cell=CELL, tone="output", numbers=True
        )
        picture.arrow(held.bottom, answer.top)
        picture.arrow(shared.bottom, (shared.bottom[0], answer.left[1]), answer.left)
        picture.text(shared.bottom[0] - 8, answer.left[1], f"answer for {names[asking]}", anchor="end", bold=True)
    return picture


def _matrix(picture: Diagram, tokens: Grid, matrix: Tensor, letter: str, x: float, tone: str):
    """One of the three matrices, between the tokens and what it makes of them."""
    drawn = picture.tensor(x, 158, matrix, name=f"W_{letter}", cell=CELL, tone=tone, numbers=True)
    picture.arrow(tokens.bottom, (tokens.bottom[0], 130), (drawn.top[0], 130), drawn.top)
    picture.text(x + CELL[0] + 6, 184, f"W_{letter}")
    picture.arrow(drawn.bottom, (drawn.bottom[0], TOP - 26))


def _alt(names: Sequence[str], asking: int, weights: Tensor, drawn: Sequence[str]) -> str:
    asks = names[asking]
    parts = {
        "tokens": f"The words {', '.join(names)} as rows of two numbers, with a frame around {asks}.",
        "query": f"The row of {asks} goes through the matrix W Q and becomes its query.",
        "keys": "All rows go through W K and become keys.",
        "scores": "The query times each key gives a score for each word.",
        "weights": "The softmax turns the scores into weights: "
        + ", ".join(f"{name} {weight:.2f}" for name, weight in zip(names, weights.tolist(), strict=True))
        + ".",
        "answer": f"All rows go through W V and become values, and the weights blend them into the answer for {asks}.",
    }
    return f"One word in self-attention: {asks}. " + " ".join(parts[part] for part in drawn)


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
