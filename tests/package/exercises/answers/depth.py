import torch

from attention_course.exercises.depth import deep_norm, rate

WRONG = {
    "depth.rate": {
        "linear fall": lambda step, d, warm_up: d**-0.5 * min(warm_up / step, step / warm_up) * warm_up**-0.5,
        "counts from 0": lambda step, d, warm_up: rate(step + 1, d, warm_up),
        "width not inverted": lambda step, d, warm_up: d * rate(step, d, warm_up),
        "warm-up of ten": lambda step, d, warm_up: rate(step, d, 10),
        "peak of 1": lambda step, d, warm_up: rate(step, d, warm_up) / rate(warm_up, d, warm_up),
        "warm-up alone": lambda step, d, warm_up: d**-0.5 * step * warm_up**-1.5,
    },
    "depth.deep_norm": {
        "always 24 blocks": lambda stream, layer, norm, n: deep_norm(stream, layer, norm, 24),
        "fourth power": lambda stream, layer, norm, n: norm((2 * n) ** 4 * stream + layer(stream)),
        "twice a fourth root": lambda stream, layer, norm, n: norm(2 * n**0.25 * stream + layer(stream)),
        "norm before and behind": lambda stream, layer, norm, n: norm((2 * n) ** 0.25 * stream + layer(norm(stream))),
        "norm of the update": lambda stream, layer, norm, n: (2 * n) ** 0.25 * stream + norm(layer(stream)),
        "no layer": lambda stream, layer, norm, n: norm((2 * n) ** 0.25 * stream),
        "norm with another gain": lambda stream, layer, norm, n: torch.nn.functional.layer_norm(
            (2 * n) ** 0.25 * stream + layer(stream), stream.shape[-1:]
        ),
    },
}

RIGHT = {
    "depth.rate": {"a tensor": lambda step, d, warm_up: torch.tensor(rate(step, d, warm_up))},
    "depth.deep_norm": {
        "two square roots": lambda stream, layer, norm, n: norm(layer(stream) + ((2 * n) ** 0.5) ** 0.5 * stream),
    },
}
