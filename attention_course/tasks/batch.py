"""What the batches of all tasks have in common."""

from dataclasses import fields
from typing import Self


class Batch:
    """A dataclass of tensors, the examples along the first dimension of each; a task that differs says so."""

    def to(self, device) -> Self:
        """The same batch on another device."""
        return type(self)(*(tensor.to(device) for tensor in self._tensors()))

    def __getitem__(self, rows) -> Self:
        """Some of the examples: a slice, a mask, or a tensor of indices."""
        return type(self)(*(tensor[rows] for tensor in self._tensors()))

    def __len__(self) -> int:
        return len(self._tensors()[0])

    def _tensors(self) -> list:
        return [getattr(self, field.name) for field in fields(self)]
