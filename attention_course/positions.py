"""Ways to tell attention where tokens stand: added to the tokens, or built into the scores.

`SinusoidalPositions` and `LearnedPositions` are added to the tokens before the first layer. The others are
attention mechanisms that plug into `MultiHeadAttention(attention=...)`. Positions count from 0 at the first
key, and queries are the newest tokens: the last query stands where the last key does, as in `causal_mask`.

Lesson: `chapters/positions.ipynb`.
"""

import torch
from torch import Tensor, nn

from attention_course.attention import scaled_dot_product_attention
from attention_course.mechanism import Mechanism
from attention_course.support.autocast import wide

BASE = 10_000.0  # of sines and cosines in Vaswani et al. 2017, and of the angles of RoPE, which took it over


def sinusoidal_encoding(n_positions: int, d_model: int, *, base: float = BASE, device=None) -> Tensor:
    r"""One vector a position: sines and cosines of wavelengths from 2π to about 2π · base.

    .. math:: p_{t, 2i} = \sin(t\,\omega_i), \quad p_{t, 2i+1} = \cos(t\,\omega_i),
              \quad \omega_i = \text{base}^{-2i/d_\text{model}}

    Vaswani et al. 2017, arXiv:1706.03762.

    Args:
        n_positions: How many positions, from 0.
        d_model: Width of the vectors; even.
        base: Sets the longest wavelength.
        device: Where to put them.

    Returns:
        `(n_positions, d_model)` in float32.

    Raises:
        ValueError: If `d_model` is odd.
    """
    return _sinusoids(torch.arange(n_positions, device=device), d_model, base, torch.float32)


class SinusoidalPositions(nn.Module):
    """Add `sinusoidal_encoding` to the tokens. Nothing is learned, and no length is too long.

    Args:
        d_model: Width of the tokens; even.
        base: Sets the longest wavelength.
    """

    def __init__(self, d_model: int, *, base: float = BASE):
        super().__init__()
        self.d_model, self.base = d_model, base

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """`tokens` `(batch, n_tokens, d_model)`, the first of which stands at position `start`."""
        position = torch.arange(start, start + tokens.size(1), device=tokens.device)
        return tokens + _sinusoids(position, self.d_model, self.base, wide(tokens).dtype).to(tokens.dtype)


class LearnedPositions(nn.Module):
    """Add a learned vector for each position (Gehring et al. 2017, arXiv:1705.03122).

    Args:
        max_positions: How many positions have a vector. A longer sequence is an error.
        d_model: Width of the tokens.
    """

    def __init__(self, max_positions: int, d_model: int):
        super().__init__()
        self.embedding = nn.Embedding(max_positions, d_model)

    def forward(self, tokens: Tensor, start: int = 0) -> Tensor:
        """`tokens` `(batch, n_tokens, d_model)`, the first of which stands at position `start`.

        Raises:
            ValueError: If a token stands beyond the last position that has a vector.
        """
        end = start + tokens.size(1)
        if end > self.embedding.num_embeddings:
            raise ValueError(f"tokens must end within max_positions = {self.embedding.num_embeddings}, got {end}")
        return tokens + self.embedding.weight[start:end]


class ShawAttention(Mechanism):
    r"""Scores with a learned vector for each offset (Shaw et al. 2018, arXiv:1803.02155).

    .. math:: \text{score}_{ij} = \frac{q_i \cdot (k_j + a_{j-i})}{\sqrt{d_k}}

    Offsets beyond `max_distance` to either side share the outermost vector. The heads share all of them, as in the
    paper; its second set of vectors, added to the values, is left out: the paper finds that the first suffices.

    Args:
        d_head: Width of a head's queries and keys.
        max_distance: Largest distance, in positions and to either side, with a vector of its own.
    """

    def __init__(self, d_head: int, max_distance: int):
        super().__init__()
        self.max_distance = max_distance
        self.embedding = nn.Embedding(2 * max_distance + 1, d_head)
        self.redraw()

    def redraw(self) -> None:
        """Draw new vectors."""
        nn.init.normal_(self.embedding.weight, std=self.embedding.embedding_dim**-0.5)

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(batch, heads, tokens, d_head)`."""
        query_position, key_position = positions_of(query, key)
        offset = key_position - query_position[:, None]  # (n_queries, n_keys)
        index = offset.clamp(-self.max_distance, self.max_distance) + self.max_distance
        by_offset = query * query.size(-1) ** -0.5 @ self.embedding.weight.T  # (..., n_queries, 2 max_distance + 1)
        bias = by_offset.gather(-1, index.expand(*by_offset.shape[:-1], -1)).to(query.dtype)  # (..., n_queries, n_keys)
        return scaled_dot_product_attention(
            query, key, value, mask, bias=bias, dropout=dropout, need_weights=need_weights
        )


def rotate(tokens: Tensor, position: Tensor, *, base: float = BASE) -> Tensor:
    r"""Turn each pair of neighbouring features by an angle proportional to the token's position.

    .. math:: (x_{2i}, x_{2i+1}) \mapsto
              (x_{2i}\cos\varphi - x_{2i+1}\sin\varphi,\; x_{2i}\sin\varphi + x_{2i+1}\cos\varphi),
              \quad \varphi = \text{position} \cdot \text{base}^{-2i/d_\text{head}}

    Args:
        tokens: `(..., n_tokens, d_head)` with `d_head` even.
        position: `(n_tokens,)`, where each stands.
        base: Sets the slowest turn.

    Raises:
        ValueError: If `d_head` is odd.
    """
    # In half precision the sine of a late position would be off, and so would all that is turned by it.
    features = wide(tokens)
    angle = _angles(position, tokens.size(-1), base, features.dtype, "d_head")  # (n_tokens, d_head / 2)
    even, odd = features[..., 0::2], features[..., 1::2]
    turned = torch.stack([even * angle.cos() - odd * angle.sin(), even * angle.sin() + odd * angle.cos()], dim=-1)
    return turned.flatten(-2).to(tokens.dtype)


class RotaryAttention(Mechanism):
    """Rotate queries and keys by their positions, which then enter scores by their offset, with its sign, alone (RoPE).

    Su et al. 2021, arXiv:2104.09864, which pairs neighbouring features as we do, and so does Meta's code for Llama.
    (GPT-NeoX and Hugging Face's Llama pair feature i with i + d_head / 2: the same up to an order of the features,
    so weights carry over only with that order changed.)

    Args:
        base: Sets the slowest turn.
    """

    def __init__(self, *, base: float = BASE):
        super().__init__()
        self.base = base

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(..., tokens, d_head)` with `d_head` even."""
        query_position, key_position = positions_of(query, key)
        query = rotate(query, query_position, base=self.base)
        key = rotate(key, key_position, base=self.base)
        return scaled_dot_product_attention(query, key, value, mask, dropout=dropout, need_weights=need_weights)


def alibi_slopes(n_heads: int, *, device=None, dtype: torch.dtype = torch.float32) -> Tensor:
    """How much each head's score falls with a step of distance: `2 ** (-8 h / n_heads)` for head h = 1 … n_heads.

    The paper's formula. Its published code takes other slopes where `n_heads` is no power of two.
    """
    head = torch.arange(1, n_heads + 1, device=device, dtype=dtype)
    return 2.0 ** (-8 * head / n_heads)


class ALiBiAttention(Mechanism):
    r"""Subtract from each score a multiple of the distance (Press et al. 2021, arXiv:2108.12409).

    .. math:: \text{score}_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_k}} - m_h\,|i - j|

    with a fixed slope :math:`m_h` a head, `alibi_slopes`. The paper treats causal attention; without a mask the
    distance counts to both sides.
    """

    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention`, on `(batch, heads, tokens, d_head)`.

        Raises:
            ValueError: If there is no dimension of heads, whose slopes differ.
        """
        if query.dim() != 4:
            raise ValueError(f"query must have shape (batch, heads, tokens, d_head), got {tuple(query.shape)}")
        query_position, key_position = positions_of(query, key)
        distance = (query_position[:, None] - key_position).abs()  # (n_queries, n_keys)
        slopes = alibi_slopes(query.size(-3), device=query.device, dtype=wide(query).dtype)[:, None, None]
        bias = (-slopes * distance).to(query.dtype)  # (heads, n_queries, n_keys)
        return scaled_dot_product_attention(
            query, key, value, mask, bias=bias, dropout=dropout, need_weights=need_weights
        )


def _sinusoids(position: Tensor, d_model: int, base: float, dtype: torch.dtype) -> Tensor:
    """`sinusoidal_encoding` of these positions."""
    angle = _angles(position, d_model, base, dtype, "d_model")
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def _angles(position: Tensor, width: int, base: float, dtype: torch.dtype, name: str) -> Tensor:
    """The angle of each position in each pair of features: `(n_positions, width / 2)`."""
    if width % 2:
        raise ValueError(f"{name} must be even (features turn in pairs), got {width}")
    frequency = base ** -(torch.arange(0, width, 2, device=position.device, dtype=dtype) / width)
    return position[:, None] * frequency


def positions_of(query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    """Where queries and keys stand, `(n_queries,)` and `(n_keys,)`: the queries are the newest tokens."""
    n_queries, n_keys = query.size(-2), key.size(-2)
    if n_keys < n_queries:
        raise ValueError(f"key must hold at least as many tokens as query, {n_queries}, got {n_keys}")
    position = torch.arange(n_keys, device=key.device)
    return position[n_keys - n_queries :], position
