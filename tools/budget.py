"""Which notebooks and cells took longest, beside what they should take."""

BUDGET = 25  # seconds a notebook, on one thread of two idle cores; a slower machine is no failure
IN_ALL = 500  # seconds for all of them
ROWS = 5


def table(title, seconds):
    """The slowest few of `{name: seconds}`, as lines."""
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:ROWS]
    rows = [f"  {taken:6.1f} s  {name}{'  over the budget' if taken > BUDGET else ''}" for name, taken in slowest]
    return [title, *rows]


def slowest(ran):
    """Tables of how long the notebooks took when they last ran: `{name: what the cache noted down of it}`."""
    notebooks = {name: data["execution_seconds"] for name, data in ran.items()}
    cells = {f"{name}, cell {n}": taken for name, data in ran.items() for n, taken in data["cell_seconds"].items()}
    lines = table(f"slowest notebooks (budget: {BUDGET} s each)", notebooks) + table("slowest cells", cells)
    lines.append(f"all {len(ran)} notebooks: {sum(notebooks.values()):.0f} s of one thread (budget: {IN_ALL} s)\n")
    return "\n".join(lines)
