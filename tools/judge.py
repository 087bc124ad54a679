"""Judge the claims that did not hold when the site was made: each is tried with four more seeds.

A trained model is another model on another processor, so that one run says little. A claim is refused if it holds in
fewer than three of five runs; one whose sentence gives its own odds ("in 7 of 10 runs"), if what it says would come
out so seldom in less than one case of twenty. An exception is refused wherever it occurs.
"""

import re
import sys
from math import comb

from make_site import last_runs
from notebooks import path
from seeds import tried
from verdicts import exceptions, false_claims, without_numbers

SEEDS = (1, 2, 3, 4)
N_RUNS = 1 + len(SEEDS)
ENOUGH = 3
SELDOM = 0.05
ODDS = re.compile(r"\bin (\d+) of (\d+) runs\b")


def false_in(notebook):
    """The claims that do not hold in a run, by what is the same of them in every run."""
    return {(number, without_numbers(sentence)): (number, sentence) for number, sentence in false_claims(notebook)}


def holds_often_enough(sentence, n_held):
    """Whether a claim that held in some of the five runs may stand."""
    odds = ODDS.search(sentence)
    if not odds:
        return n_held >= ENOUGH
    share = int(odds[1]) / int(odds[2])
    so_seldom = sum(comb(N_RUNS, k) * share**k * (1 - share) ** (N_RUNS - k) for k in range(n_held + 1))
    return so_seldom >= SELDOM


def main():
    """Try what did not hold with other seeds, say how often it held, and fail where that is too seldom."""
    runs = last_runs()
    false = {(name, key): claim for name, notebook in runs.items() for key, claim in false_in(notebook).items()}
    raised = [(name, number, error) for name, notebook in runs.items() for number, _, error in exceptions(notebook)]
    n_held = dict.fromkeys(false, 0)
    for seed, done in tried(sorted({name for name, _ in false}), SEEDS):
        raised += [(f"{done.name} with seed {seed}", number, error) for number, _, error in exceptions(done.notebook)]
        for name, key in false:
            n_held[name, key] += name == done.name and key not in false_in(done.notebook)
    refused = [claim for claim, (_, sentence) in false.items() if not holds_often_enough(sentence, n_held[claim])]
    for claim, (number, sentence) in false.items():
        verdict = "REFUSED" if claim in refused else "may stand"
        print(f"{verdict}: held in {n_held[claim]} of {N_RUNS} runs: {path(claim[0])}, cell {number}: {sentence}")
    for name, number, error in raised:
        print(f"REFUSED: {name}, cell {number} failed: {error}")
    print(f"{len(false)} claims did not hold when the site was made")
    sys.exit(bool(refused or raised))


if __name__ == "__main__":
    main()
