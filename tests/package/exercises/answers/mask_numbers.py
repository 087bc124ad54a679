import torch

from attention_course.exercises.mask_numbers import front_padding, softmax_under_mask

WRONG = {
    "mask_numbers.softmax": {
        "maximum not subtracted": lambda scores, mask: (
            (e := scores.masked_fill(~mask, -torch.inf).exp()) / e.sum(-1, keepdim=True).clamp_min(1e-30)
        ),
        "maximum not subtracted, NaN repaired": lambda scores, mask: (
            (scores.exp() * mask) / (scores.exp() * mask).sum(-1, keepdim=True)
        ).nan_to_num(),
        "NaN repaired": lambda scores, mask: (
            (scores.exp() * mask) / (scores.exp() * mask).sum(-1, keepdim=True).clamp_min(1e-9)
        ),
        "maximum of forbidden scores too": lambda scores, mask: (
            (scores - scores.amax(-1, True)).exp().mul(mask)
            / (scores - scores.amax(-1, True)).exp().mul(mask).sum(-1, keepdim=True).clamp_min(1e-30)
        ),
        "a small fill": lambda scores, mask: scores.masked_fill(~mask, -100.0).softmax(-1) * mask.any(-1, keepdim=True),
        "everything allowed": lambda scores, mask: scores.softmax(-1),
        "rows without keys left out": lambda scores, mask: softmax_under_mask(scores, mask)[mask.any(-1)],
        "over the queries": lambda scores, mask: softmax_under_mask(scores.T, mask.T).T,
        "boolean": lambda scores, mask: softmax_under_mask(scores, mask) > 0.5,
    },
    "mask_numbers.front": {
        "floats": lambda lengths, n: front_padding(lengths, n).float(),
        "squeezed": lambda lengths, n: front_padding(lengths, n).squeeze(),
        "with heads": lambda lengths, n: front_padding(lengths, n)[:, None],
        "transposed": lambda lengths, n: front_padding(lengths, n).mT,
        "the longest length": lambda lengths, n: front_padding(lengths.max().expand(len(lengths)), n),
        "the first text": lambda lengths, n: front_padding(lengths, n)[0],
        "window": lambda lengths, n: front_padding(lengths, n) & ~torch.ones(n, n, dtype=torch.bool).tril(-2),
        "both sides flipped": lambda lengths, n: front_padding(lengths, n).flip(-1),
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
        "a loop": lambda lengths, n: torch.tensor(
            [[[n - length <= key <= query for key in range(n)] for query in range(n)] for length in lengths.tolist()]
        ),
        "flipped": lambda lengths, n: (
            (torch.arange(n) < lengths[:, None]).flip(-1)[:, None] & torch.ones(n, n, dtype=torch.bool).tril()
        ),
    },
}
