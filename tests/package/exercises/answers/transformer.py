import torch.nn.functional as F

from attention_course.exercises.transformer import layer_norm, pre_norm_block

WRONG = {
    "transformer.layer_norm": {
        "a fixed eps": lambda tokens, gain, bias, eps: layer_norm(tokens, gain, bias, 0.1),
        "squeezed": lambda *arguments: layer_norm(*arguments).squeeze(),
        "no bias": lambda tokens, gain, bias, eps: layer_norm(tokens, gain, 0.0, eps),
        "no gain": lambda tokens, gain, bias, eps: layer_norm(tokens, 1.0, bias, eps),
        "first example's statistics": lambda tokens, gain, bias, eps: (
            gain * (tokens - tokens[:1].mean(-1, True)) / (tokens[:1].var(-1, correction=0, keepdim=True) + eps).sqrt()
            + bias
        ),
    },
    "transformer.pre_norm": {
        "one norm for both": lambda tokens, attention, feed_forward, norm_1, norm_2: pre_norm_block(
            tokens, attention, feed_forward, norm_1, norm_1
        ),
        "norm at the end": lambda tokens, attention, feed_forward, norm_1, norm_2: norm_2(
            pre_norm_block(tokens, attention, feed_forward, norm_1, norm_2)
        ),
        "attention alone": lambda tokens, attention, feed_forward, norm_1, norm_2: tokens + attention(norm_1(tokens)),
    },
}

RIGHT = {
    "transformer.layer_norm": {
        "PyTorch's": lambda tokens, gain, bias, eps: F.layer_norm(tokens, gain.shape, gain, bias, eps),
    },
}
