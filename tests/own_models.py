"""Models of other people's making, small and random, as readers bring them to an explorer."""

import torch
from torch import nn

WORDS = ["[CLS]", "the", "river", "##s", "of", "the", "bank", "[SEP]"]
PIECES = ["the", "Ġriver", "s", "Ġof", "Ġthe", "Ġbank"]


def spread_out(model: nn.Module) -> nn.Module:
    """Weights far from their start, so that layer norms and biases count too."""
    for parameter in model.parameters():
        parameter.data.add_(0.3 * torch.randn_like(parameter))
    return model.eval()


def random_bert(**settings) -> nn.Module:
    """A BERT of three layers and two heads, for twelve words."""
    import transformers

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 2}
    sizes |= {"vocab_size": 12, "max_position_embeddings": 20}
    return spread_out(transformers.BertModel(transformers.BertConfig(**sizes | settings)))


def random_gpt2(**settings) -> nn.Module:
    """A GPT-2 of three layers and two heads, for eleven symbols."""
    import transformers

    torch.manual_seed(0)
    sizes = {"vocab_size": 11, "n_positions": 20, "n_embd": 16, "n_layer": 3, "n_head": 2}
    nothing_ends = {"bos_token_id": None, "eos_token_id": None}
    return spread_out(transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes | nothing_ends | settings)))


def random_llama(**settings) -> nn.Module:
    """A Llama in SmolLM2's proportions, for 23 symbols: blocks of three heads a group, two groups, a tied head."""
    import transformers

    torch.manual_seed(0)
    sizes = {"vocab_size": 23, "hidden_size": 48, "intermediate_size": 128, "num_hidden_layers": 3}
    sizes |= {"num_attention_heads": 6, "num_key_value_heads": 2, "tie_word_embeddings": True, "rms_norm_eps": 1e-5}
    nothing_ends = {"bos_token_id": None, "eos_token_id": None}
    return spread_out(transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes | nothing_ends | settings)))


def attentions_of_bert() -> tuple:
    """What it hands over of eight tokens: (batch, heads, n, n) for each layer."""
    bert = random_bert()
    bert.set_attn_implementation("eager")
    return bert(torch.randint(12, (1, len(WORDS))), output_attentions=True).attentions


def attentions_of_gpt2(dtype: torch.dtype = torch.bfloat16) -> tuple:
    """What it hands over of six tokens."""
    gpt2 = random_gpt2(n_layer=2, n_head=4)
    gpt2.set_attn_implementation("eager")
    return gpt2.to(dtype)(torch.randint(11, (1, len(PIECES))), output_attentions=True).attentions


def weights_of_pytorch(batch: bool = True) -> torch.Tensor:
    """What PyTorch's layer of four heads hands over, on five tokens: (batch, heads, n, n), or (heads, n, n)."""
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(16, 4, batch_first=True).eval()
    x = 3 * torch.randn(1, 5, 16)
    x = x if batch else x[0]
    return layer(x, x, x, average_attn_weights=False)[1]
