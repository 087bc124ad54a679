import torch

from attention_course.exercises.tables import falls, standardise


def copied_once(predict, x, y):
    right = (predict(x) == y).float().mean()
    worth = []
    for column in range(x.size(1)):
        kept, x[:, column] = x[:, column].clone(), x[:, column].mean()
        worth.append(right - (predict(x) == y).float().mean())
        x[:, column] = kept
    return torch.stack(worth)


WRONG = {
    "tables.standardise": {
        "test rows' deviation": lambda train, test: (test - train.mean(0)) / test.std(0, correction=0),
        "median": lambda train, test: (test - train.median(0).values) / train.std(0, correction=0),
        "to the range": lambda train, test: (test - train.amin(0)) / (train.amax(0) - train.amin(0)),
        "a safe denominator": lambda train, test: (test - train.mean(0)) / (train.std(0, correction=0) + 0.1),
        "both": lambda train, test: (standardise(train, train), standardise(train, test)),
    },
    "tables.falls": {
        "the largest": lambda predict, x, y: falls(predict, x, y).max(),
        "never below 0": lambda predict, x, y: falls(predict, x, y).clamp(min=0),
        "without signs": lambda predict, x, y: falls(predict, x, y).abs(),
        "in per cent": lambda predict, x, y: 100 * falls(predict, x, y),
        "shares of all": lambda predict, x, y: falls(predict, x, y).softmax(0),
        "half of the rows": lambda predict, x, y: falls(predict, x[::2], y[::2]),
    },
}

RIGHT = {
    "tables.standardise": {
        "root of the variance": lambda train, test: (test - train.mean(0)) / train.var(0, correction=0).sqrt(),
    },
    "tables.falls": {"put back": copied_once},
}
