"""What is wrong in a notebook that ran: the claims that did not hold, and the exceptions."""

import re

SO, NOT_SO = "✓ ", "✗ not so in this run: "
NUMBER = re.compile(r"\d[\d.,]*")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ARROW = re.compile(r"-+> \d+ \S")


def code_cells(notebook):
    """The code cells with their numbers, which count all cells from 1."""
    return [(number, cell) for number, cell in enumerate(notebook.cells, 1) if cell.cell_type == "code"]


def plain(lines):
    """Lines of a terminal without colours."""
    return COLOUR.sub("", "\n".join(lines))


def reason(output):
    """An error in one line; the line of code it came from where it says nothing itself, as `assert` does."""
    arrows = [line.split(maxsplit=2)[2] for line in plain(output.traceback).splitlines() if ARROW.match(line)]
    said = plain([output.evalue]).strip() or "".join(arrows[-1:])
    return f"{output.ename}: {said}".splitlines()[0]


def exceptions(notebook):
    """For each cell that raised what it was not meant to: its number, its source and the error."""
    cells = [pair for pair in code_cells(notebook) if "raises-exception" not in pair[1].metadata.get("tags", [])]
    raised = [(number, cell, out) for number, cell in cells for out in cell.outputs if out.output_type == "error"]
    return [(number, cell.source, reason(out)) for number, cell, out in raised]


def claims(notebook):
    """What `claim()` printed: the number of the cell, the sentence, and whether it holds."""
    printed = [
        (number, line)
        for number, cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "stream"
        for line in output.text.splitlines()
    ]
    found = [(number, line, mark) for number, line in printed for mark in (SO, NOT_SO) if line.startswith(mark)]
    return [(number, line.removeprefix(mark), mark == SO) for number, line, mark in found]


def false_claims(notebook):
    """The claims that did not hold: the number of the cell, and the sentence."""
    return [(number, sentence) for number, sentence, holds in claims(notebook) if not holds]


def without_numbers(sentence):
    """What is the same of a claim in every run: its sentence without the numbers of the run."""
    return NUMBER.sub("…", sentence)
