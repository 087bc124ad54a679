import torch

from attention_course.exercises.length import accuracy, clipped
from attention_course.positions import rotate
from attention_course.tasks import NOTHING


def loop_over_pieces(logits, target, window):
    likeliest, shares = logits.argmax(-1), []
    for start in range(0, target.size(1), window):
        piece = target[:, start : start + window]
        asked = piece != NOTHING
        shares.append((likeliest[:, start : start + window] == piece)[asked].float().mean())
    return torch.stack(shares)


def loop_over_pairs(query, key, farthest):
    scores = torch.zeros(len(query), len(key))
    for i in range(len(query)):
        for j in range(i + 1):
            place = torch.tensor([min(i - j, farthest)])
            scores[i, j] = rotate(query[i : i + 1], place)[0] @ key[j]
    return scores


def keys_turned_back(query, key, farthest):
    place = torch.arange(len(query))
    distance = place[:, None] - place
    near = rotate(query, place) @ rotate(key, place).T
    far = query @ rotate(key, torch.full_like(place, -farthest)).T
    return (near * (distance <= farthest) + far * (distance > farthest)) * (distance >= 0)


WRONG = {
    "length.accuracy": {
        "first sequence alone": lambda logits, target, window: accuracy(logits[:1], target[:1], window).roll(1),
        "least likely": lambda logits, target, window: accuracy(-logits, target, window),
        "from the end": lambda logits, target, window: accuracy(logits, target, window).flip(0),
    },
    "length.clipped": {
        "weights": lambda query, key, farthest: clipped(query, key, farthest).softmax(-1),
        "exchanged": lambda query, key, farthest: clipped(key, query, farthest),
        "farthest is 1": lambda query, key, farthest: clipped(query, key, 1),
    },
}

RIGHT = {
    "length.accuracy": {"a loop": loop_over_pieces},
    "length.clipped": {"a loop": loop_over_pairs, "keys turned back": keys_turned_back},
}
