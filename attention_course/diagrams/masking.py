"""Masks as pictures: side by side, combined, in one corner or the other, and what gets through them."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from attention_course.diagrams.diagram import Diagram

LEFT = 42  # of the first grid: the names of queries stand before it
GAP = 10


def masks(shown: Sequence[tuple[str, str, Tensor]], tokens: Sequence[str]) -> Diagram:
    """Masks of the same tokens side by side: a row a query, a column a key, filled where the query may attend.

    Args:
        shown: Three of `(name, what it hides, mask)`; each mask is boolean `(n, n)`.
        tokens: `n` names.
    """
    cell = (478 - LEFT - 2 * GAP) / (3 * len(tokens))
    side = cell * len(tokens)
    picture = Diagram(
        f"Three masks of the same {len(tokens)} tokens: {', '.join(tokens)}. A row is a query, a column a key, and a "
        "filled cell means that the query may attend to the key. "
        + " ".join(f"The {name} mask {what}." for name, what, _ in shown),
        height=side + 130,
    )
    for number, (name, what, mask) in enumerate(shown):
        x = LEFT + number * (side + GAP)
        rows = tokens if number == 0 else ()
        picture.text(x + side / 2, 11, name, anchor="middle", bold=True)
        picture.tensor(x, 72, mask, name=name, cell=cell, rows=rows, columns=tokens)
        picture.text(x + side / 2, side + 90, what, anchor="middle", quiet=True)
    picture.text(240, side + 118, "each row is a query, each column a key", anchor="middle", quiet=True)
    return picture


def combined(rows: Sequence[tuple[str, Tensor, str, str, Tensor, str, Tensor]]) -> Diagram:
    """Pairs of masks and what `&` or `|` makes of them.

    Args:
        rows: `(name, mask, "&" or "|", name, mask, name, result)`; all masks are boolean `(n, n)`.
    """
    cell, height = 108 / len(rows[0][1]), 156
    picture = Diagram(
        "Pairs of masks and their combinations, filled where a query may attend. "
        + " ".join(
            f"{left} {'and' if symbol == '&' else 'or'} {right} gives {name}."
            for left, _, symbol, right, _, name, _ in rows
        ),
        height=height * len(rows) - 18,
    )
    for number, (left, first, symbol, right, second, name, result) in enumerate(rows):
        top = number * height
        for x, title, mask, signs in ((6, left, first, symbol), (184, right, second, "="), (362, name, result, "")):
            picture.text(x + 54, top + 11, title, anchor="middle", bold=title == name)
            tone = "output" if title == name else "plain"
            picture.tensor(x, top + 26, mask, name=f"{number + 1}: {title}", cell=cell, tone=tone)
            picture.text(x + 143, top + 80, signs, anchor="middle", bold=True)
    return picture


def one_mask(mask: Tensor, caption: str) -> Diagram:
    """One mask, large. Where there are fewer queries than keys, they are the last ones.

    Args:
        mask: Boolean `(n_queries, n_keys)`.
        caption: What stands below it.
    """
    n_queries, n_keys = mask.shape
    cell = 186 / n_keys
    picture = Diagram(f"One mask, filled where a query may attend. {caption}", height=274)
    earlier = n_keys - n_queries
    places = [str(place) for place in range(1, n_keys + 1)]
    picture.text(240, 11, "keys", anchor="middle", quiet=True)
    picture.text(68, 143, "queries", quiet=True)
    picture.tensor(147, 50 + earlier * cell, mask, name="mask", cell=cell, rows=places[earlier:], columns=places)
    picture.text(240, 258, caption, anchor="middle")
    return picture


def corners(top_left: Tensor, bottom_right: Tensor) -> Diagram:
    """The weights of a few new queries over kept and new keys, under a causal mask in either corner.

    Args:
        top_left: `(n_queries, n_keys)`, with fewer queries than keys.
        bottom_right: Of the same shape.
    """
    n_queries, n_keys = top_left.shape
    n_kept = n_keys - n_queries
    side = (478 - 66 - 18) / 2 / n_keys
    picture = Diagram(
        f"{n_queries} new queries, and the keys of {n_keys} tokens, of which {n_kept} were kept from before. Two grids "
        "of weights. In the top-left corner the first new query sees the first kept key alone, and nobody "
        f"sees the last {n_kept} keys. In the bottom-right corner every new query sees all kept keys and the last one "
        "sees all keys.",
        height=104 + 32 * n_queries,
    )
    for x, title, weights in ((66, "top left", top_left), (84 + side * n_keys, "bottom right", bottom_right)):
        rows = [f"token {place}" for place in range(n_kept + 1, n_keys + 1)] if x == 66 else ()
        picture.text(x + side * n_keys / 2, 11, title, anchor="middle", bold=True)
        columns = [str(place) for place in range(1, n_keys + 1)]
        grid = picture.tensor(
            x, 64, weights, name=title, cell=(side, 32), numbers=True, largest=1, rows=rows, columns=columns
        )
        kept, new = grid.column(n_kept - 1), grid.column(n_keys - 1)
        picture.text((grid.x + kept.x + side) / 2, grid.bottom[1] + 16, "kept", anchor="middle", quiet=True)
        picture.text((kept.x + side + new.x + side) / 2, grid.bottom[1] + 16, "new", anchor="middle", quiet=True)
    picture.text(6, 53, "key", quiet=True)
    return picture


def reaches(maps: Mapping[str, Tensor]) -> Diagram:
    """How strongly each prediction reacts to each token, with what comes from the future in orange.

    Args:
        maps: By name, four of `(n, n)`: a row a prediction, a column a token, nothing below zero.
    """
    n = len(next(iter(maps.values())))
    cell = 192 / n
    picture = Diagram(
        f"{len(maps)} maps of influence: {', '.join(maps)}. A row is a prediction, a column a token. Influence of the "
        "token itself and of earlier ones is blue, influence of later ones orange with a dash. Each row is divided by "
        "its largest influence, and the square root is taken, so that weak influence shows.",
        height=552,
    )
    for number, (name, influence) in enumerate(maps.items()):
        x, top = 26 + (number % 2) * 240, 240 * (number // 2)
        largest = influence.amax(1, keepdim=True)
        share = (influence / largest.where(largest > 0, 1)).sqrt()  # the root lifts what is weak
        signed = share.tril() - share.triu(1)
        picture.text(x + 96, top + 11, name, anchor="middle", bold=True)
        picture.tensor(x, top + 26, signed, name=name, cell=cell, largest=1)
    for line, words in enumerate(
        (
            "each row is a prediction, each column a token",
            "blue: the past and itself; orange: the future",
            "colours compare within a row; weak ones are lifted",
        )
    ):
        picture.text(240, 498 + 22 * line, words, anchor="middle", quiet=True)
    return picture
