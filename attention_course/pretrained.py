"""BERT, from the `transformers` package, and its weights in the blocks of this course."""

from torch import nn

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
    try:
        from transformers import AutoTokenizer, BertModel
    except ImportError as error:
        raise ImportError("load_bert needs the transformers package: pip install transformers") from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(name_or_folder)
        bert = BertModel.from_pretrained(name_or_folder, attn_implementation="eager")
    except (OSError, ValueError) as error:  # transformers 4 finds fault with a missing folder's name
        raise OSError(
            f"name_or_folder must be a folder that save_pretrained wrote, or a model that huggingface.co can be asked "
            f"for now or was asked for before, got {name_or_folder!r}"
        ) from error
    return tokenizer, bert.eval()


def encoder_from_bert(bert) -> Encoder:
    """The course's encoder, post-norm, with the weights of a BERT: the same function without BERT's code.

    It reads what `bert.embeddings` makes of words, positions and segments, `(batch, n_tokens, d_model)`, and
    returns BERT's `last_hidden_state`. BERT's `attention_mask` becomes `mask.bool()[:, None, None, :]`.

    Args:
        bert: A `transformers.BertModel`.

    Raises:
        ValueError: If it is not made of these blocks: another activation than GELU, a feed-forward layer that is
            not four times as wide as the tokens, or causal or cross-attention.
    """
    config = bert.config
    if config.hidden_act != "gelu" or config.intermediate_size != 4 * config.hidden_size or config.is_decoder:
        raise ValueError(
            "bert must be an encoder with GELU and intermediate_size = 4 * hidden_size, got "
            f"hidden_act={config.hidden_act!r}, intermediate_size={config.intermediate_size}, "
            f"hidden_size={config.hidden_size}, is_decoder={config.is_decoder}"
        )
    encoder = Encoder(config.hidden_size, config.num_attention_heads, config.num_hidden_layers, norm_first=False)
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
