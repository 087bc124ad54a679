"""What each process of test_gpu_processes.py does; torchrun starts it as `gpu_processes.py FOLDER`.

By NCCL each process has a device of its own; where there is none, gloo does the same between CPUs.
"""

import json
import os
import sys
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F

from attention_course.distributed import RingAttention, zigzag_split

BACKEND = "nccl" if torch.cuda.is_available() else "gloo"
LOCAL_TOKENS = 520 if BACKEND == "nccl" else 66  # on a device more than a tile of queries, and not a multiple of one
N_HEADS = 4


def chunks(tokens, n_processes):
    return tokens.chunk(n_processes, -2)


class Trade(torch.autograd.Function):
    """Ulysses' exchange of all with all: what is cut in one dimension comes back joined in another."""

    @staticmethod
    def forward(ctx, tokens, cut, join):
        ctx.back = join, cut
        parts = torch.stack(tokens.chunk(dist.get_world_size(), cut))
        received = torch.empty_like(parts)
        dist.all_to_all_single(received, parts)
        return torch.cat(list(received), join)

    @staticmethod
    def backward(ctx, gradient):
        return Trade.apply(gradient, *ctx.back), None, None


def ulysses(query, key, value):
    """Some tokens of all heads become all tokens of some heads, and after attention go back."""
    return Trade.apply(F.scaled_dot_product_attention(*(Trade.apply(each, 1, 2) for each in (query, key, value))), 2, 1)


def compare(attend, split, device, dtype, causal=False) -> list[float]:
    """Errors of output and gradients, relative to their size, against the whole in float64 on the CPU."""
    size, rank = dist.get_world_size(), dist.get_rank()
    generator = torch.Generator().manual_seed(0)
    whole = torch.randn(4, 2, N_HEADS, size * LOCAL_TOKENS, 64, generator=generator).to(dtype)
    exact = [each.double().requires_grad_() for each in whole[:3]]
    expected = F.scaled_dot_product_attention(*exact, is_causal=causal)
    expected.backward(whole[3].double())
    *here, probe = (split(each, size)[rank].to(device) for each in whole)
    here = [each.contiguous().requires_grad_() for each in here]
    output = attend(*here)
    output.backward(probe)
    pairs = [(output, expected), *((mine.grad, its.grad) for mine, its in zip(here, exact, strict=True))]
    ours_and_theirs = [(mine.detach().cpu().double(), split(its.detach(), size)[rank]) for mine, its in pairs]
    return [((mine - its).norm() / its.norm()).item() for mine, its in ours_and_theirs]


def main(folder: Path) -> None:
    device = torch.device("cpu")
    if BACKEND == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group(BACKEND, timeout=timedelta(seconds=120))
    found = {"backend": dist.get_backend(), "device": device.type, "bytes": {}, "errors": {}}
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        name = str(dtype)
        for causal, split in ((True, zigzag_split), (False, chunks)):
            ring = RingAttention(causal=causal)
            attend = lambda *tokens, ring=ring: ring(*tokens)[0]  # noqa: E731
            found["errors"][f"ring, causal {causal}, {name}"] = compare(attend, split, device, dtype, causal)
            found["bytes"][f"causal {causal}, {name}"] = ring.ring.bytes_sent
        found["errors"][f"Ulysses, {name}"] = compare(ulysses, chunks, device, dtype)
    (folder / f"{dist.get_rank()}.json").write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
