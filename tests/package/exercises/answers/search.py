import torch

from attention_course.exercises.search import beam_step, penalised

WRONG = {
    "search.beam_step": {
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
    },
    "search.penalised": {
        "four in place of five": lambda scores, lengths, alpha: scores / ((4 + lengths) / 5) ** alpha,
        "added": lambda scores, lengths, alpha: scores + alpha * lengths,
        "sorted": lambda scores, lengths, alpha: penalised(scores, lengths, alpha).sort().values - 1,
    },
}


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
    "search.penalised": {"with six above": lambda scores, lengths, alpha: scores * (6 / (5 + lengths)) ** alpha},
}
