"""The Transformer: feed-forward layer, encoder and decoder blocks, and stacks of them.

Lesson: `chapters/transformer.ipynb`.
"""

from collections.abc import Callable

from torch import Tensor, nn

from attention_course.attention import MultiHeadAttention
from attention_course.kv_cache import KVCache
from attention_course.mechanism import AttentionLayer, Pluggable, fresh
from attention_course.support.validation import validate_dropout


class FeedForward(nn.Sequential):
    """The same two linear layers for every token, four times as wide between them (GELU, not the paper's ReLU).

    Args:
        d_model: Width of the tokens.
    """

    def __init__(self, d_model: int):
        super().__init__(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))


class Block(nn.Module):
    r"""Self-attention, then feed-forward, each added to the tokens it read.

    Pre-norm normalises what a layer reads, post-norm the sum it leaves behind:

    .. math:: x + f(\operatorname{norm}(x)) \qquad\text{or}\qquad \operatorname{norm}(x + f(x))

    Post-norm: Vaswani et al. 2017, arXiv:1706.03762. Pre-norm: Xiong et al. 2020, arXiv:2002.04745.

    Args:
        d_model: Width of the tokens.
        n_heads: Number of query heads.
        n_kv_heads: Number of key-value heads; `n_heads` if left out.
        norm_first: Pre-norm; `False` is post-norm.
        dropout: Probability, in training, of dropping a number that a layer adds to the tokens.
        attention: The mechanism, as for `MultiHeadAttention`; or a whole `AttentionLayer`, which is taken as it is.

    Raises:
        ValueError: As `MultiHeadAttention`; if an `AttentionLayer` is for tokens of another width or has other heads.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        *,
        norm_first: bool = True,
        dropout: float = 0.0,
        attention: Pluggable | Callable | None = None,
    ):
        super().__init__()
        validate_dropout(dropout)
        self.norm_first = norm_first
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = _attention_layer(d_model, n_heads, n_kv_heads, attention)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
        cache: KVCache | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Let the tokens attend to each other.

        Args:
            tokens: `(batch, n_tokens, d_model)`.
            mask: Boolean, broadcastable to `(batch, n_heads, n_tokens, n_keys)`; `True` = may attend.
            causal: Whether later tokens are hidden, besides those that the mask hides.
            need_weights: Whether to return the weights.
            cache: Holds earlier tokens' keys and values, as for `MultiHeadAttention`.

        Returns:
            Tokens of the same shape, and the weights `(batch, n_heads, n_tokens, n_keys)` or `None`.
        """
        attended, weights = self.attention(
            self._before(self.attention_norm, tokens), mask=mask, causal=causal, need_weights=need_weights, cache=cache
        )
        tokens = self._add(self.attention_norm, tokens, attended)
        return self._add_feed_forward(tokens), weights

    def _add_feed_forward(self, tokens: Tensor) -> Tensor:
        return self._add(
            self.feed_forward_norm, tokens, self.feed_forward(self._before(self.feed_forward_norm, tokens))
        )

    def _before(self, norm: nn.LayerNorm, tokens: Tensor) -> Tensor:
        return norm(tokens) if self.norm_first else tokens

    def _add(self, norm: nn.LayerNorm, tokens: Tensor, update: Tensor) -> Tensor:
        tokens = tokens + self.dropout(update)
        return tokens if self.norm_first else norm(tokens)


def _attention_layer(
    d_model: int, n_heads: int, n_kv_heads: int | None, attention: Pluggable | Callable | None
) -> AttentionLayer:
    if not isinstance(attention, AttentionLayer):
        return MultiHeadAttention(d_model, n_heads, n_kv_heads, attention=attention)
    if (attention.d_model, attention.n_heads) != (d_model, n_heads) or n_kv_heads is not None:
        raise ValueError(
            f"attention must be a layer for d_model = {d_model} and n_heads = {n_heads}, with n_kv_heads left out, got "
            f"{attention.d_model}, {attention.n_heads} and {n_kv_heads}"
        )
    return attention


class DecoderBlock(Block):
    """A block that also reads another sequence: self-attention, cross-attention, feed-forward.

    Args:
        d_model: Width of the tokens, and of the memory's.
        n_heads: Number of heads of both attentions.
        norm_first: As for `Block`.
        dropout: As for `Block`.
        attention: Of self-attention, as for `Block`.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        norm_first: bool = True,
        dropout: float = 0.0,
        attention: Pluggable | Callable | None = None,
    ):
        super().__init__(d_model, n_heads, norm_first=norm_first, dropout=dropout, attention=attention)
        self.cross_attention_norm = nn.LayerNorm(d_model)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)

    def forward(
        self,
        tokens: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Let the tokens attend to each other, then to the memory.

        Args:
            tokens: `(batch, n_tokens, d_model)`.
            memory: What the encoder made of the other sequence: `(batch, n_memory, d_model)`.
            mask: Boolean, broadcastable to `(batch, n_heads, n_tokens, n_tokens)`; `True` = may attend.
            memory_mask: The same for `(batch, n_heads, n_tokens, n_memory)`.
            need_weights: Whether to return the weights.

        Returns:
            Tokens of the same shape, and the weights of self-attention `(batch, n_heads, n_tokens, n_tokens)`
            and of cross-attention `(batch, n_heads, n_tokens, n_memory)`, or `None` and `None`.
        """
        attended, weights = self.attention(
            self._before(self.attention_norm, tokens), mask=mask, need_weights=need_weights
        )
        tokens = self._add(self.attention_norm, tokens, attended)
        attended, cross_weights = self.cross_attention(
            self._before(self.cross_attention_norm, tokens), memory, mask=memory_mask, need_weights=need_weights
        )
        tokens = self._add(self.cross_attention_norm, tokens, attended)
        return self._add_feed_forward(tokens), weights, cross_weights


class _Stack(nn.Module):
    block: type[Block]

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_layers: int,
        *,
        norm_first: bool = True,
        dropout: float = 0.0,
        attention: Pluggable | Callable | None = None,
    ):
        super().__init__()
        self.blocks = nn.ModuleList(
            self.block(d_model, n_heads, norm_first=norm_first, dropout=dropout, attention=fresh(attention))
            for _ in range(n_layers)
        )
        # Pre-norm blocks leave a sum that nobody has normalised, post-norm blocks a normalised one.
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()


class Encoder(_Stack):
    """Blocks in which every token may attend to every other.

    Args:
        d_model: Width of the tokens.
        n_heads: Number of heads in each block.
        n_layers: Number of blocks.
        norm_first: As for `Block`. Pre-norm blocks are followed by one last layer norm.
        dropout: As for `Block`.
        attention: As for `Block`; each block gets its own, `fresh`.
    """

    block = Block

    def forward(
        self, tokens: Tensor, mask: Tensor | None = None, *, need_weights: bool = False
    ) -> tuple[Tensor, list[Tensor] | None]:
        """Tokens `(batch, n_tokens, d_model)` to the same shape, and each block's weights or `None`.

        Args:
            tokens: `(batch, n_tokens, d_model)`.
            mask: As for `Block`.
            need_weights: Whether to return the weights.
        """
        all_weights = []
        for block in self.blocks:
            tokens, weights = block(tokens, mask, need_weights=need_weights)
            all_weights.append(weights)
        return self.norm(tokens), all_weights if need_weights else None


class Decoder(_Stack):
    """Blocks that attend to their own sequence and to a memory.

    Args:
        d_model: Width of the tokens, and of the memory's.
        n_heads: Number of heads of each attention.
        n_layers: Number of blocks.
        norm_first: As for `Encoder`.
        dropout: As for `Block`.
        attention: Of self-attention, as for `Encoder`.
    """

    block = DecoderBlock

    def forward(
        self,
        tokens: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]] | None]:
        """Tokens `(batch, n_tokens, d_model)` to the same shape, and each block's weights or `None`.

        Args:
            tokens: `(batch, n_tokens, d_model)`.
            memory: `(batch, n_memory, d_model)`.
            mask: As for `DecoderBlock`; `causal_mask` for a decoder that writes.
            memory_mask: As for `DecoderBlock`.
            need_weights: Whether to return, for each block, the weights of self- and of cross-attention.
        """
        all_weights = []
        for block in self.blocks:
            tokens, *weights = block(tokens, memory, mask, memory_mask, need_weights=need_weights)
            all_weights.append(tuple(weights))
        return self.norm(tokens), all_weights if need_weights else None
