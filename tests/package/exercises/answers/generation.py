import torch

from attention_course.exercises.generation import min_p, probabilities, top_p_probability

WRONG = {
    "generation.min_p": {
        "everything": lambda logits, least: logits,
        "the likeliest alone": lambda logits, least: logits.masked_fill(
            logits < logits.amax(-1, keepdim=True), -torch.inf
        ),
        "a very low logit": lambda logits, least: min_p(logits, least).clamp(min=-10),
        "one minus": lambda logits, least: min_p(logits, 1 - least),
    },
    "generation.top_p_probability": {
        "squeezed": lambda logits, targets, p: top_p_probability(logits, targets, p).squeeze(),
        "one minus": lambda logits, targets, p: top_p_probability(logits, targets, 1 - p),
        "the first target for all": lambda logits, targets, p: top_p_probability(
            logits, targets[:1].expand_as(targets), p
        ),
        "kept or not": lambda logits, targets, p: (top_p_probability(logits, targets, p) > 0).float(),
    },
    "generation.probabilities": {
        "one too many": lambda logits, temperature, k: probabilities(logits, temperature, k + 1),
        "a root": lambda logits, temperature, k: probabilities(logits, temperature**0.5, k),
    },
}


def _by_loop(logits, targets, p):
    found = []
    for row, target in zip(logits.softmax(-1).tolist(), targets.tolist(), strict=True):
        kept, total = set(), 0.0
        for symbol in sorted(range(len(row)), key=lambda symbol: -row[symbol]):
            if total >= p:
                break
            kept.add(symbol)
            total += row[symbol]
        found.append(row[target] / total if target in kept else 0.0)
    return torch.tensor(found)


def _sorted_and_put_back(logits, targets, p):
    ranked, order = logits.softmax(-1).sort(descending=True)
    kept = ranked * (ranked.cumsum(-1) - ranked < p)
    kept = kept / kept.sum(-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, order, kept).gather(-1, targets[:, None])[:, 0]


RIGHT = {
    "generation.min_p": {
        "a difference of logits": lambda logits, least: logits.masked_fill(
            logits - logits.amax(-1, keepdim=True) < torch.tensor(least).log(), -torch.inf
        ),
    },
    "generation.top_p_probability": {
        "by a loop": _by_loop,
        "sorted and put back": _sorted_and_put_back,
    },
    "generation.probabilities": {
        "divided first": lambda logits, temperature, k: (
            (logits / temperature).masked_fill(logits < logits.topk(k).values[..., -1:], -torch.inf).softmax(-1)
        ),
    },
}
