"""A model of letters that counts: how often each letter followed the few before it."""

import math
from collections import Counter, defaultdict


class Counts:
    """Counts of a text up to an order, mixed by method C of Witten and Bell 1991 (doi:10.1109/18.87000).

    Every order trusts its own counts with as much weight as it has, and the next shorter one with as much as there are
    different letters that it has seen follow.

    Args:
        symbols: The text.
        order: How many letters before one are looked up.
        vocab_size: How many letters there are.
    """

    def __init__(self, symbols: list[int], order: int, vocab_size: int):
        self.order, self.vocab_size = order, vocab_size
        self.followers = defaultdict(Counter)  # of every piece of at most `order` letters
        for end, symbol in enumerate(symbols):
            for length in range(min(order, end) + 1):
                self.followers[tuple(symbols[end - length : end])][symbol] += 1

    def probability(self, before: list[int], symbol: int) -> float:
        """That this letter follows those before it."""
        probability = 1 / self.vocab_size
        for length in range(min(self.order, len(before)) + 1):
            if seen := self.followers.get(tuple(before[len(before) - length :])):
                probability = (seen[symbol] + len(seen) * probability) / (seen.total() + len(seen))
        return probability

    def bits(self, symbols: list[int], first: int) -> float:
        """Mean bits of a text's letters from the `first` on."""
        places = range(first, len(symbols))
        costs = [self.probability(symbols[max(0, at - self.order) : at], symbols[at]) for at in places]
        return -sum(map(math.log2, costs)) / len(costs)
