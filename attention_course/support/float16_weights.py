"""The parameters of a small model as 16-bit floats in text: for a file, and for a reader's browser."""

import base64
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn


def pack(model: nn.Module) -> dict:
    """All parameters, rounded to 16 bits.

    Args:
        model: None of its parameters may be beyond what 16 bits hold.

    Returns:
        `{"weights": ..., "shapes": ...}`: the numbers one behind the other in base64, little-endian, and
        `[name, rows, columns]` for each parameter in that order; a vector is one row.

    Raises:
        ValueError: If a parameter is not finite in 16 bits.
    """
    return pack_matrices(model.state_dict())


def pack_matrices(parameters: Mapping[str, Tensor]) -> dict:
    """The same of parameters by their names, vectors and matrices."""
    matrices = {name: np.atleast_2d(value.detach().cpu().numpy()) for name, value in parameters.items()}
    with np.errstate(over="ignore"):
        flat = np.concatenate([matrix.ravel() for matrix in matrices.values()]).astype("<f2")
    if not np.isfinite(flat).all():
        raise ValueError(f"model must have parameters below 65,520, got {(~np.isfinite(flat)).sum()} that are not")
    shapes = [[name, *matrix.shape] for name, matrix in matrices.items()]
    return {"weights": base64.b64encode(flat.tobytes()).decode(), "shapes": shapes}


def unpack(packed: dict, model: nn.Module) -> None:
    """Give a model the parameters that `pack` made of one of its kind.

    Args:
        packed: From `pack`; what else it holds is ignored.
        model: Changed in place. Its parameters keep their dtype and device.

    Raises:
        ValueError: If they are another model's. Nothing is changed then.
    """
    parameters = model.state_dict()
    wanted = [[name, *torch.atleast_2d(value).shape] for name, value in parameters.items()]
    if packed["shapes"] != wanted:
        raise ValueError(f"packed must hold the model's parameters {wanted}, got {packed['shapes']}")
    flat = torch.from_numpy(np.frombuffer(base64.b64decode(packed["weights"]), "<f2").astype(np.float64))
    pieces = flat.split([value.numel() for value in parameters.values()])
    model.load_state_dict(
        {name: piece.view_as(value) for piece, (name, value) in zip(pieces, parameters.items(), strict=True)}
    )
