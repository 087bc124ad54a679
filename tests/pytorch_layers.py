"""PyTorch's own layers with the weights of the course's."""

import torch
from torch import nn

from attention_course import MultiHeadAttention
from attention_course.transformer import Block, DecoderBlock


@torch.no_grad()
def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    projections = (ours.query_proj, ours.key_proj, ours.value_proj)
    theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
    theirs.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
    theirs.out_proj.load_state_dict(ours.out_proj.state_dict())


def as_pytorchs(block: Block) -> nn.Module:
    """PyTorch's layer that computes what a block does."""
    d_model, n_heads = block.attention.d_model, block.attention.n_heads
    settings = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": block.norm_first}
    crosses = isinstance(block, DecoderBlock)
    kind = nn.TransformerDecoderLayer if crosses else nn.TransformerEncoderLayer
    layer = kind(d_model, n_heads, 4 * d_model, **settings).eval()
    copy_attention(block.attention, layer.self_attn)
    norms = [block.attention_norm, block.feed_forward_norm]
    if crosses:
        copy_attention(block.cross_attention, layer.multihead_attn)
        norms.insert(1, block.cross_attention_norm)
    for number, norm in enumerate(norms, start=1):
        getattr(layer, f"norm{number}").load_state_dict(norm.state_dict())
    layer.linear1.load_state_dict(block.feed_forward[0].state_dict())
    layer.linear2.load_state_dict(block.feed_forward[2].state_dict())
    return layer
