"""The diagram of the page on tables: a row of a table as one token, and as a token for each column."""

from collections.abc import Sequence

from torch import Tensor

from attention_course.diagrams.diagram import Diagram

WIDE, HIGH = 62, 30


def table_tokens(columns: Sequence[str], row: Tensor, one: Tensor, several: Tensor) -> Diagram:
    """Two ways to hand a row of a table to an attention layer, with the layer's weights.

    Args:
        columns: Names of four columns.
        row: Their numbers, `(4,)`.
        one: The weights where the row is one token, `(1, 1)`.
        several: The weights where each column is a token, `(4, 4)`.
    """
    numbers = ", ".join(f"{name} {number:.1f}" for name, number in zip(columns, row.tolist(), strict=True))
    picture = Diagram(
        f"A row of a table as one token, and as {len(row)}. The row is {numbers}. Handed over as one token, it is "
        f"compared with itself alone, and the only weight is {one.item():.0f}. With a token for each column there are "
        f"{several.numel()} weights: each column asks, and each column is asked.",
        height=324,
    )
    picture.text(8, 20, "the whole row as one token", bold=True)
    whole = picture.tensor(8, 42, row, name="row", cell=(WIDE, HIGH), numbers=True)
    alone = picture.tensor(384, 42, one, name="one", cell=(50, HIGH), numbers=True, tone="weights", largest=1)
    picture.arrow((whole.right[0] + 8, whole.right[1]), (alone.left[0] - 8, alone.left[1]), label="attention")
    picture.text(8, 114, "each column a token", bold=True)
    picture.text(386, 148, "asked", anchor="middle", quiet=True)
    tops = [186 + 32 * number for number in range(len(row))]
    for name, number, y in zip(columns, row, tops, strict=True):
        cell = picture.tensor(116, y, number.view(1, 1), name=name, cell=(WIDE, HIGH - 4), numbers=True, largest=8)
        picture.text(110, cell.left[1], name, anchor="end")
    short = ["".join(word[0] for word in name.split()) for name in columns]
    table = picture.tensor(
        298, 186, several, name="several", cell=(44, 32), numbers=True, tone="weights", largest=1, columns=short
    )
    picture.text(table.x - 8, 168, "asks", anchor="end", quiet=True)
    for number, label in enumerate(short):
        picture.text(table.x - 8, table.row(number).left[1], label, anchor="end")
    picture.arrow((116 + WIDE + 8, table.left[1]), (table.x - 40, table.left[1]))
    return picture
