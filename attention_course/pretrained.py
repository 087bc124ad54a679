"""BERT, GPT-2 and Llama, from the `transformers` package, and their weights in the blocks of this course.

Lesson: `chapters/gpt2.ipynb` and `chapters/classifiers.ipynb`.
"""

import torch
from torch import Tensor, nn

from attention_course.attention import MultiHeadAttention
from attention_course.language_model import CausalLanguageModel
from attention_course.modern_block import SwiGLU
from attention_course.positions import LearnedPositions, RotaryAttention
from attention_course.transformer import Block, Encoder


def load_bert(name_or_folder: str):
    """A pretrained BERT (Devlin et al. 2018, arXiv:1810.04805) with its tokenizer, in evaluation mode.

    Attention is computed step by step, not by a fused kernel, so that `output_attentions=True` works.

    Args:
        name_or_folder: A model's name on huggingface.co, such as `"bert-base-uncased"`, fetched at the first use
            and cached; or a folder that `save_pretrained` wrote.

    Returns:
        The tokenizer and the `transformers.BertModel`.

    Raises:
        ImportError: If `transformers` is missing.
        OSError: If there is no such model here, and it cannot be fetched.
    """
    return _load("load_bert", "BertModel", name_or_folder)


def encoder_from_bert(bert) -> Encoder:
    """The course's encoder, post-norm, with the weights of a BERT: the same function without BERT's code.

    It reads what `bert.embeddings` makes of words, positions and segments, `(batch, n_tokens, d_model)`, and
    returns BERT's `last_hidden_state`, on its device and in its dtype. BERT's `attention_mask` becomes
    `mask.bool()[:, None, None, :]`.

    Args:
        bert: A `transformers.BertModel`.

    Raises:
        ValueError: If it is not made of these blocks: another activation than GELU, a feed-forward layer that is
            not four times as wide as the tokens, causal or cross-attention, or positions in the scores.
    """
    config = bert.config
    positions = getattr(config, "position_embedding_type", None) or "absolute"  # newer versions know no other
    if positions != "absolute":
        raise ValueError(f"bert must add positions to its tokens, got position_embedding_type={positions!r}")
    if config.hidden_act != "gelu" or config.intermediate_size != 4 * config.hidden_size or config.is_decoder:
        raise ValueError(
            "bert must be an encoder with GELU and intermediate_size = 4 * hidden_size, got "
            f"hidden_act={config.hidden_act!r}, intermediate_size={config.intermediate_size}, "
            f"hidden_size={config.hidden_size}, is_decoder={config.is_decoder}"
        )
    encoder = Encoder(config.hidden_size, config.num_attention_heads, config.num_hidden_layers, norm_first=False)
    encoder.to(bert.device, bert.dtype)
    for block, layer in zip(encoder.blocks, bert.encoder.layer, strict=True):
        _copy_layer(block, layer)
    return encoder.eval()


def _copy_layer(block: Block, layer) -> None:
    attention, attention_output = layer.attention.self, layer.attention.output
    pairs = (
        (block.attention.query_proj, attention.query),
        (block.attention.key_proj, attention.key),
        (block.attention.value_proj, attention.value),
        (block.attention.out_proj, attention_output.dense),
        (block.attention_norm, attention_output.LayerNorm),
        (block.feed_forward[0], layer.intermediate.dense),
        (block.feed_forward[2], layer.output.dense),
        (block.feed_forward_norm, layer.output.LayerNorm),
    )
    for ours, theirs in pairs:
        ours.load_state_dict(theirs.state_dict())
        if isinstance(ours, nn.LayerNorm):
            ours.eps = theirs.eps  # 1e-12, not PyTorch's 1e-5


def load_gpt2(name_or_folder: str):
    """A pretrained GPT-2 (Radford et al. 2019) with its tokenizer, in evaluation mode.

    Args:
        name_or_folder: As for `load_bert`: `"gpt2"` is the smallest, 550 MB to fetch.

    Returns:
        The tokenizer and the `transformers.GPT2LMHeadModel`.

    Raises:
        ImportError: If `transformers` is missing.
        OSError: If there is no such model here, and it cannot be fetched.
    """
    return _load("load_gpt2", "GPT2LMHeadModel", name_or_folder)


@torch.no_grad()
def language_model_from_gpt2(gpt2) -> CausalLanguageModel:
    """The course's language model with the weights of a GPT-2: the same function without GPT-2's code.

    Positions are learned, GELU is approximated by a tanh, and embedding and head are tied. It is on the GPT-2's device
    and in its dtype.

    Args:
        gpt2: A `transformers.GPT2LMHeadModel`.

    Raises:
        ValueError: If it is not made of these blocks: another activation, a feed-forward layer that is not four times
            as wide as the tokens, cross-attention, scores scaled by layer, or an untied head.
    """
    config = gpt2.config
    wanted = {
        "activation_function": "gelu_new",
        "add_cross_attention": False,
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "tie_word_embeddings": True,
    }
    got = {name: getattr(config, name) for name in wanted}
    if got != wanted or config.n_inner not in (None, 4 * config.n_embd):
        raise ValueError(
            f"gpt2 must have {wanted} and n_inner = 4 * n_embd, got {got}, n_inner={config.n_inner}, "
            f"n_embd={config.n_embd}"
        )
    positions = LearnedPositions(config.n_positions, config.n_embd)
    model = CausalLanguageModel(config.vocab_size, config.n_embd, config.n_head, config.n_layer, positions=positions)
    model.to(gpt2.device, gpt2.dtype)
    body = gpt2.transformer
    model.embedding.load_state_dict(body.wte.state_dict())
    positions.embedding.load_state_dict(body.wpe.state_dict())
    model.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
    model.lm_head.weight = model.embedding.weight
    _copy_norm(model.norm, body.ln_f)
    for block, layer in zip(model.blocks, body.h, strict=True):
        _copy_gpt2_layer(block, layer)
    return model.eval()


def _copy_gpt2_layer(block: Block, layer) -> None:
    _copy_norm(block.attention_norm, layer.ln_1)
    _copy_norm(block.feed_forward_norm, layer.ln_2)
    block.feed_forward[1] = nn.GELU(approximate="tanh")
    attention = block.attention
    projections = (attention.query_proj, attention.key_proj, attention.value_proj)
    weights, biases = layer.attn.c_attn.weight.chunk(3, dim=1), layer.attn.c_attn.bias.chunk(3)
    pairs = [*zip(projections, weights, biases, strict=True)]
    pairs += [
        (ours, theirs.weight, theirs.bias)
        for ours, theirs in (
            (attention.out_proj, layer.attn.c_proj),
            (block.feed_forward[0], layer.mlp.c_fc),
            (block.feed_forward[2], layer.mlp.c_proj),
        )
    ]
    for ours, weight, bias in pairs:
        ours.weight.copy_(weight.T)  # GPT-2 keeps a matrix as it is written, nn.Linear transposed
        ours.bias.copy_(bias)


@torch.no_grad()
def language_model_from_llama(llama) -> CausalLanguageModel:
    """The course's language model with the weights of a Llama (Touvron et al. 2023, arXiv:2302.13971), as SmolLM2 is.

    Norms are RMSNorm, the feed-forward layer is a `SwiGLU`, positions are rotary, groups of query heads may share keys
    and values, and nothing but norms has more than a matrix. It is on the Llama's device and in its dtype.

    Args:
        llama: A `transformers.LlamaForCausalLM`.

    Raises:
        ValueError: If it is not made of these blocks: another activation, biases, rotary positions that are scaled for
            longer texts, or heads that are not `d_model / n_heads` wide.
    """
    config = llama.config
    rope = getattr(config, "rope_parameters", None)  # transformers 4 keeps these numbers apart
    if rope is None:
        rope = {"rope_theta": config.rope_theta, "rope_type": (config.rope_scaling or {}).get("rope_type", "default")}
    wanted = {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False}
    wanted |= {"rope_type": "default", "head_dim": config.hidden_size // config.num_attention_heads}
    got = {name: rope[name] if name == "rope_type" else getattr(config, name, None) for name in wanted}
    if got != wanted:
        raise ValueError(f"llama must have {wanted}, got {got}")
    d_model, n_heads, n_kv_heads = config.hidden_size, config.num_attention_heads, config.num_key_value_heads
    rotary = RotaryAttention(base=rope["rope_theta"])
    attention = MultiHeadAttention(d_model, n_heads, n_kv_heads, bias=False, attention=rotary)
    model = CausalLanguageModel(config.vocab_size, d_model, n_heads, config.num_hidden_layers, attention=attention)
    model.norm = nn.RMSNorm(d_model, eps=config.rms_norm_eps)
    model.lm_head = nn.Linear(d_model, config.vocab_size, bias=False)
    for block in model.blocks:
        block.attention_norm, block.feed_forward_norm = (nn.RMSNorm(d_model, eps=config.rms_norm_eps) for _ in range(2))
        block.feed_forward = SwiGLU(d_model, config.intermediate_size)
    model.to(llama.device, llama.dtype)
    model.embedding.load_state_dict(llama.model.embed_tokens.state_dict())
    model.norm.load_state_dict(llama.model.norm.state_dict())
    if config.tie_word_embeddings:
        model.lm_head.weight = model.embedding.weight
    else:
        model.lm_head.load_state_dict(llama.lm_head.state_dict())
    for block, layer in zip(model.blocks, llama.model.layers, strict=True):
        _copy_llama_layer(block, layer)
    return model.eval()


def _copy_llama_layer(block: Block, layer) -> None:
    attention, theirs = block.attention, layer.self_attn
    pairs = (
        (block.attention_norm, layer.input_layernorm),
        (attention.value_proj, theirs.v_proj),
        (attention.out_proj, theirs.o_proj),
        (block.feed_forward_norm, layer.post_attention_layernorm),
        (block.feed_forward.gate, layer.mlp.gate_proj),
        (block.feed_forward.up, layer.mlp.up_proj),
        (block.feed_forward.down, layer.mlp.down_proj),
    )
    for ours, other in pairs:
        ours.load_state_dict(other.state_dict())
    attention.query_proj.weight.copy_(_neighbours(theirs.q_proj.weight, attention.n_heads))
    attention.key_proj.weight.copy_(_neighbours(theirs.k_proj.weight, attention.n_kv_heads))


def _neighbours(weight: Tensor, n_heads: int) -> Tensor:
    """The rows in the order of `rotate`, which turns features 2i and 2i + 1 together: Llama turns i and i + d_head / 2.

    Queries and keys change their order alike, so that no score changes.
    """
    return weight.unflatten(0, (n_heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def _copy_norm(ours: nn.LayerNorm, theirs: nn.LayerNorm) -> None:
    ours.load_state_dict(theirs.state_dict())
    ours.eps = theirs.eps


def _load(asker: str, kind: str, name_or_folder: str):
    try:
        import transformers
    except ImportError as error:
        raise ImportError(f"{asker} needs the transformers package: pip install transformers") from error
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name_or_folder)
        model = getattr(transformers, kind).from_pretrained(name_or_folder, attn_implementation="eager")
    except (OSError, ValueError) as error:  # transformers 4 finds fault with a missing folder's name
        raise OSError(
            f"name_or_folder must be a folder that save_pretrained wrote, or a model that huggingface.co can be asked "
            f"for now or was asked for before, got {name_or_folder!r}"
        ) from error
    return tokenizer, model.eval()
