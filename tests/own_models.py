"""Models of other people's making, small and random, as readers bring them to an explorer."""

import torch
from torch import nn

WORDS = ["[CLS]", "the", "river", "##s", "of", "the", "bank", "[SEP]"]
PIECES = ["the", "Ġriver", "s", "Ġof", "Ġthe", "Ġbank"]


def attentions_of_bert() -> tuple:
    """What a BERT of three layers and two heads hands over, on eight tokens: (batch, heads, n, n) for each layer."""
    import transformers

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 2}
    config = transformers.BertConfig(vocab_size=12, max_position_embeddings=20, **sizes)
    bert = transformers.BertModel(config).eval()
    bert.set_attn_implementation("eager")
    for parameter in bert.parameters():
        parameter.data.add_(0.3 * torch.randn_like(parameter))
    return bert(torch.randint(12, (1, len(WORDS))), output_attentions=True).attentions


def attentions_of_gpt2(dtype: torch.dtype = torch.bfloat16) -> tuple:
    """What a GPT-2 of two layers and four heads hands over, on six tokens."""
    import transformers

    torch.manual_seed(0)
    sizes = {"n_positions": 20, "n_embd": 16, "n_layer": 2, "n_head": 4}
    gpt2 = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=11, bos_token_id=0, eos_token_id=0, **sizes))
    gpt2.set_attn_implementation("eager")
    for parameter in gpt2.parameters():
        parameter.data.add_(0.3 * torch.randn_like(parameter))
    return gpt2.eval().to(dtype)(torch.randint(11, (1, len(PIECES))), output_attentions=True).attentions


def weights_of_pytorch(batch: bool = True) -> torch.Tensor:
    """What PyTorch's layer of four heads hands over, on five tokens: (batch, heads, n, n), or (heads, n, n)."""
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(16, 4, batch_first=True).eval()
    x = 3 * torch.randn(1, 5, 16)
    x = x if batch else x[0]
    return layer(x, x, x, average_attn_weights=False)[1]
