import torch

from attention_course.exercises.tables import falls


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
        "a safe denominator": lambda train, test: (test - train.mean(0)) / (train.std(0, correction=0) + 0.1),
    },
    "tables.falls": {
        "never below 0": lambda predict, x, y: falls(predict, x, y).clamp(min=0),
        "without signs": lambda predict, x, y: falls(predict, x, y).abs(),
        "half of the rows": lambda predict, x, y: falls(predict, x[::2], y[::2]),
    },
}

RIGHT = {
    "tables.standardise": {
        "root of the variance": lambda train, test: (test - train.mean(0)) / train.var(0, correction=0).sqrt(),
    },
    "tables.falls": {"put back": copied_once},
}
