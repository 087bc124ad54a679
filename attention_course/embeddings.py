"""Tokens from what is not symbols: the patches of an image, the columns of a table.

Lesson: `chapters/vision.ipynb` and `chapters/tables.ipynb`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ImagePatches(nn.Module):
    """One token for each square patch of a grey image (Dosovitskiy et al. 2020, arXiv:2010.11929).

    Args:
        patch_size: Side of a patch in pixels.
        d_model: Width of the tokens.
    """

    def __init__(self, patch_size: int, d_model: int):
        super().__init__()
        self.patch_size = patch_size
        self.proj = nn.Linear(patch_size**2, d_model)

    def forward(self, images: Tensor) -> Tensor:
        """Images `(batch, height, width)` to tokens `(batch, n_patches, d_model)`, row by row.

        Raises:
            ValueError: If the patches do not fill the image.
        """
        if images.dim() != 3 or images.size(1) % self.patch_size or images.size(2) % self.patch_size:
            raise ValueError(
                f"images must have shape (batch, height, width), both sides multiples of {self.patch_size}, "
                f"got {tuple(images.shape)}"
            )
        patches = F.unfold(images.unsqueeze(1), self.patch_size, stride=self.patch_size)  # (batch, pixels, n_patches)
        return self.proj(patches.transpose(1, 2))


class FeatureTokens(nn.Module):
    """One token for each column of a table: its number times a learned direction, plus a learned place.

    Gorishniy et al. 2021, arXiv:2106.11959.

    Args:
        n_features: Number of columns.
        d_model: Width of the tokens.
    """

    def __init__(self, n_features: int, d_model: int):
        super().__init__()
        self.direction = nn.Parameter(torch.randn(n_features, d_model) * d_model**-0.5)
        self.place = nn.Parameter(torch.randn(n_features, d_model) * d_model**-0.5)

    def forward(self, features: Tensor) -> Tensor:
        """Numbers `(batch, n_features)` to tokens `(batch, n_features, d_model)`.

        Raises:
            ValueError: If the number of columns is another.
        """
        if features.dim() != 2 or features.size(1) != len(self.direction):
            raise ValueError(f"features must have shape (batch, {len(self.direction)}), got {tuple(features.shape)}")
        return features.unsqueeze(-1) * self.direction + self.place
