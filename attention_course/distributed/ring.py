"""Ring attention: blocks of keys and values travel from process to process, the queries stay.

Liu, Zaharia & Abbeel 2023, arXiv:2310.01889. Start the processes with `torchrun`; by the same code gloo carries tensors
between CPUs and NCCL between GPUs.

Lesson: `chapters/many_devices.ipynb`.
"""

from collections.abc import Callable, Iterator

import torch
import torch.distributed as dist
from torch import Tensor

from attention_course.distributed.zigzag import visible
from attention_course.efficient.inputs import validate_weightless
from attention_course.efficient.tiles import attend_block, differentiate_block, merge
from attention_course.mechanism import Mechanism
from attention_course.support.autocast import in_float32


class Ring:
    """The processes of a group, each of which passes tensors on to the next and counts what it sends.

    Args:
        group: The processes; all of them if left out.

    Attributes:
        rank: This process's place in the ring.
        size: Number of processes.
        bytes_sent: By this process so far.

    Raises:
        RuntimeError: If there are no processes to talk to yet.
    """

    def __init__(self, group: dist.ProcessGroup | None = None):
        if not dist.is_initialized():
            raise RuntimeError("call torch.distributed.init_process_group first, in a script that torchrun starts")
        self.group = group or dist.group.WORLD
        self.rank, self.size = dist.get_rank(self.group), dist.get_world_size(self.group)
        self.bytes_sent = 0

    def pass_on(self, *tensors: Tensor) -> Callable[[], list[Tensor]]:
        """Start sending tensors to the next process, and receiving the previous one's of the same shapes.

        Returns:
            A function that waits for those and returns them.
        """
        if self.size == 1:
            return lambda: list(tensors)
        sent = [tensor.contiguous() for tensor in tensors]
        received = [torch.empty_like(tensor) for tensor in sent]
        following, previous = (dist.get_global_rank(self.group, (self.rank + hop) % self.size) for hop in (1, -1))
        sends = [dist.P2POp(dist.isend, tensor, following, self.group) for tensor in sent]
        receipts = [dist.P2POp(dist.irecv, tensor, previous, self.group) for tensor in received]
        transfers = dist.batch_isend_irecv(sends + receipts)
        self.bytes_sent += sum(tensor.nbytes for tensor in sent)

        def receive() -> list[Tensor]:
            for transfer in transfers:
                transfer.wait()
            sent.clear()  # they had to live until now
            return received

        return receive

    def rotate(self, *tensors: Tensor) -> Iterator[tuple]:
        """The rank and the tensors of each process in turn, the own first. The next travel while you use these."""
        for step in range(self.size):
            receive = self.pass_on(*tensors) if step < self.size - 1 else None
            yield (self.rank - step) % self.size, *tensors
            if receive:
                tensors = receive()

    def require_same_shape(self, **blocks: Tensor) -> None:
        """Refuse blocks that are not alike everywhere, for which a process would wait forever.

        Raises:
            ValueError: On every process, with the shapes of all.
        """
        for name, block in blocks.items():
            mine = torch.tensor(block.shape, device=block.device)
            shapes = [torch.empty_like(mine) for _ in range(self.size)]
            dist.all_gather(shapes, mine, group=self.group)
            shapes = [tuple(shape.tolist()) for shape in shapes]
            if len(set(shapes)) > 1:
                raise ValueError(f"{name} must have one shape on all processes, got {shapes}")


class RingAttention(Mechanism):
    """Exact attention of the tokens held here to those of all processes, forward and backward.

    All processes call it together. With `causal`, the tokens of each are its block of `zigzag_split`; without, it does
    not matter how they were dealt out. Processes hold `1 / size` of the tokens, and what they keep for the backward
    pass is as large as that; no process ever has all keys.

    Args:
        causal: Whether a token sees itself and earlier ones only, by their places in the whole sequence.
        group: The processes; all of them if left out.

    Attributes:
        ring: The `Ring`; its `bytes_sent` counts keys, values and their gradients.

    Raises:
        RuntimeError: If there are no processes to talk to yet.
    """

    caches = False

    def __init__(self, *, causal: bool = False, group: dist.ProcessGroup | None = None):
        super().__init__()
        self.causal = causal
        self.ring = Ring(group)

    def __deepcopy__(self, memo: dict) -> "RingAttention":
        """Another, of the same processes: a group of them cannot be copied."""
        return RingAttention(causal=self.causal, group=self.ring.group)

    @in_float32
    def forward(self, query, key, value, mask=None, *, dropout=0.0, need_weights=False):
        """As `scaled_dot_product_attention` of the whole sequence, for the block held here.

        Args:
            query: `(batch, heads, local_tokens, d_k)`; each of the three has one shape on all processes.
            key: `(batch, heads, local_tokens, d_k)`.
            value: `(batch, heads, local_tokens, d_v)`.
            mask: Must be `None`.
            dropout: Must be 0.
            need_weights: Must be `False`.

        Returns:
            The output `(batch, heads, local_tokens, d_v)`, and `None` for the weights.

        Raises:
            TypeError: As `scaled_dot_product_attention`.
            ValueError: As `scaled_dot_product_attention`; if a mask, weights or dropout are asked for; if causal
                blocks have no two halves; on all processes, if a shape is not the same on all.
        """
        validate_weightless(query, key, value, None, dropout=dropout, need_weights=need_weights)
        if mask is not None:
            raise ValueError("mask must be None: no process holds all the keys that it would be about")
        self.ring.require_same_shape(query=query, key=key, value=value)
        if self.causal and (query.size(-2) != key.size(-2) or query.size(-2) % 2):
            raise ValueError(
                "query must have as many tokens as key, and an even number, for causal blocks of two chunks, "
                f"got {query.size(-2)} and {key.size(-2)}"
            )
        return _RingAttention.apply(query, key, value, self), None

    def seen(self, source: int, n_tokens: int) -> tuple[slice, slice, bool]:
        """Which queries here see which keys of another process's block; see `zigzag.visible`."""
        return visible(self.ring.rank, source, n_tokens) if self.causal else (slice(None), slice(None), False)


class _RingAttention(torch.autograd.Function):
    """Keys and values travel in their own dtype; outputs and gradients add up in float32 at least, and travel so."""

    @staticmethod
    def forward(ctx, query, key, value, attention):
        wide = torch.promote_types(query.dtype, torch.float32)
        output = query.new_zeros(*query.shape[:-1], value.size(-1), dtype=wide)
        log_sum = query.new_full((*query.shape[:-1], 1), -torch.inf, dtype=wide)
        for source, keys, values in attention.ring.rotate(key, value):
            rows, columns, diagonal = attention.seen(source, key.size(-2))
            found = attend_block(query[..., rows, :], keys[..., columns, :], values[..., columns, :], causal=diagonal)
            output[..., rows, :], log_sum[..., rows, :] = merge(output[..., rows, :], log_sum[..., rows, :], *found)
        ctx.save_for_backward(query, key, value, output, log_sum)
        ctx.attention = attention
        return output.to(query.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        query, key, value, output, log_sum = ctx.saved_tensors
        ring = ctx.attention.ring
        mean = (grad_output * output).sum(-1, keepdim=True)
        grad_query = torch.zeros_like(query, dtype=output.dtype)
        receive = None
        for source, keys, values in ring.rotate(key, value):
            rows, columns, diagonal = ctx.attention.seen(source, key.size(-2))
            of_queries = (tensor[..., rows, :] for tensor in (grad_output, log_sum, mean))
            grads = differentiate_block(
                query[..., rows, :], keys[..., columns, :], values[..., columns, :], *of_queries, causal=diagonal
            )
            grad_query[..., rows, :] += grads[0]
            # The gradients of this block so far come from the process that had it before, and go where it goes.
            totals = receive() if receive else [torch.zeros_like(each, dtype=output.dtype) for each in (key, value)]
            for total, grad in zip(totals, grads[1:], strict=True):
                total[..., columns, :] += grad
            del grads, grad, total  # the next block's need the room
            receive = ring.pass_on(*totals)
        grads = grad_query, *receive()  # after the last hop they are home
        return *(grad.to(query.dtype) for grad in grads), None
