from attention_course.exercises.depth import deep_norm, rate

WRONG = {
    "depth.rate": {
        "linear fall": lambda step, d, warm_up: d**-0.5 * min(warm_up / step, step / warm_up) * warm_up**-0.5,
        "counts from 0": lambda step, d, warm_up: rate(step + 1, d, warm_up),
        "warm-up of ten": lambda step, d, warm_up: rate(step, d, 10),
        "warm-up alone": lambda step, d, warm_up: d**-0.5 * step * warm_up**-1.5,
    },
    "depth.deep_norm": {
        "always 24 blocks": lambda stream, layer, norm, n: deep_norm(stream, layer, norm, 24),
        "twice a fourth root": lambda stream, layer, norm, n: norm(2 * n**0.25 * stream + layer(stream)),
        "norm before and behind": lambda stream, layer, norm, n: norm((2 * n) ** 0.25 * stream + layer(norm(stream))),
    },
}

RIGHT = {
    "depth.deep_norm": {
        "two square roots": lambda stream, layer, norm, n: norm(layer(stream) + ((2 * n) ** 0.5) ** 0.5 * stream),
    },
}
