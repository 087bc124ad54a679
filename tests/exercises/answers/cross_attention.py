import torch

from attention_course.exercises.cross_attention import (
    alignment_error,
    beam_step,
    cross_attention,
    decoder_block,
    head_attention,
    source_weights,
)

WRONG = {
    "cross_attention.decoder_block": {
        "the memory's last entry": lambda x, m, s, c, f, mask, real: decoder_block(
            x, m, s, c, f, mask, (torch.arange(len(m)) < len(m) - 1).expand_as(real)
        ),
        "layers exchanged": lambda x, m, s, c, f, mask, real: decoder_block(x, m, c, s, f, mask, real),
        "no feed-forward": lambda x, m, s, c, f, mask, real: decoder_block(x, m, s, c, torch.zeros_like, mask, real),
        "mask inverted": lambda x, m, s, c, f, mask, real: decoder_block(x, m, s, c, f, mask, ~real),
        "memory in self-attention": lambda x, m, s, c, f, mask, real: decoder_block(
            x, m, lambda q, k, a: s(q, m, a), c, f, mask, real
        ),
        "parallel": lambda x, m, s, c, f, mask, real: x + s(x, x, mask) + c(x, m, real) + f(x),
        "feed-forward replaces": lambda x, m, s, c, f, mask, real: f(
            decoder_block(x, m, s, c, torch.zeros_like, mask, real)
        ),
    },
    "cross_attention.layer": {
        "scale of four": lambda target, source, W_q, W_k, W_v: (
            ((target @ W_q) @ (source @ W_k).T / 3**0.5).softmax(-1) @ (source @ W_v)
        ),
        "scale of d_model": lambda target, source, W_q, W_k, W_v: (
            ((target @ W_q) @ (source @ W_k).T / target.size(1) ** 0.5).softmax(-1) @ (source @ W_v)
        ),
        "residual": lambda target, source, W_q, W_k, W_v: (
            cross_attention(target, source, W_q, W_k, W_v) + target.mean()
        ),
        "keys by the queries' matrix": lambda target, source, W_q, W_k, W_v: cross_attention(
            target, source, W_q, W_q, W_v
        ),
        "both sequences": lambda target, source, W_q, W_k, W_v: cross_attention(
            target, torch.cat([source, target]), W_q, W_k, W_v
        ),
        "source cut to the target": lambda target, source, W_q, W_k, W_v: cross_attention(
            target, source[: len(target)], W_q, W_k, W_v
        ),
    },
    "cross_attention.heads": {
        "two heads": lambda query, key, value, n_heads: head_attention(query, key, value, 2),
        "squeezed": lambda *arguments: head_attention(*arguments).squeeze(),
        "queries cut": lambda query, key, value, n_heads: head_attention(query[:, : key.size(1)], key, value, n_heads),
        "values are keys": lambda query, key, value, n_heads: head_attention(query, key, key, n_heads),
        "not scaled": lambda query, key, value, n_heads: head_attention(
            query * (query.size(-1) / n_heads) ** 0.5, key, value, n_heads
        ),
        "every second feature": lambda query, key, value, n_heads: torch.cat(
            [
                head_attention(query[..., h::n_heads], key[..., h::n_heads], value[..., h::n_heads], 1)
                for h in range(n_heads)
            ],
            -1,
        ),
    },
    "cross_attention.source_mask": {
        "pad is 0": lambda scores, source, pad: source_weights(scores, source, 0),
        "symbols up to pad": lambda scores, source, pad: source_weights(scores, source.clamp(max=pad), pad),
        "last token": lambda scores, source, pad: source_weights(
            scores, torch.cat([source[:, :-1], torch.full_like(source[:, :1], pad)], 1), pad
        ),
        "one example for all": lambda scores, source, pad: source_weights(scores, source[:1].expand_as(source), pad),
        "squeezed": lambda scores, source, pad: source_weights(scores, source, pad).squeeze(),
        "mask": lambda scores, source, pad: (source != pad)[:, None, None].expand_as(scores),
        "one fill too small": lambda scores, source, pad: scores.masked_fill(
            (source == pad)[:, None, None], -5.0
        ).softmax(-1),
    },
    "cross_attention.alignment_error": {
        "first example": lambda weights, gold: alignment_error(weights[:1], gold[:1]),
        "mean of the examples' means": lambda weights, gold: torch.stack(
            [alignment_error(w, g) for w, g in zip(weights, gold, strict=True)]
        ).max(),
        "first gold word": lambda weights, gold: (
            (weights.argmax(-1) != gold.int().argmax(-1))[gold.any(-1)].double().mean()
        ),
        "padding counts as a hit": lambda weights, gold: (
            (~gold & gold.any(-1, keepdim=True)).gather(-1, weights.argmax(-1, True)).double().mean()
        ),
        "a count": lambda weights, gold: (~gold & gold.any(-1, True)).gather(-1, weights.argmax(-1, True)).sum(),
    },
    "cross_attention.beam_step": {
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
}

RIGHT = {
    "cross_attention.source_mask": {
        "lengths": lambda scores, source, pad: scores.masked_fill(
            torch.arange(source.size(1)) >= (source != pad).sum(1)[:, None, None, None], -torch.inf
        ).softmax(-1),
        "a large finite fill": lambda scores, source, pad: scores.masked_fill(
            (source == pad)[:, None, None], -1e9
        ).softmax(-1),
    },
    "cross_attention.beam_step": {
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
}
