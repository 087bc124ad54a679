import torch
from torch import nn

from attention_course.exercises.gpt2 import block


def torchs_layer(tokens, theirs, n_heads):
    d_model = tokens.size(-1)
    layer = nn.TransformerEncoderLayer(
        d_model, n_heads, 4 * d_model, 0.0, nn.GELU(approximate="tanh"), batch_first=True, norm_first=True
    )
    layer.load_state_dict(
        {
            "self_attn.in_proj_weight": theirs["attn.c_attn.weight"].T,
            "self_attn.in_proj_bias": theirs["attn.c_attn.bias"],
            "self_attn.out_proj.weight": theirs["attn.c_proj.weight"].T,
            "self_attn.out_proj.bias": theirs["attn.c_proj.bias"],
            "linear1.weight": theirs["mlp.c_fc.weight"].T,
            "linear1.bias": theirs["mlp.c_fc.bias"],
            "linear2.weight": theirs["mlp.c_proj.weight"].T,
            "linear2.bias": theirs["mlp.c_proj.bias"],
            "norm1.weight": theirs["ln_1.weight"],
            "norm1.bias": theirs["ln_1.bias"],
            "norm2.weight": theirs["ln_2.weight"],
            "norm2.bias": theirs["ln_2.bias"],
        }
    )
    n = tokens.size(1)
    with torch.no_grad():
        return layer(tokens, src_mask=torch.ones(n, n, dtype=torch.bool).triu(1))


WRONG = {
    "gpt2.block": {
        "the tokens": lambda tokens, theirs, n_heads: tokens,
        "one head": lambda tokens, theirs, n_heads: block(tokens, theirs, 1),
        "what is added": lambda tokens, theirs, n_heads: block(tokens, theirs, n_heads) - tokens,
    },
}

RIGHT = {"gpt2.block": {"PyTorch's layer": torchs_layer}}
