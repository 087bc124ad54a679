"""A model of letters that counts: how often each letter followed the few before it."""

import math
from collections import Counter, defaultdict


class Counts:
    """Counts of a text up to an order, mixed by the modified method of Kneser and Ney.

    Chen and Goodman 1999, doi:10.1006/csla.1999.0128, who found no better one. A little is taken off each count, and
    what was taken off goes to what the next shorter order says. A shorter order counts after how many different letters
    its piece was seen, and not how often: where the longer one has been asked, what is common after one letter only is
    no news.

    Args:
        symbols: The text.
        order: How many letters before one are looked up.
        vocab_size: How many letters there are.
    """

    def __init__(self, symbols: list[int], order: int, vocab_size: int):
        self.order, self.vocab_size = order, vocab_size
        self.followers = [defaultdict(Counter) for _ in range(order + 1)]  # by the length of what they follow
        for end in range(order, len(symbols)):
            self.followers[order][tuple(symbols[end - order : end])][symbols[end]] += 1
        for length in range(order, 0, -1):
            for before, seen in self.followers[length].items():
                for symbol in seen:
                    self.followers[length - 1][before[1:]][symbol] += 1
        self.taken_off = [discounts(followers) for followers in self.followers]

    def probability(self, before: list[int], symbol: int) -> float:
        """That this letter follows those before it."""
        probability = 1 / self.vocab_size
        for length in range(min(self.order, len(before)) + 1):
            if seen := self.followers[length].get(tuple(before[len(before) - length :])):
                off = {other: min(count, self.taken_off[length][min(count, 3)]) for other, count in seen.items()}
                kept = seen[symbol] - off.get(symbol, 0)
                probability = (kept + sum(off.values()) * probability) / seen.total()
        return probability

    def bits(self, symbols: list[int], first: int) -> float:
        """Mean bits of a text's letters from the `first` on."""
        places = range(first, len(symbols))
        costs = [self.probability(symbols[max(0, at - self.order) : at], symbols[at]) for at in places]
        return -sum(map(math.log2, costs)) / len(costs)


def discounts(followers: dict[tuple, Counter]) -> dict[int, float]:
    """What is taken off a count of 1, of 2, and of 3 and more, by how many counts there are of each."""
    kinds = Counter(count for seen in followers.values() for count in seen.values())
    if not kinds[1]:  # nothing was seen once, so nothing is left to be seen
        return {1: 0.0, 2: 0.0, 3: 0.0}
    once = kinds[1] / (kinds[1] + 2 * kinds[2])
    return {count: count - (count + 1) * once * kinds[count + 1] / max(kinds[count], 1) for count in (1, 2, 3)}
