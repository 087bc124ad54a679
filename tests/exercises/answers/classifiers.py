import torch
import torch.nn.functional as F

from attention_course.exercises.classifiers import (
    attention_pooling,
    cls_vector,
    hit_rate,
    image_patches,
    masked_mean,
    standardise,
    stop_at,
)


def _stop(losses, patience, *, ties_count=False, wait=0):
    best_at = 0
    for step in range(1, len(losses)):
        better = losses[step] <= losses[best_at] if ties_count else losses[step] < losses[best_at]
        if better:
            best_at = step
        elif step - best_at >= patience + wait:
            return best_at
    return best_at


def _never_without_patience(losses, patience):
    best_at = 0
    for step in range(1, len(losses)):
        if losses[step] < losses[best_at]:
            best_at = step
        elif step - best_at >= patience:
            return best_at
    return None


WRONG = {
    "classifiers.masked_mean": {
        "squeezed": lambda tokens, mask: masked_mean(tokens, mask).squeeze(),
        "first sentence's length": lambda tokens, mask: (tokens * mask[:, :, None]).sum(1) / mask[0].sum(),
        "one more": lambda tokens, mask: (tokens * mask[:, :, None]).sum(1) / (mask.sum(1, keepdim=True) + 1),
        "at least two": lambda tokens, mask: (tokens * mask[:, :, None]).sum(1) / mask.sum(1, True).clamp_min(2),
        "last token left out": lambda tokens, mask: masked_mean(tokens[:, :-1], mask[:, :-1]),
        "maximum": lambda tokens, mask: tokens.masked_fill(~mask[:, :, None], -torch.inf).amax(1),
    },
    "classifiers.cls_vector": {
        "squeezed": lambda *arguments: cls_vector(*arguments).squeeze(),
        "the second token": lambda tokens, mask, cls, encoder: encoder(
            torch.cat([cls.expand(len(tokens), 1, -1), tokens], 1), F.pad(mask, (1, 0), value=True)
        )[:, 1],
        "instead of the first": lambda tokens, mask, cls, encoder: encoder(
            torch.cat([cls.expand(len(tokens), 1, -1), tokens[:, 1:]], 1), mask
        )[:, 0],
        "added to all": lambda tokens, mask, cls, encoder: encoder(tokens + cls, mask)[:, 0],
        "for the first sentence only": lambda tokens, mask, cls, encoder: encoder(
            torch.cat([F.pad(cls[None, None], (0, 0, 0, 0, 0, len(tokens) - 1)), tokens], 1),
            F.pad(mask, (1, 0), value=True),
        )[:, 0],
        "encoded alone": lambda tokens, mask, cls, encoder: encoder(
            cls.expand(len(tokens), 1, -1), torch.ones(len(tokens), 1, dtype=torch.bool)
        )[:, 0],
    },
    "classifiers.attention_pooling": {
        "squeezed": lambda *arguments: attention_pooling(*arguments).squeeze(),
        "scaled": lambda tokens, mask, query: (
            attention_pooling(tokens, mask, query / query.size(0) ** 0.5) * query.size(0) ** 0
        ),
        "matrix product, squeezed": lambda tokens, mask, query: (
            (tokens @ query).masked_fill(~mask, -torch.inf).softmax(1).unsqueeze(1) @ tokens
        ).squeeze(),
        "first mask for all": lambda tokens, mask, query: attention_pooling(tokens, mask[:1].expand_as(mask), query),
        "mean": lambda tokens, mask, query: masked_mean(tokens, mask),
        "summed over the features": lambda tokens, mask, query: attention_pooling(tokens, mask, query).sum(1),
    },
    "classifiers.image_patches": {
        "squeezed": lambda images, patch: image_patches(images, patch).squeeze(),
        "as many rows as columns": lambda images, patch: (
            images.unfold(1, patch, patch)
            .unfold(2, patch, patch)
            .reshape(len(images), (images.size(1) // patch) ** 2, -1)
        ),
        "patches of 2": lambda images, patch: image_patches(images, 2),
        "reversed": lambda images, patch: image_patches(images, patch).flip(1),
        "rows of patches": lambda images, patch: images.unflatten(1, (-1, patch)).flatten(2),
        "first image": lambda images, patch: image_patches(images[:1], patch),
    },
    "classifiers.standardise": {
        "test rows' deviation": lambda train, test: (test - train.mean(0)) / test.std(0, correction=0),
        "median": lambda train, test: (test - train.median(0).values) / train.std(0, correction=0),
        "to the range": lambda train, test: (test - train.amin(0)) / (train.amax(0) - train.amin(0)),
        "a safe denominator": lambda train, test: (test - train.mean(0)) / (train.std(0, correction=0) + 0.1),
        "both": lambda train, test: (standardise(train, train), standardise(train, test)),
    },
    "classifiers.hit_rate": {
        "any gold": lambda weights, gold: gold.any(1).float().mean(),
        "smallest": lambda weights, gold: gold.gather(1, weights.argmin(1, True)).float().mean(),
        "one each": lambda weights, gold: gold.gather(1, weights.argmax(1, True)).float()[:, 0],
        "divided by the tokens": lambda weights, gold: gold.gather(1, weights.argmax(1, True)).sum() / weights.size(1),
        "first half": lambda weights, gold: hit_rate(weights[: len(gold) // 2], gold[: len(gold) // 2]),
        "misses": lambda weights, gold: 1 - hit_rate(weights, gold),
    },
    "classifiers.early_stopping": {
        "a tie is a new lowest": lambda losses, patience: _stop(losses, patience, ties_count=True),
        "a float": lambda losses, patience: float(stop_at(losses, patience)),
        "one more": lambda losses, patience: _stop(losses, patience, wait=1),
        "one less": lambda losses, patience: _stop(losses, patience, wait=-1),
        "nothing where patience lasts": _never_without_patience,
        "patience of three": lambda losses, patience: stop_at(losses, 3),
        "the loss": lambda losses, patience: losses[stop_at(losses, patience)],
        "the last record where patience lasts": lambda losses, patience: (
            len(losses) - 2 if patience >= len(losses) else stop_at(losses, patience)
        ),
        "last record never read": lambda losses, patience: stop_at(losses[:-1], patience),
    },
}

RIGHT = {
    "classifiers.masked_mean": {
        "a loop": lambda tokens, mask: torch.stack([x[m].mean(0) for x, m in zip(tokens, mask, strict=True)]),
    },
    "classifiers.attention_pooling": {
        "einsum": lambda tokens, mask, query: torch.einsum(
            "bt,btd->bd", (tokens @ query).masked_fill(~mask, -1e9).softmax(1), tokens
        ),
    },
    "classifiers.image_patches": {
        "unfold": lambda images, patch: F.unfold(images[:, None], patch, stride=patch).transpose(1, 2),
    },
    "classifiers.early_stopping": {
        "a Python number": lambda losses, patience: int(stop_at(losses, patience)),
        "own loop": _stop,
    },
}
