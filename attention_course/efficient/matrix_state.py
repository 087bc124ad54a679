r"""What layers share that remember in one matrix a head: each token fades it and writes into it, and a query reads it.

.. math:: S_t = \text{what is kept of } S_{t-1} + k_t u_t^\top, \qquad o_t = S_t^\top q_t

The layers differ in what they keep and in what they write: see `retention`, `gated_linear` and `gated_delta`. Each
works through a sequence in chunks. Within one, tokens see each other through a small matrix, as in attention; what
came before reaches them through the state (Hua et al. 2022, arXiv:2202.10447; Sun et al. 2023, arXiv:2307.08621).

Lesson: `chapters/states.ipynb`.
"""

import torch
from torch import Tensor, nn

from attention_course.efficient.inputs import hide, validate_self_attention, validate_weightless
from attention_course.mechanism import AttentionLayer
from attention_course.support.autocast import in_float32, wide
from attention_course.support.validation import validate_mask


class StateCache:
    """What decoding keeps of all tokens so far: one matrix a head, of the same size whatever their number.

    It holds numbers and no history: gradients end at the call that wrote them.

    Attributes:
        state: `(batch, n_heads, d_head, d_head)`, in float32 at least; `None` while empty.
    """

    def __init__(self):
        self._n_tokens = 0
        self.state = None

    def __len__(self) -> int:
        """Number of tokens seen so far."""
        return self._n_tokens

    @property
    def nbytes(self) -> int:
        """Bytes of the state; 0 while empty."""
        return 0 if self.state is None else self.state.nbytes

    def before(self, tokens: Tensor) -> Tensor:
        """The state that new tokens, `(batch, n_heads, n_tokens, d_head)`, find: zeros while empty.

        Raises:
            TypeError: If their dtype or device is not the one that the state is kept for.
            ValueError: If their batch, heads or width are others than the state's.
        """
        new = wide(tokens[..., :0, :]).new_zeros(*tokens.shape[:2], tokens.size(-1), tokens.size(-1))
        if self.state is None:
            return new
        if (self.state.dtype, self.state.device) != (new.dtype, new.device):
            raise TypeError(
                f"cache must hold a state in {new.dtype} on {new.device}, "
                f"got one in {self.state.dtype} on {self.state.device}"
            )
        if self.state.shape != new.shape:
            raise ValueError(
                f"cache must hold a state of shape {tuple(new.shape)}, got one of {tuple(self.state.shape)}"
            )
        return self.state

    def update(self, state: Tensor, n_tokens: int) -> None:
        """Put the state after `n_tokens` further tokens in the place of the last."""
        self.state = state.detach()
        self._n_tokens += n_tokens

    def select(self, rows: Tensor) -> None:
        """Go on with these rows of the batch, in this order, each as often as it is named: what beam search does.

        Args:
            rows: Integers `(n_rows,)`.

        Raises:
            IndexError: If there is no such row. The cache then holds what it held before.
            ValueError: If the cache is empty.
        """
        if self.state is None:
            raise ValueError("the cache must hold tokens before rows are selected, got an empty one")
        self.state = self.state[rows]


class MatrixStateLayer(AttentionLayer):
    """A drop-in for `MultiHeadAttention` that is causal by nature: a token reads itself and earlier ones, in any block.

    All layers that are built on it are alike but for their gates and what they write. Each has the four projections of
    `MultiHeadAttention`, without biases, divides queries by the root of their width as attention does, and has nothing
    else of what the papers' layers have besides: no short convolutions, no norm of what a head reads, no gate on the
    output.

    Args:
        d_model: Width of the tokens.
        n_heads: Number of heads; divides `d_model`.

    Attributes:
        chunk_size: Tokens that see each other through a matrix of their pairs.
    """

    chunk_size = 64

    def __init__(self, d_model: int, n_heads: int):
        super().__init__(d_model, n_heads)
        self.query_proj = nn.Linear(d_model, d_model, bias=False)
        self.key_proj = nn.Linear(d_model, d_model, bias=False)
        self.value_proj = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def gates(self, tokens: Tensor) -> list[Tensor]:
        """The gates computed from tokens, `(batch, n_tokens, d_model)`, in the order in which `chunk` takes them.

        Each is `(batch, n_heads, n_tokens, ...)`, in float32 at least, and of a kind that does nothing where it is 0: a
        logarithm of what is kept, or the strength with which something is written.
        """
        raise NotImplementedError

    @staticmethod
    def chunk(query: Tensor, key: Tensor, value: Tensor, *gates_and_state: Tensor) -> tuple[Tensor, Tensor]:
        """Work through a few tokens at once.

        Args:
            query: `(batch, n_heads, n_tokens, d_head)`.
            key: Of the same shape.
            value: Of the same shape.
            gates_and_state: The `gates`, and the state before, `(batch, n_heads, d_head, d_head)`.

        Returns:
            What the queries read, `(batch, n_heads, n_tokens, d_head)`, and the state after.
        """
        raise NotImplementedError

    def cache(self) -> StateCache:
        """An empty cache for this layer."""
        return StateCache()

    def forward(
        self,
        query: Tensor,
        key: Tensor | None = None,
        value: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
        need_weights: bool = False,
        cache: StateCache | None = None,
    ) -> tuple[Tensor, None]:
        """Write each token's value at its key, and read with its query.

        Args:
            query: `(batch, n_tokens, d_model)`.
            key: Of the same tokens; the query if left out. The gates are computed from it, too.
            value: Of the same tokens; the key if left out.
            mask: Boolean, broadcastable to `(batch, n_heads, 1, n_tokens)`; `False` tokens do not exist: they write
                nothing, and nothing fades for them. With a cache it counts the earlier tokens, too, which have been
                written or not: only the newest tokens' part of it is looked at.
            causal: Changes nothing: the layer is causal whatever a block asks for.
            need_weights: Must be `False`: there are no weights.
            cache: Holds the state after the earlier tokens, from `cache`. This call's tokens are added.

        Returns:
            The output `(batch, n_tokens, d_model)`, zeros where nothing has been seen, and `None`.

        Raises:
            TypeError: If the mask is not boolean, or the cache is of another kind or dtype.
            ValueError: If a shape does not fit, `value` comes without `key`, weights are asked for, or the mask is not
                the same for all queries. The cache then holds what it held before.
        """
        query, key, value = self.complete(query, key, value)
        validate_self_attention(query[:, None], key[:, None])
        if not isinstance(cache, StateCache | None):
            raise TypeError(f"cache must come from the layer's own cache(), got a {type(cache).__name__}")
        cache = self.cache() if cache is None else cache

        q, k, v = map(self._split, (self.query_proj(query), self.key_proj(key), self.value_proj(value)))
        n_tokens = query.size(1)
        if mask is not None:
            validate_mask(mask, (*q.shape[:-1], len(cache) + n_tokens))
            mask = mask[..., len(cache) :] if mask.dim() and mask.size(-1) > 1 else mask
        validate_weightless(q, k, v, mask, dropout=0.0, need_weights=need_weights)
        heads, state = self._read(q, k, v, key, mask, cache.before(q))
        output = self.out_proj(heads.transpose(1, 2).flatten(-2))
        cache.update(state, n_tokens)
        return output, None

    @in_float32
    def _read(self, query, key, value, tokens, mask, state):
        if query.size(-2) == 0:  # no chunk to work through
            return query, state
        asked = wide(query) * self.d_head**-0.5
        written = [hide(each, mask) for each in (wide(key), wide(value), *self.gates(tokens))]
        found = []
        # split, not slices: the gradient of a slice is as long as what it was cut from.
        for piece in zip(*(each.split(self.chunk_size, dim=-2) for each in (asked, *written)), strict=True):
            read, state = self.chunk(*piece, state)
            found.append(read)
        return torch.cat(found, dim=-2).to(query.dtype), state

    def _split(self, tokens: Tensor) -> Tensor:
        """`(batch, tokens, n_heads * d)` to `(batch, n_heads, tokens, d)`."""
        return tokens.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, n_heads={self.n_heads}"


def fading(log_gate: Tensor) -> Tensor:
    """How much of what each token wrote is left at each later one: the product of the gates between the two.

    Args:
        log_gate: Logarithms of gates, `(..., n_tokens, features)`, 0 or below.

    Returns:
        `(..., n_tokens, n_tokens, features)`: for token j at token i the product of the gates of j + 1 to i; 1 where
        j is i, and 0 where j comes later.
    """
    # Each sum on its own. A quotient of two running products would be 0 / 0 where both underflow, and a difference of
    # two running sums of logarithms would keep no digits of those that follow a gate near 0.
    i_by_j = log_gate.size(-2), log_gate.size(-2)
    upto = torch.ones(i_by_j, dtype=torch.bool, device=log_gate.device).tril().unsqueeze(-1)  # j <= i
    steps = log_gate.unsqueeze(-2).expand(*log_gate.shape[:-1], *log_gate.shape[-2:])
    between = steps.masked_fill(upto.transpose(0, 1), 0.0).cumsum(-3)  # token j's own gate is not between
    return between.masked_fill(~upto, -torch.inf).exp()
