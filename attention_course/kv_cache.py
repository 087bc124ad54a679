"""The keys and values that decoding keeps, so that each new token computes only its own.

Lesson: `chapters/cache.ipynb`.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


class KVCache:
    """The keys and values of the tokens decoded so far, for one attention layer.

    It is written in place, into memory that doubles when it is full, so that a token costs no copy of those
    before it. That is for decoding: do not differentiate through it.
    """

    def __init__(self):
        self._n_tokens = 0
        self._key = self._value = None  # (batch, n_kv_heads, capacity, d_head)

    def __len__(self) -> int:
        """Number of tokens held."""
        return self._n_tokens

    @property
    def key(self) -> Tensor | None:
        """`(batch, n_kv_heads, n_tokens, d_head)`, or `None` while empty."""
        return None if self._key is None else self._key[..., : self._n_tokens, :]

    @property
    def value(self) -> Tensor | None:
        """`(batch, n_kv_heads, n_tokens, d_head)`, or `None` while empty."""
        return None if self._value is None else self._value[..., : self._n_tokens, :]

    @property
    def nbytes(self) -> int:
        """Bytes of the tokens held, without the memory that is kept for those to come."""
        return 0 if self._key is None else self.key.nbytes + self.value.nbytes

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add the newest tokens' keys and values; return those of all tokens so far.

        Raises:
            TypeError: If their dtype is not that of the tokens held.
            ValueError: If keys and values differ in number, or in anything but their number from the tokens held.
        """
        if key.shape[:-1] != value.shape[:-1]:
            raise ValueError(f"key and value must be as many, got {tuple(key.shape)} and {tuple(value.shape)}")
        for name, held, newest in (("key", self._key, key), ("value", self._value, value)):
            _validate_like(name, held, newest)
        start, end = self._n_tokens, self._n_tokens + key.size(-2)
        if self._key is None or end > self._key.size(-2) or self._is_frozen():
            self._key, self._value = self._grown(self.key, key, 2 * end), self._grown(self.value, value, 2 * end)
        self._key[..., start:end, :], self._value[..., start:end, :] = key, value
        self._n_tokens = end
        return self.key, self.value

    def select(self, rows: Tensor) -> None:
        """Go on with these rows of the batch, in this order, each as often as it is named: what beam search does.

        Args:
            rows: Integers `(n_rows,)`.

        Raises:
            IndexError: If there is no such row. The cache then holds what it held before.
            ValueError: If the cache is empty.
        """
        if self._key is None:
            raise ValueError("the cache must hold tokens before rows are selected, got an empty one")
        self._key, self._value = self._key[rows], self._value[rows]

    def _is_frozen(self) -> bool:
        """Whether the memory was made in `torch.inference_mode`, outside of which nobody may write into it."""
        return self._key.is_inference() and not torch.is_inference_mode_enabled()

    @staticmethod
    def _grown(held: Tensor | None, newest: Tensor, capacity: int) -> Tensor:
        grown = newest.new_empty(*newest.shape[:-2], capacity, newest.size(-1))
        if held is not None:
            grown[..., : held.size(-2), :] = held
        return grown


@contextmanager
def undone_on_error(*caches: KVCache | None) -> Iterator[None]:
    """Forget the tokens that were added to these caches inside, if an exception leaves it."""
    held = [(cache, dict(vars(cache))) for cache in caches if cache is not None]
    try:
        yield
    except BaseException:
        for cache, attributes in held:
            vars(cache).update(attributes)
        raise


def _validate_like(name: str, held: Tensor | None, newest: Tensor) -> None:
    if held is None:
        return
    if newest.dtype != held.dtype or newest.device != held.device:
        raise TypeError(
            f"{name} must have the cache's dtype and device, {held.dtype} on {held.device}, "
            f"got {newest.dtype} on {newest.device}"
        )
    if (newest.shape[:-2], newest.size(-1)) != (held.shape[:-2], held.size(-1)):
        wanted = ", ".join(map(str, (*held.shape[:-2], "tokens", held.size(-1))))
        raise ValueError(f"{name} must have the cache's shape ({wanted}), got {tuple(newest.shape)}")
