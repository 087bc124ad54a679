import torch
from torch import nn

from attention_course.exercises.gpt2 import block
from attention_course.transformer import Block

NAMES = {
    "attention_norm": "ln_1",
    "attention.out_proj": "attn.c_proj",
    "feed_forward_norm": "ln_2",
    "feed_forward.0": "mlp.c_fc",
    "feed_forward.2": "mlp.c_proj",
}


@torch.no_grad()
def loaded(tokens, theirs, n_heads):
    """As the page's solution does it: into the package's block."""
    ours = {}
    for mine, name in NAMES.items():
        ours[f"{mine}.weight"] = theirs[f"{name}.weight"].T if "c_" in name else theirs[f"{name}.weight"]
        ours[f"{mine}.bias"] = theirs[f"{name}.bias"]
    fused = zip(theirs["attn.c_attn.weight"].T.chunk(3), theirs["attn.c_attn.bias"].chunk(3), strict=True)
    for kind, (weight, bias) in zip(("query", "key", "value"), fused, strict=True):
        ours |= {f"attention.{kind}_proj.weight": weight, f"attention.{kind}_proj.bias": bias}
    made = Block(tokens.size(-1), n_heads)
    made.feed_forward[1] = nn.GELU(approximate="tanh")
    made.load_state_dict(ours)
    return made(tokens, causal=True)[0]


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
        "twice": lambda tokens, theirs, n_heads: block(block(tokens, theirs, n_heads), theirs, n_heads),
        "a fresh block": lambda tokens, theirs, n_heads: Block(tokens.size(-1), n_heads)(tokens, causal=True)[
            0
        ].detach(),
        "what is added": lambda tokens, theirs, n_heads: block(tokens, theirs, n_heads) - tokens,
    },
}

RIGHT = {"gpt2.block": {"the package's block": loaded, "PyTorch's layer": torchs_layer}}
