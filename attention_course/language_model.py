"""A causal language model: a decoder-only Transformer that writes with a cache.

Lesson: `chapters/language_model.ipynb`.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attention_course.kv_cache import KVCache, undone_on_error
from attention_course.mechanism import Pluggable, fresh
from attention_course.support.autocast import wide
from attention_course.support.renamed import FormerlyLogits, renamed
from attention_course.support.validation import validate_whole_number
from attention_course.transformer import Block


class CausalLanguageModel(FormerlyLogits):
    """Predict each next symbol from those before it: a decoder-only Transformer, as GPT is.

    Radford et al. 2018, *Improving Language Understanding by Generative Pre-Training*.

    Args:
        vocab_size: Size of the vocabulary.
        d_model: Width of the tokens.
        n_heads: Number of query heads in each block.
        n_layers: Number of blocks.
        n_kv_heads: Number of key-value heads; `n_heads` if left out.
        positions: A module that adds positions to the tokens, `positions(tokens, start)`.
        attention: As for `Block`; each block gets its own, `fresh`. One without `caches`, such as
            `LinearAttention(causal=True)`, works on whole sequences.
    """

    @renamed(n_symbols="vocab_size")
    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        *,
        n_kv_heads: int | None = None,
        positions: nn.Module | None = None,
        attention: Pluggable | Callable | None = None,
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = positions
        self.blocks = nn.ModuleList(
            Block(d_model, n_heads, n_kv_heads, attention=fresh(attention)) for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size)

    def forward(
        self,
        symbols: Tensor,
        mask: Tensor | None = None,
        *,
        causal: bool = True,
        need_weights: bool = False,
        caches: list[KVCache] | None = None,
    ) -> tuple[Tensor, list[Tensor] | None]:
        """Score the next symbol after each of the given ones.

        Args:
            symbols: Integers below `vocab_size`, `(batch, n_tokens)`.
            mask: Boolean, `True` = may attend; what it hides is hidden besides the future, as padding is.
            causal: Whether a symbol sees itself and earlier ones only. `False` shows the future, which no language
                model may see, unless the mechanism is `causal` itself.
            need_weights: Whether to return the weights of every block.
            caches: One for each block, from `new_caches`, holding the symbols before these. This call's are added.

        Returns:
            Logits `(batch, n_tokens, vocab_size)`, and for each block the weights
            `(batch, n_heads, n_tokens, n_keys)`, or `None`.

        Raises:
            ValueError: If caches come to a mechanism that works on whole sequences, or there are not as many as
                blocks. The caches then hold what they held before.
        """
        if caches is not None and len(caches) != len(self.blocks):
            raise ValueError(f"caches must be one for each of {len(self.blocks)} blocks, got {len(caches)}")
        tokens = self.embedding(symbols)  # (batch, n_tokens, d_model)
        if self.positions is not None:
            tokens = self.positions(tokens, 0 if caches is None else len(caches[0]))
        all_weights = []
        caches = [None] * len(self.blocks) if caches is None else caches
        with undone_on_error(*caches):
            for block, cache in zip(self.blocks, caches, strict=True):
                tokens, weights = block(tokens, mask, causal=causal, need_weights=need_weights, cache=cache)
                all_weights.append(weights)
        return self.lm_head(self.norm(tokens)), all_weights if need_weights else None

    def new_caches(self) -> list[KVCache]:
        """An empty cache for each block, of the kind that its attention keeps."""
        return [block.attention.cache() for block in self.blocks]

    @torch.no_grad()
    def generate(
        self,
        prompt: Tensor,
        n_tokens: int,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        use_cache: bool = True,
    ) -> Tensor:
        """Continue a prompt, one symbol at a time, each drawn from the model's distribution.

        Args:
            prompt: Integers `(batch, n_prompt)`, at least one a sequence.
            n_tokens: How many to write, 0 or more.
            temperature: Divides the logits; 0 takes the likeliest symbol.
            generator: Source of randomness (on the CPU).
            use_cache: Whether to keep keys and values, or to compute them anew for each symbol.

        Returns:
            The prompt and what follows: `(batch, n_prompt + n_tokens)`.

        Raises:
            ValueError: If the prompt is empty, `n_tokens` is no whole number of 0 or more, the temperature is
                negative, or a cache is to be used with a mechanism that works on whole sequences.
        """
        if prompt.dim() != 2 or prompt.size(1) == 0:
            raise ValueError(f"prompt must have shape (batch, n_prompt), n_prompt 1 or more, got {tuple(prompt.shape)}")
        validate_whole_number("n_tokens", n_tokens, at_least=0)
        if not temperature >= 0:
            raise ValueError(f"temperature must be 0 or more, got {temperature}")
        caches = self.new_caches() if use_cache else None
        symbols = unread = prompt
        for _ in range(n_tokens):
            logits, _ = self(unread, caches=caches)
            newest = _draw(logits[:, -1], temperature, generator)  # (batch, 1)
            symbols = torch.cat([symbols, newest], dim=1)
            unread = newest if use_cache else symbols
        return symbols


def _draw(logits: Tensor, temperature: float, generator: torch.Generator | None) -> Tensor:
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    # Below the largest, none can overflow however low the temperature, which must not round to 0 itself.
    below = wide(logits - logits.amax(-1, keepdim=True))
    probabilities = (below / max(temperature, torch.finfo(below.dtype).tiny)).softmax(-1)
    return torch.multinomial(probabilities.cpu(), 1, generator=generator).to(logits.device)
