"""What folds a cell: on the site, in JupyterLab and in Colab."""

TITLE = "# @title"


def first_line(cell):
    """The first line of a cell's source; empty where there is none."""
    return next(iter("".join(cell["source"]).splitlines()), "")


def marks(cell):
    """Which of the marks of a fold a cell has; a cell that is folded everywhere has all, another none."""
    metadata = cell["metadata"]
    return {
        "the tag hide-input, for the site": "hide-input" in metadata.get("tags", []),
        "jupyter.source_hidden, for JupyterLab": metadata.get("jupyter", {}).get("source_hidden") is True,
        "cellView: form, for Colab": metadata.get("cellView") == "form",
        f"a first line {TITLE} ...": first_line(cell).startswith(TITLE),
    }


def is_folded(cell):
    """Whether a cell is meant to be folded."""
    return cell["cell_type"] == "code" and any(marks(cell).values())


def title(cell):
    """What a folded cell says it does: `Draw one layer with two heads`."""
    return first_line(cell).removeprefix(TITLE).strip()


def missing_marks(cell):
    """What a cell that is folded in one place lacks in the others."""
    return [mark for mark, there in marks(cell).items() if is_folded(cell) and not there]
