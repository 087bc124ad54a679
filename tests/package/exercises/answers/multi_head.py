import torch

from attention_course.exercises.multi_head import ablate, multi_head, unpack

WRONG = {
    "multi_head.fused": {
        "squeezed": lambda fused, n_heads: tuple(part.squeeze() for part in unpack(fused, n_heads)),
        "two heads": lambda fused, n_heads: unpack(fused, 2),
        "chunks of n_heads": lambda fused, n_heads: tuple(
            part.unflatten(-1, (-1, n_heads)).transpose(1, 2) for part in fused.chunk(3, -1)
        ),
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
    },
    "multi_head.ablate": {
        "the first head": lambda heads, head: ablate(heads, 0),
        "the last head": lambda heads, head: ablate(heads, -1),
        "all heads": lambda heads, head: heads.mean((0, 2), keepdim=True).expand_as(heads),
    },
}

RIGHT = {
    "multi_head.fused": {
        "view": lambda fused, h: tuple(fused.view(*fused.shape[:2], 3, h, -1).permute(2, 0, 3, 1, 4)),
        "one tensor": lambda fused, h: fused.unflatten(-1, (3, h, -1)).permute(2, 0, 3, 1, 4),
        "chunks": lambda fused, h: [torch.stack(part.chunk(h, -1), 1) for part in fused.chunk(3, -1)],
    },
}
