import torch

from attention_course.exercises.multi_head import (
    ablate,
    multi_head,
    unpack,
)

WRONG = {
    "multi_head.fused": {
        "squeezed": lambda fused, n_heads: tuple(part.squeeze() for part in unpack(fused, n_heads)),
        "two heads": lambda fused, n_heads: unpack(fused, 2),
        "chunks of n_heads": lambda fused, n_heads: tuple(
            part.unflatten(-1, (-1, n_heads)).transpose(1, 2) for part in fused.chunk(3, -1)
        ),
        "heads reversed": lambda fused, n_heads: tuple(part.flip(1) for part in unpack(fused, n_heads)),
        "keys first": lambda fused, n_heads: tuple(unpack(fused, n_heads)[i] for i in (1, 0, 2)),
        "values first": lambda fused, n_heads: unpack(fused, n_heads)[::-1],
        "queries alone": lambda fused, n_heads: unpack(fused, n_heads)[0],
        "heads before the batch": lambda fused, n_heads: tuple(p.transpose(0, 1) for p in unpack(fused, n_heads)),
    },
    "multi_head.attention": {
        "squeezed": lambda *arguments: multi_head(*arguments).squeeze(),
        "two heads": lambda query, key, value, n_heads: multi_head(query, key, value, 2),
        "more keys cut off": lambda query, key, value, n_heads: multi_head(
            query, key[:, : query.size(1)], value[:, : query.size(1)], n_heads
        ),
        "more queries cut off": lambda query, key, value, n_heads: multi_head(
            query[:, : key.size(1)], key, value, n_heads
        ),
        "residual": lambda query, key, value, n_heads: query + multi_head(query, key, value, n_heads),
        "no scaling": lambda query, key, value, n_heads: multi_head(
            query * (query.size(-1) / n_heads) ** 0.5, key, value, n_heads
        ),
        "keys as values": lambda query, key, value, n_heads: multi_head(query, key, key, n_heads),
        "heads exchanged": lambda query, key, value, n_heads: (
            multi_head(query, key, value, n_heads).unflatten(-1, (n_heads, -1)).flip(2).flatten(-2)
        ),
    },
    "multi_head.ablate": {
        "the first head": lambda heads, head: ablate(heads, 0),
        "the last head": lambda heads, head: ablate(heads, -1),
        "median": lambda heads, head: heads.index_copy(
            1,
            torch.tensor([head]),
            heads[:, head].flatten(0, 1).median(0).values.expand(len(heads), 1, heads.size(2), -1),
        ),
        "mean of all heads": lambda heads, head: heads.index_copy(
            1, torch.tensor([head]), heads.mean((0, 1, 2)).expand(len(heads), 1, heads.size(2), -1)
        ),
        "all heads": lambda heads, head: heads.mean((0, 2), keepdim=True).expand_as(heads),
        "only that head": lambda heads, head: ablate(heads, head)[:, head],
        "unchanged": lambda heads, head: heads,
    },
}

RIGHT = {
    "multi_head.fused": {
        "view": lambda fused, h: tuple(fused.view(*fused.shape[:2], 3, h, -1).permute(2, 0, 3, 1, 4)),
        "one tensor": lambda fused, h: fused.unflatten(-1, (3, h, -1)).permute(2, 0, 3, 1, 4),
        "chunks": lambda fused, h: [torch.stack(part.chunk(h, -1), 1) for part in fused.chunk(3, -1)],
    },
}
