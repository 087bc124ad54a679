"""Whether SmolLM2 repeats a random text by its induction heads."""

import torch
from _models import Models, head_scores, rounded, token_bits, untrained
from _texts import N_CHOSEN_ON, N_MEASURED, generator

from attention_course.interpreting.ablations import head_means, switched_off
from attention_course.interpreting.circuits import induction_score, repeated_sequences

PERIOD, N_DRAWS = 32, 3


def sequences(n: int, period: int, seed: int):
    """Random ordinary symbols that start again after `period`, integers `(n, 2 * PERIOD)`."""
    return 1_000 + repeated_sequences(n, 39_000, period, 2 * PERIOD, generator(seed))


def score(weights):
    """The induction score at this period."""
    return induction_score(weights, PERIOD)


def others(heads: list[tuple[int, int]], n_heads: int, seed: int) -> list[tuple[int, int]]:
    """As many heads of the same blocks, but not these; all that are left where there are fewer."""
    drawn = []
    for block in sorted({block for block, _ in heads}):
        taken = [head for of, head in heads if of == block]
        left = [head for head in range(n_heads) if head not in taken]
        order = torch.randperm(len(left), generator=generator(100 * seed + block))[: len(taken)]
        drawn += [(block, left[number]) for number in order.tolist()]
    return drawn


def run(models: Models) -> dict:
    """The finding."""
    model = models.model
    chosen_on, texts = sequences(N_CHOSEN_ON, PERIOD, 0), sequences(N_MEASURED, PERIOD, 1)
    never_again = sequences(N_MEASURED, 2 * PERIOD, 2)
    (chosen,) = head_scores(model, chosen_on, score)
    block, head = divmod(chosen.argmax().item(), chosen.size(1))
    heads = [tuple(pair) for pair in (chosen >= 0.3).nonzero().tolist()]
    means = head_means(model, sequences(N_CHOSEN_ON, 2 * PERIOD, 3))

    def second_without(heads):
        with switched_off(model, heads=heads, means=means):
            return token_bits(model, texts)[:, PERIOD:].mean().item()

    (tested,), (unrepeated,) = head_scores(model, texts, score), head_scores(model, never_again, score)
    (random,) = head_scores(untrained(model), texts, score)
    costs = token_bits(model, texts)
    draws = [others(heads, chosen.size(1), seed) for seed in range(N_DRAWS)]
    costs_of_draws = [second_without(draw) for draw in draws]
    return {
        "induction": {
            "best": tested[block, head].item(),
            "block": block,
            "head": head,
            "unrepeated": unrepeated[block, head].item(),
            "untrained": random.max().item(),
            "first": costs[:, : PERIOD - 1].mean().item(),
            "second": costs[:, PERIOD:].mean().item(),
            "heads": heads,
            "n_heads": len(heads),
            "without": second_without(heads),
            "random": sum(costs_of_draws) / N_DRAWS,
            "draws": costs_of_draws,
            "n_drawn": [len(draw) for draw in draws],
            "scores": rounded(tested),
        }
    }
