import torch

from attention_course.exercises.mask_numbers import front_padding

WRONG = {
    "mask_numbers.softmax": {
        "maximum not subtracted": lambda scores, mask: (
            (e := scores.masked_fill(~mask, -torch.inf).exp()) / e.sum(-1, keepdim=True).clamp_min(1e-30)
        ),
        "maximum of forbidden scores too": lambda scores, mask: (
            (scores - scores.amax(-1, True)).exp().mul(mask)
            / (scores - scores.amax(-1, True)).exp().mul(mask).sum(-1, keepdim=True).clamp_min(1e-30)
        ),
        "a small fill": lambda scores, mask: scores.masked_fill(~mask, -100.0).softmax(-1) * mask.any(-1, keepdim=True),
    },
    "mask_numbers.front": {
        "squeezed": lambda lengths, n: front_padding(lengths, n).squeeze(),
        "the longest length": lambda lengths, n: front_padding(lengths.max().expand(len(lengths)), n),
        "window": lambda lengths, n: front_padding(lengths, n) & ~torch.ones(n, n, dtype=torch.bool).tril(-2),
    },
}

RIGHT = {
    "mask_numbers.softmax": {
        "by hand": lambda scores, mask: (lambda e: e / e.sum(-1, keepdim=True).clamp_min(1e-30))(
            (scores - scores.masked_fill(~mask, -1e9).amax(-1, True)).clamp(max=0).exp() * mask
        ),
        "minus infinity and nan_to_num": lambda scores, mask: (
            scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()
        ),
        "a large finite fill": lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1) * mask,
    },
    "mask_numbers.front": {
        "flipped": lambda lengths, n: (
            (torch.arange(n) < lengths[:, None]).flip(-1)[:, None] & torch.ones(n, n, dtype=torch.bool).tril()
        ),
    },
}
