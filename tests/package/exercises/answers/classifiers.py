import torch
import torch.nn.functional as F

from attention_course.exercises.classifiers import cls_vector, masked_mean

WRONG = {
    "classifiers.masked_mean": {
        "squeezed": lambda tokens, mask: masked_mean(tokens, mask).squeeze(),
        "one more": lambda tokens, mask: (tokens * mask[:, :, None]).sum(1) / (mask.sum(1, keepdim=True) + 1),
        "at least two": lambda tokens, mask: (tokens * mask[:, :, None]).sum(1) / mask.sum(1, True).clamp_min(2),
    },
    "classifiers.cls_vector": {
        "squeezed": lambda *arguments: cls_vector(*arguments).squeeze(),
        "instead of the first": lambda tokens, mask, cls, encoder: encoder(
            torch.cat([cls.expand(len(tokens), 1, -1), tokens[:, 1:]], 1), mask
        )[:, 0],
        "for the first sentence only": lambda tokens, mask, cls, encoder: encoder(
            torch.cat([F.pad(cls[None, None], (0, 0, 0, 0, 0, len(tokens) - 1)), tokens], 1),
            F.pad(mask, (1, 0), value=True),
        )[:, 0],
        "encoded alone": lambda tokens, mask, cls, encoder: encoder(
            cls.expand(len(tokens), 1, -1), torch.ones(len(tokens), 1, dtype=torch.bool)
        )[:, 0],
    },
}

RIGHT = {
    "classifiers.masked_mean": {
        "a loop": lambda tokens, mask: torch.stack([x[m].mean(0) for x, m in zip(tokens, mask, strict=True)]),
        "weights": lambda tokens, mask: ((mask / mask.sum(1, keepdim=True))[:, None] @ tokens)[:, 0],
    },
    "classifiers.cls_vector": {
        "a column of True": lambda tokens, mask, cls, encoder: encoder(
            torch.cat([cls.repeat(len(tokens), 1, 1), tokens], 1),
            torch.cat([torch.ones(len(mask), 1, dtype=torch.bool), mask], 1),
        )[:, 0],
    },
}
