"""A recurrent encoder-decoder: with one vector between its halves, or with attention.

Lesson: `chapters/bottleneck.ipynb`.
"""

import torch
from torch import Tensor, nn

from attention_course.scores import AdditiveAttention, LuongAttention
from attention_course.support.renamed import FormerlyLogits, renamed
from attention_course.support.validation import validate_whole_number


class GRUEncoderDecoder(FormerlyLogits):
    """Read a sequence with one GRU, write another with a second one.

    What lies between the two is the point of the class:

    - `attention=None`: the encoder's last state, one vector for the whole source, is all the
      decoder gets (Cho et al. 2014, arXiv:1406.1078).
    - `"additive"`: before each step the decoder's state attends to all encoder states, and what
      it finds enters the step (Bahdanau et al. 2014, arXiv:1409.0473).
    - `"dot"`, `"general"`, `"concat"`: after each step the new state attends, and what it finds
      enters the prediction only (Luong et al. 2015, arXiv:1508.04025, without input feeding).

    Args:
        vocab_size: Size of the vocabulary, shared by source and target.
        d_hidden: Width of embeddings and states; even, as each encoder direction has half of it.
        attention: One of the above.

    Raises:
        ValueError: If `d_hidden` is odd or `attention` is none of the above.
    """

    @renamed(n_symbols="vocab_size")
    def __init__(self, vocab_size: int, d_hidden: int, attention: str | None = None):
        super().__init__()
        if d_hidden % 2:
            raise ValueError(f"d_hidden must be even, got {d_hidden}")
        if attention not in (None, "additive", "dot", "general", "concat"):
            raise ValueError(f"attention must be None, 'additive', 'dot', 'general' or 'concat', got {attention!r}")
        self.start_symbol = vocab_size
        self.embedding = nn.Embedding(vocab_size + 1, d_hidden)
        self.encoder = nn.GRU(d_hidden, d_hidden // 2, bidirectional=True, batch_first=True)
        self.bridge = nn.Linear(d_hidden, d_hidden)
        if attention == "additive":
            self.attention = AdditiveAttention(d_hidden, d_hidden, d_hidden)
        elif attention is not None:
            self.attention = LuongAttention(d_hidden, d_hidden, attention)
        else:
            self.attention = None
        self.context_enters_step = attention in (None, "additive")
        d_input = 2 * d_hidden if self.context_enters_step else d_hidden
        self.decoder = nn.GRU(d_input, d_hidden, batch_first=True)
        self.readout = nn.Linear(2 * d_hidden, d_hidden)
        self.lm_head = nn.Linear(d_hidden, vocab_size)

    def forward(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor | None]:
        """Predict each target symbol from the source and the true symbols before it.

        Args:
            source: Integers `(batch, n_source)`.
            target: Integers `(batch, n_target)`, at least one a sequence.

        Returns:
            Logits `(batch, n_target, vocab_size)`, and the attention weights
            `(batch, n_target, n_source)` or `None`.

        Raises:
            ValueError: If the target is empty.
        """
        if target.size(1) == 0:
            raise ValueError(f"target must hold at least one symbol a sequence, got {tuple(target.shape)}")
        memory, summary, state = self.encode(source)
        start = source.new_full((len(source), 1), self.start_symbol)
        previous = torch.cat([start, target[:, :-1]], dim=1)
        logits, weights, _ = self._decode(previous, memory, summary, state)
        return logits, weights

    @torch.no_grad()
    def generate(self, source: Tensor, n_symbols: int) -> tuple[Tensor, Tensor | None]:
        """Write `n_symbols` symbols, each the likeliest after the model's own earlier ones.

        Args:
            source: Integers `(batch, n_source)`.
            n_symbols: How many to write, 1 or more.

        Returns:
            Symbols `(batch, n_symbols)`, and the attention weights `(batch, n_symbols, n_source)`
            or `None`.

        Raises:
            ValueError: If `n_symbols` is no whole number of 1 or more.
        """
        validate_whole_number("n_symbols", n_symbols, at_least=1)
        memory, summary, state = self.encode(source)
        symbol = source.new_full((len(source), 1), self.start_symbol)
        symbols, weights = [], []
        for _ in range(n_symbols):
            logits, step_weights, state = self._decode(symbol, memory, summary, state)
            symbol = logits.argmax(-1)
            symbols.append(symbol)
            weights.append(step_weights)
        return torch.cat(symbols, 1), None if self.attention is None else torch.cat(weights, 1)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Read the source.

        Args:
            source: Integers `(batch, n_source)`.

        Returns:
            All encoder states `(batch, n_source, d_hidden)`, the last state of both directions
            joined into one vector `(batch, 1, d_hidden)`, and the decoder's first state
            `(1, batch, d_hidden)`.
        """
        memory, last = self.encoder(self.embedding(source))
        summary = torch.cat([last[0], last[1]], dim=-1).unsqueeze(1)
        return memory, summary, self.bridge(summary).tanh().transpose(0, 1).contiguous()

    def _decode(self, previous, memory, summary, state):
        """Continue after the `previous` symbols: their logits, weights and the new state."""
        inputs = self.embedding(previous)
        if isinstance(self.attention, AdditiveAttention):
            states, context, weights, state = self._attend_then_step(inputs, memory, state)
        elif self.attention is not None:
            states, state = self.decoder(inputs, state)
            context, weights = self.attention(states, memory, memory)
        else:
            context, weights = summary.expand_as(inputs), None
            states, state = self.decoder(torch.cat([inputs, context], -1), state)
        hidden = self.readout(torch.cat([states, context], -1)).tanh()
        return self.lm_head(hidden), weights, state

    def _attend_then_step(self, inputs, memory, state):
        # Each step needs the last one's state before it can attend: this loop cannot be batched.
        projected_memory = self.attention.key_proj(memory)
        states, contexts, weights = [], [], []
        for step_input in inputs.split(1, dim=1):
            context, step_weights = self.attention(
                state.transpose(0, 1), memory, memory, projected_key=projected_memory
            )
            step_state, state = self.decoder(torch.cat([step_input, context], -1), state)
            states.append(step_state)
            contexts.append(context)
            weights.append(step_weights)
        return torch.cat(states, 1), torch.cat(contexts, 1), torch.cat(weights, 1), state
