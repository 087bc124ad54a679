"""A Transformer that reads one sequence and writes another (Vaswani et al. 2017, arXiv:1706.03762).

Lesson: `chapters/cross_attention.ipynb`.
"""

import torch
from torch import Tensor, nn

from attention_course.masks import causal_mask
from attention_course.positions import SinusoidalPositions
from attention_course.support.renamed import FormerlyLogits, renamed
from attention_course.support.validation import validate_whole_number
from attention_course.transformer import Decoder, Encoder


class EncoderDecoder(FormerlyLogits):
    """Encode the source once, then predict each target symbol from it and from the symbols before.

    Args:
        vocab_size: Size of the vocabulary, shared by source and target.
        d_model: Width of the tokens; even.
        n_heads: Number of heads of each attention.
        n_layers: Number of encoder blocks, and of decoder blocks.
        pad: The symbol that fills up short sources; nobody attends to it. `None` if there is none.
        embed_source: Makes tokens `(batch, n_source, d_model)` of a source that is not symbols, such as an image;
            the embedding of the symbols if left out.
        norm_first: Pre-norm blocks; `False` is post-norm.
        dropout: As for `Block`.

    Raises:
        ValueError: If both `pad` and `embed_source` are given.
    """

    @renamed(n_symbols="vocab_size")
    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        *,
        pad: int | None = None,
        embed_source: nn.Module | None = None,
        norm_first: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__()
        if pad is not None and embed_source is not None:
            raise ValueError(f"pad must be None with embed_source, whose sources are no symbols, got {pad}")
        self.start_symbol = vocab_size
        self.pad = pad
        self.embedding = nn.Embedding(vocab_size + 1, d_model)
        self.embed_source = self.embedding if embed_source is None else embed_source
        self.positions = SinusoidalPositions(d_model)
        self.encoder = Encoder(d_model, n_heads, n_layers, norm_first=norm_first, dropout=dropout)
        self.decoder = Decoder(d_model, n_heads, n_layers, norm_first=norm_first, dropout=dropout)
        self.lm_head = nn.Linear(d_model, vocab_size)

    def forward(
        self, source: Tensor, target: Tensor, *, need_weights: bool = False
    ) -> tuple[Tensor, list[Tensor] | None]:
        """Predict each target symbol from the source and the true symbols before it.

        Args:
            source: Integers `(batch, n_source)`, or what `embed_source` reads.
            target: Integers `(batch, n_target)`.
            need_weights: Whether to return the weights of cross-attention.

        Returns:
            Logits `(batch, n_target, vocab_size)`, and for each decoder block the cross-attention weights
            `(batch, n_heads, n_target, n_source)`, or `None`.
        """
        start = target.new_full((len(target), 1), self.start_symbol)
        previous = torch.cat([start, target], dim=1)[:, :-1]
        return self.decode(previous, *self.encode(source), need_weights=need_weights)

    @torch.no_grad()
    def generate(self, source: Tensor, n_symbols: int) -> Tensor:
        """Write `n_symbols` symbols, each the likeliest after the model's own earlier ones (greedy decoding).

        Args:
            source: As for `forward`.
            n_symbols: How many to write, 0 or more.

        Returns:
            Symbols `(batch, n_symbols)`.

        Raises:
            ValueError: If `n_symbols` is no whole number of 0 or more.
        """
        validate_whole_number("n_symbols", n_symbols, at_least=0)
        memory, memory_mask = self.encode(source)
        written = torch.full((len(source), 1), self.start_symbol, device=memory.device)
        for _ in range(n_symbols):
            logits, _ = self.decode(written, memory, memory_mask)
            written = torch.cat([written, logits[:, -1:].argmax(-1)], dim=1)
        return written[:, 1:]

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor | None]:
        """Read the source.

        Args:
            source: As for `forward`.

        Returns:
            The memory `(batch, n_source, d_model)`, and its mask `(batch, 1, 1, n_source)`, `True` where the source
            is no padding, or `None`.
        """
        mask = None if self.pad is None else (source != self.pad)[:, None, None, :]
        memory, _ = self.encoder(self.positions(self.embed_source(source)), mask)
        return memory, mask

    def decode(
        self, previous: Tensor, memory: Tensor, memory_mask: Tensor | None = None, *, need_weights: bool = False
    ) -> tuple[Tensor, list[Tensor] | None]:
        """Score the symbol that follows each of the previous ones, the first of which is `start_symbol`.

        Args:
            previous: Integers `(batch, n_previous)`.
            memory: From `encode`.
            memory_mask: From `encode`.
            need_weights: As for `forward`.

        Returns:
            As for `forward`, with `n_previous` in place of `n_target`.
        """
        mask = causal_mask(previous.size(1), device=previous.device)
        tokens, weights = self.decoder(
            self.positions(self.embedding(previous)), memory, mask, memory_mask, need_weights=need_weights
        )
        return self.lm_head(tokens), [cross for _, cross in weights] if need_weights else None
