"""What each process of test_ring.py does; torchrun starts it as `ring_processes.py TASK FOLDER`."""

import json
import os
import signal
import sys
import time
from copy import deepcopy
from datetime import timedelta
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from seeding import random

from attention_course import MultiHeadAttention, causal_mask
from attention_course.course import measure
from attention_course.distributed import RingAttention, zigzag_split
from attention_course.language_model import CausalLanguageModel

LOCAL_TOKENS = 520  # more than a tile of queries, and not a multiple of one


def contiguous_split(tokens, n_processes, dim=-2):
    return tokens.chunk(n_processes, dim)


def compare(dtype, causal, split, group=None) -> dict:
    """Largest errors against attention of the whole in one process in float64, and bytes sent."""
    size, rank = dist.get_world_size(group), dist.get_rank(group)
    # query, key, value and the output's gradient
    widths = (5, 5, 6, 6)
    whole = [random(1, 2, size * LOCAL_TOKENS, width, seed=seed).to(dtype) for seed, width in enumerate(widths)]
    expected = [tensor.double().clone().requires_grad_() for tensor in whole[:3]]
    output = F.scaled_dot_product_attention(*expected, is_causal=causal)
    output.backward(whole[3].double())

    here = [split(tensor, size)[rank].clone().requires_grad_() for tensor in whole[:3]]
    attention = RingAttention(causal=causal, group=group)
    got, weights = attention(*here)
    assert weights is None and got.dtype == dtype
    forward_bytes = attention.ring.bytes_sent
    got.backward(split(whole[3], size)[rank])

    pairs = [(got, output)] + [(mine.grad, all_of_it.grad) for mine, all_of_it in zip(here, expected, strict=True)]
    return {
        "errors": [(mine - split(all_of_it, size)[rank]).abs().max().item() for mine, all_of_it in pairs],
        "forward_bytes": forward_bytes,
        "bytes": attention.ring.bytes_sent,
        "block_bytes": here[1].nbytes + here[2].nbytes,
        "gradient_bytes": (here[1].numel() + here[2].numel()) * max(here[1].element_size(), 4),
    }


def equal() -> dict:
    cases = {}
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        cases[f"{dtype} zigzag causal"] = compare(dtype, True, zigzag_split)
        cases[f"{dtype} contiguous"] = compare(dtype, False, contiguous_split)
    return cases


def groups() -> dict:
    """The first one, two and four of the processes as rings of their own: the rest have nothing to do with it."""
    found = {}
    for size in (1, 2, 4):
        group = dist.new_group(range(size))
        if dist.get_rank() < size:
            found[str(size)] = compare(torch.float32, True, zigzag_split, group)
    return found


def forward_and_backward(n_tokens, group):
    here = [random(1, 2, n_tokens, 64, seed=seed).requires_grad_() for seed in range(3)]
    RingAttention(causal=True, group=group)(*here)[0].sum().backward()


def memory() -> dict:
    """Most bytes that one causal forward and backward pass of 8,192 tokens needs, inputs included."""
    found = {}
    for size in (1, 2, 4):
        group = dist.new_group(range(size))
        if dist.get_rank() < size:
            found[str(size)] = measure.peak_memory(partial(forward_and_backward, 8192 // size, group))
    return found


def language_model() -> dict:
    """Gradients of a language model whose tokens are spread over the processes, beside those of one process."""
    size, rank = dist.get_world_size(), dist.get_rank()
    symbols = torch.randint(20, (2, 16 * size + 1), generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    here = CausalLanguageModel(20, 16, 2, 2, attention=RingAttention(causal=True))
    whole = CausalLanguageModel(20, 16, 2, 2)
    whole.load_state_dict(here.state_dict())
    losses = []
    for model, split in ((whole, lambda tokens: tokens), (here, lambda tokens: zigzag_split(tokens, size, 1)[rank])):
        logits, _ = model(split(symbols[:, :-1]))
        loss = F.cross_entropy(logits.flatten(0, 1), split(symbols[:, 1:]).flatten(), reduction="sum")
        loss.backward()
        losses.append(loss.detach())
    dist.all_reduce(losses[1])
    errors = []
    for mine, all_of_it in zip(here.parameters(), whole.parameters(), strict=True):
        dist.all_reduce(mine.grad)
        errors.append((mine.grad - all_of_it.grad).abs().max().item())
    rings = [module.ring for module in here.modules() if isinstance(module, RingAttention)]
    return {"losses": [loss.item() for loss in losses], "error": max(errors), "rings": len(set(map(id, rings)))}


def message(kind, function) -> str:
    try:
        function()
    except kind as error:
        return str(error)
    return "nothing was raised"


def refusals() -> dict:
    """What the processes say to inputs they cannot work with; afterwards the ring still works."""
    rank = dist.get_rank()
    tokens = random(1, 2, 8, 4)
    longer = random(1, 2, 8 + 2 * rank, 4)
    causal, full = RingAttention(causal=True), RingAttention()
    return {
        "shapes": message(ValueError, lambda: full(longer, longer, longer)),
        "keys": message(ValueError, lambda: full(tokens, longer, longer)),
        "odd": message(ValueError, partial(causal, *[tokens[:, :, :7]] * 3)),
        "mask": message(ValueError, lambda: full(tokens, tokens, tokens, causal_mask(8))),
        "weights": message(ValueError, lambda: full(tokens, tokens, tokens, need_weights=True)),
        "dropout": message(ValueError, lambda: full(tokens, tokens, tokens, dropout=0.1)),
        "afterwards": list(full(tokens, tokens, tokens)[0].shape),
    }


def plugs_in() -> dict:
    """A multi-head layer with grouped heads, on blocks, beside the same layer on the whole."""
    size, rank = dist.get_world_size(), dist.get_rank()
    torch.manual_seed(0)
    layer = MultiHeadAttention(16, 4, n_kv_heads=2)
    tokens = random(2, 8 * size, 16)
    expected, _ = layer(tokens, mask=causal_mask(8 * size))
    layer.attention = RingAttention(causal=True)
    layer = deepcopy(layer)  # as a stack of blocks copies a layer that it is given
    here, _ = layer(zigzag_split(tokens, size)[rank], need_weights=False)
    return {"error": (here - zigzag_split(expected, size)[rank]).abs().max().item()}


def all_of_it() -> dict:
    tasks = {"equal": equal, "language_model": language_model, "refusals": refusals, "plugs_in": plugs_in}
    if dist.get_world_size() == 4:
        tasks |= {"groups": groups, "memory": memory}
    return {name: task() for name, task in tasks.items()}


def fail(how: str) -> None:
    """Three rounds of attention; in the second, the last process dies or stops answering."""
    group = dist.new_group(timeout=timedelta(seconds=3))  # from now on: at the start one may be seconds late
    attention, tokens = RingAttention(group=group), random(1, 2, 64, 16)
    for round_ in range(3):
        if round_ == 1 and dist.get_rank() == dist.get_world_size() - 1:
            if how == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(600)
        attention(tokens, tokens, tokens)


if __name__ == "__main__":
    task, folder = sys.argv[1], Path(sys.argv[2])
    dist.init_process_group("gloo", timeout=timedelta(seconds=120))
    if task == "all":
        (folder / f"{dist.get_rank()}.json").write_text(json.dumps(all_of_it()))
        dist.destroy_process_group()
    else:
        fail(task)
