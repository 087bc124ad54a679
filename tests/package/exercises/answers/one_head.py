import torch

from attention_course.exercises.one_head import decode

WRONG = {
    "one_head.decode": {
        "share of four fifths": lambda blends, share: decode(blends, 0.8),
        "one letter": lambda blends, share: decode(blends, share)[0],
        "counted from 1": lambda blends, share: tuple(letter + 1 for letter in decode(blends, share)),
        "blends": lambda blends, share: (blends, blends),
        "two largest": lambda blends, share: blends.topk(2, dim=-1).indices.unbind(-1),
        "floats": lambda blends, share: tuple(letter.float() for letter in decode(blends, share)),
    },
}

RIGHT = {
    "one_head.decode": {
        "one tensor of two rows": lambda blends, share: torch.stack(decode(blends, share)),
        "smallest above zero": lambda blends, share: (
            blends.argmax(-1),
            blends.masked_fill(blends < 1e-6, 2.0).argmin(-1),
        ),
        "the share that is left": lambda blends, share: (
            blends.argmax(-1),
            (blends - share * (blends == blends.amax(-1, keepdim=True)).float()).argmax(-1),
        ),
        "by what is closest": lambda blends, share: torch.cartesian_prod(*[torch.arange(blends.size(-1))] * 2)[
            torch.cdist(
                blends,
                (share * torch.eye(blends.size(-1))[:, None] + (1 - share) * torch.eye(blends.size(-1))).flatten(0, 1),
            ).argmin(-1)
        ].unbind(-1),
    },
}
