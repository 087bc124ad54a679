"""Blocks of a sequence that are equal work under a causal mask.

Cut the sequence in `2 * n_processes` chunks: process `r` gets chunk `r` and chunk `2 * n_processes - 1 - r`, one early
and one late. Llama 3 was trained so (2024, arXiv:2407.21783); Brandon et al. 2023, arXiv:2311.09431, deal out single
tokens instead.

Lesson: `chapters/many_devices.ipynb`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def zigzag_split(tokens: Tensor, n_processes: int, dim: int = -2) -> list[Tensor]:
    """Cut a sequence into one block for each process.

    Args:
        tokens: Any tensor, whose size in `dim` is divisible by `2 * n_processes`.
        n_processes: How many blocks.
        dim: Where the tokens lie.

    Raises:
        ValueError: If the tokens cannot be cut into chunks of one size.
    """
    if n_processes < 1 or tokens.size(dim) % (2 * n_processes):
        raise ValueError(
            f"tokens must have a size in dim {dim} that is divisible by 2 * n_processes, "
            f"got {tokens.size(dim)} and n_processes {n_processes}"
        )
    chunks = tokens.chunk(2 * n_processes, dim)
    return [torch.cat([chunks[rank], chunks[-1 - rank]], dim) for rank in range(n_processes)]


def zigzag_join(blocks: Sequence[Tensor], dim: int = -2) -> Tensor:
    """Put the blocks of `zigzag_split` back in order.

    Args:
        blocks: One from each process, in the order of their ranks.
        dim: Where the tokens lie; each block has an even number.

    Raises:
        ValueError: If the blocks' numbers of tokens differ or are odd.
    """
    sizes = {block.size(dim) for block in blocks}
    if len(sizes) != 1 or sizes.pop() % 2:
        raise ValueError(f"blocks must have one even size in dim {dim}, got {[block.size(dim) for block in blocks]}")
    early, late = zip(*(block.chunk(2, dim) for block in blocks), strict=True)
    return torch.cat([*early, *reversed(late)], dim)


def visible(rank: int, source: int, n_tokens: int) -> tuple[slice, slice, bool]:
    """What queries of one block see of the keys of another under a causal mask.

    Args:
        rank: Whose queries.
        source: Whose keys.
        n_tokens: In a block.

    Returns:
        The queries that see anything; the keys that are seen; and whether the two are the same tokens, of which each
        query sees the keys up to its own. Otherwise they all see all.
    """
    everything, early, late = slice(None), slice(n_tokens // 2), slice(n_tokens // 2, None)
    if source == rank:
        return everything, everything, True
    # The block of a lower rank encloses that of a higher one: its early chunk lies before both of the other's
    # chunks, its late one after both.
    return (everything, early, False) if source < rank else (late, everything, False)
