import torch

from attention_course.exercises.projects import kept, reachable

WRONG = {
    "projects.reachable": {
        "first reading": lambda counts: counts[:, 0].sum() / counts.sum(),
        "over the readings": lambda counts: counts.max(0).values.sum() / counts.sum(),
        "mistakes": lambda counts: 1 - reachable(counts),
    },
    "projects.kept": {
        "neither": lambda written, told, shown: 1 - kept(written, told, shown),
        "half of the rows": lambda written, told, shown: kept(written[::2], told[::2], shown[::2]),
        "not the image's": lambda written, told, shown: (written != shown).float().mean(0),
    },
}

RIGHT = {
    "projects.reachable": {"a loop": lambda counts: sum(max(row) for row in counts.tolist()) / counts.sum()},
    "projects.kept": {
        "place by place": lambda written, told, shown: torch.stack(
            [
                (written[:, place] == told[:, place])[told[:, place] != shown[:, place]].float().mean()
                for place in range(told.size(1))
            ]
        ),
    },
}
