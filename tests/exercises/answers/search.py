import torch

from attention_course.exercises.search import beam_step, matches, penalised

WRONG = {
    "search.beam_step": {
        "floats": lambda scores, log_probs: beam_step(scores, log_probs).float(),
        "true division": lambda scores, log_probs: torch.stack(
            [
                (best := (scores[:, None] + log_probs).flatten().topk(len(scores)).indices) / log_probs.size(1),
                best % log_probs.size(1),
            ],
            1,
        ),
        "squeezed": lambda scores, log_probs: beam_step(scores, log_probs).squeeze(),
        "worst first": lambda scores, log_probs: beam_step(scores, log_probs).flip(0),
        "transposed": lambda scores, log_probs: beam_step(scores, log_probs).T,
        "only the best beginning": lambda scores, log_probs: torch.stack(
            [scores.argmax().expand(len(scores)), log_probs[scores.argmax()].topk(len(scores)).indices], 1
        ),
        "the first beginning is the best": lambda scores, log_probs: beam_step(
            scores.sort(descending=True).values, log_probs
        ),
        "probabilities added": lambda scores, log_probs: beam_step(scores.exp(), log_probs.exp()),
        "flat indices": lambda scores, log_probs: (scores[:, None] + log_probs).flatten().topk(len(scores)).indices,
    },
    "search.penalised": {
        "four in place of five": lambda scores, lengths, alpha: scores / ((4 + lengths) / 5) ** alpha,
        "added": lambda scores, lengths, alpha: scores + alpha * lengths,
        "negative exponent": lambda scores, lengths, alpha: scores * ((5 + lengths) / 6) ** -alpha * -1,
        "a column": lambda scores, lengths, alpha: penalised(scores, lengths, alpha)[:, None],
        "sorted": lambda scores, lengths, alpha: penalised(scores, lengths, alpha).sort().values - 1,
    },
    "search.matches": {
        "candidate and reference exchanged, not clipped": lambda candidate, reference, n: sum(
            candidate.count(word) for word in reference
        ),
        "n too large": lambda candidate, reference, n: matches(candidate, reference, n + 1),
        "in reverse": lambda candidate, reference, n: matches(candidate[::-1], reference, n) + 1,
        "all n-grams": lambda candidate, reference, n: len(candidate) - n + 1,
        "in the first half": lambda candidate, reference, n: matches(candidate[: len(candidate) // 2], reference, n),
    },
}


def _taken_away(candidate, reference, n):
    left = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    count = 0
    for i in range(len(candidate) - n + 1):
        gram = tuple(candidate[i : i + n])
        if gram in left:
            left.remove(gram)
            count += 1
    return count


RIGHT = {
    "search.beam_step": {
        "a sort": lambda scores, log_probs: [
            [b, s]
            for _, b, s in sorted(
                ((scores[b] + p).item(), b, s) for b, row in enumerate(log_probs) for s, p in enumerate(row)
            )[::-1][: len(scores)]
        ],
        "divmod": lambda scores, log_probs: torch.stack(
            torch.unravel_index((scores[:, None] + log_probs).flatten().topk(len(scores)).indices, log_probs.shape), 1
        ),
    },
    "search.penalised": {
        "a loop": lambda scores, lengths, alpha: [
            score / ((5 + length) / 6) ** alpha for score, length in zip(scores.tolist(), lengths.tolist(), strict=True)
        ],
        "with six above": lambda scores, lengths, alpha: scores * (6 / (5 + lengths)) ** alpha,
    },
    "search.matches": {"matches taken away": _taken_away},
}
