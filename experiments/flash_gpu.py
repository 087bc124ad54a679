"""Time exact attention on a CUDA GPU, and count its memory; `kernels` draws the record.

python experiments/flash_gpu.py     minutes; writes attention_course/course/recorded/flash_gpu.json

Batch 1, 8 heads of 64 in float16. Each implementation is timed in turn with the others at its length, forward, and
forward + backward where it has a backward pass. What runs out of memory is recorded without a number.
"""

import json
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import torch
import torch.nn.functional as F

from attention_course import scaled_dot_product_attention
from attention_course.course import measure, recorded
from attention_course.efficient.flash import flash_attention

RECORD = Path(recorded.__file__).parent / "flash_gpu.json"
SETTINGS = {"batch": 1, "heads": 8, "d_head": 64, "dtype": "float16", "repeats": 20}
LENGTHS = [1024, 2048, 4096, 8192, 16384, 32768]
BOTH = "forward + backward"


def implementations() -> dict[str, Callable]:
    """Each takes query, key, value and whether the attention is causal, and returns the output."""
    from attention_course.efficient.flash_triton import flash_attention_triton

    return {
        "materialised": _materialised,
        "flash_attention": lambda q, k, v, causal: flash_attention(q, k, v, causal=causal)[0],
        "Triton kernel": lambda q, k, v, causal: flash_attention_triton(q, k, v, causal=causal)[0],
        "PyTorch's kernel": lambda q, k, v, causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
    }


def _materialised(query, key, value, causal):
    mask = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).tril() if causal else None
    return scaled_dot_product_attention(query, key, value, mask)[0]


def measure_length(n_tokens: int, causal: bool, device: torch.device) -> list[dict]:
    """A row for each implementation and pass: median milliseconds and peak extra MiB, `None` where memory ran out."""
    generator = torch.Generator().manual_seed(0)
    shape = (3, SETTINGS["batch"], SETTINGS["heads"], n_tokens, SETTINGS["d_head"])
    tensors = torch.randn(shape, generator=generator).to(device, getattr(torch, SETTINGS["dtype"])).unbind(0)
    rows = []
    for kind in ("forward", BOTH):
        calls = {
            name: _call(attend, tensors, causal, kind)
            for name, attend in implementations().items()
            if not (kind == BOTH and name == "Triton kernel")
        }
        peaks = {name: _peak_mib(call, device) for name, call in calls.items()}
        fit = {name: call for name, call in calls.items() if peaks[name] is not None}
        times = measure.time_calls(fit, repeats=SETTINGS["repeats"], warmup=3)
        for name, peak in peaks.items():
            ms = None if peak is None else round(1e3 * times[name].median, 4)
            row = {"name": name, "pass": kind, "causal": causal, "tokens": n_tokens, "ms": ms, "peak_mib": peak}
            rows.append(row)
    return rows


def _call(attend: Callable, tensors: tuple, causal: bool, kind: str) -> Callable:
    if kind == "forward":
        return torch.no_grad()(lambda: attend(*tensors, causal))
    leaves = [tensor.clone().requires_grad_() for tensor in tensors]
    probe = torch.ones_like(tensors[2])
    return lambda: torch.autograd.grad(attend(*leaves, causal), leaves, probe)


def _peak_mib(call: Callable, device: torch.device) -> float | None:
    try:
        call()  # compiled and warm before it counts
        return round(measure.peak_memory(call, device) / 2**20, 2)
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return None


def run(device: torch.device) -> dict:
    """Measure everything; `{"settings": ..., "results": ...}`."""
    results = []
    for n_tokens in LENGTHS:
        for causal in (False, True):
            rows = measure_length(n_tokens, causal, device)
            results += rows
            for row in rows:
                print(row, flush=True)
    return {"settings": SETTINGS | {"lengths": LENGTHS}, "results": results}


def main() -> None:
    if not torch.cuda.is_available():
        sys.exit("flash_gpu measures on a CUDA GPU, and PyTorch finds none here; nothing was written.")
    record = {"machine": measure.describe_machine(), "date": date.today().isoformat()} | run(torch.device("cuda"))
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print("wrote", RECORD)


if __name__ == "__main__":
    main()
