import torch

from attention_course.exercises.interpretability import integrated_gradients, output_without
from attention_course.interpreting.comparison import share_found

WRONG = {
    "interpretability.found": {
        "all or nothing": lambda scores, gold: (share_found(scores, gold) == 1).float(),
        "the largest number of gold tokens for all": lambda scores, gold: (
            (gold & (scores.argsort(1, descending=True).argsort(1) < gold.sum(1).max() + 1)).sum(1) / gold.sum(1)
        ),
        "by size": lambda scores, gold: share_found(scores.abs(), gold),
    },
    "interpretability.hide": {
        "the last token": lambda scores, values, token: output_without(scores, values, -1),
        "the value alone": lambda scores, values, token: scores.softmax(-1) @ values[:, :1].expand_as(values),
        "a low score": lambda scores, values, token: output_without(scores, values, token) * 0.9,
    },
    "interpretability.integrated": {
        "always two steps": lambda gradient, x, baseline, steps: integrated_gradients(gradient, x, baseline, 2),
        "a finer way": lambda gradient, x, baseline, steps: integrated_gradients(gradient, x, baseline, 2 * steps),
        "without signs": lambda *arguments: integrated_gradients(*arguments).abs(),
    },
}

RIGHT = {
    "interpretability.found": {
        "row by row": lambda scores, gold: torch.stack(
            [g[s.topk(int(g.sum())).indices].float().mean() for s, g in zip(scores, gold, strict=True)]
        ),
    },
    "interpretability.hide": {
        "without the token": lambda scores, values, token: (
            scores[:, :, [i for i in range(scores.size(2)) if i != token]].softmax(-1)
            @ values[:, [i for i in range(scores.size(2)) if i != token]]
        ),
    },
    "interpretability.integrated": {
        "with linspace": lambda gradient, x, baseline, steps: (
            (x - baseline)
            * torch.stack(
                [gradient(baseline + a * (x - baseline)) for a in torch.linspace(0.5 / steps, 1 - 0.5 / steps, steps)]
            ).mean(0)
        ).sum(-1),
    },
}
