import torch

from attention_course.exercises.cross_attention import caption, decoder_block, source_weights

WRONG = {
    "cross_attention.caption": {
        "scale of three": lambda patches, words, W_q, W_k, W_v: (
            ((words @ W_q) @ (patches @ W_k).T / 3**0.5).softmax(-1) @ (patches @ W_v)
        ),
        "scale of d_model": lambda patches, words, W_q, W_k, W_v: (
            ((words @ W_q) @ (patches @ W_k).T / words.size(1) ** 0.5).softmax(-1) @ (patches @ W_v)
        ),
        "keys by the queries' matrix": lambda patches, words, W_q, W_k, W_v: caption(patches, words, W_q, W_q, W_v),
        "patches cut to the words": lambda patches, words, W_q, W_k, W_v: caption(
            patches[: len(words)], words, W_q, W_k, W_v
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
        "one fill too small": lambda scores, source, pad: scores.masked_fill(
            (source == pad)[:, None, None], -5.0
        ).softmax(-1),
        "rows and columns": lambda scores, source, pad: (
            source_weights(scores, source, pad) * (source != pad)[:, None, : scores.size(2), None]
            if scores.size(2) <= source.size(1)
            else source_weights(scores, source, pad)
        ),
    },
    "cross_attention.decoder_block": {
        "the memory's last entry": lambda x, m, s, c, f, n, mask, real: decoder_block(
            x, m, s, c, f, n, mask, (torch.arange(len(m)) < len(m) - 1).expand_as(real)
        ),
        "layers exchanged": lambda x, m, s, c, f, n, mask, real: decoder_block(x, m, c, s, f, n, mask, real),
        "norm of the memory": lambda x, m, s, c, f, n, mask, real: decoder_block(x, n(m), s, c, f, n, mask, real),
    },
}

RIGHT = {
    "cross_attention.caption": {
        "PyTorch's own": lambda patches, words, W_q, W_k, W_v: torch.nn.functional.scaled_dot_product_attention(
            words @ W_q, patches @ W_k, patches @ W_v
        ),
    },
    "cross_attention.source_mask": {
        "lengths": lambda scores, source, pad: scores.masked_fill(
            torch.arange(source.size(1)) >= (source != pad).sum(1)[:, None, None, None], -torch.inf
        ).softmax(-1),
        "a large finite fill": lambda scores, source, pad: scores.masked_fill(
            (source == pad)[:, None, None], -1e9
        ).softmax(-1),
    },
}
