"""Print which notebooks and cells took longest when they last ran, beside what they should take."""

from execute import CACHE
from jupyter_cache import get_cache
from notebooks import names, read

BUDGET = 40  # seconds a notebook, on one thread of two idle cores; a slower machine is no failure
ROWS = 5


def table(title, seconds):
    """The slowest few of `{name: seconds}`, as lines."""
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:ROWS]
    rows = [f"  {taken:6.1f} s  {name}{'  over the budget' if taken > BUDGET else ''}" for name, taken in slowest]
    return [title, *rows]


def main():
    """Print the tables."""
    cache = get_cache(str(CACHE))
    ran = {name: cache.match_cache_notebook(read(name)).data for name in names()}
    notebooks = {name: data["execution_seconds"] for name, data in ran.items()}
    cells = {f"{name}, cell {n}": taken for name, data in ran.items() for n, taken in data["cell_seconds"].items()}
    print("\n".join(table(f"slowest notebooks (budget: {BUDGET} s each)", notebooks) + table("slowest cells", cells)))
    print(f"all {len(ran)} notebooks: {sum(notebooks.values()):.0f} s of one thread")


if __name__ == "__main__":
    main()
