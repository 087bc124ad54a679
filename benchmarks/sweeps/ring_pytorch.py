"""What PyTorch's own context parallelism does between two CPU processes, for the chapter on many devices.

It is too slow for a chapter: outside the kernels it was made for, PyTorch works out for half a minute a shape how the
tensors should be spread.
"""

import json
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

CASES = [
    {"backend": backend, "causal": causal, "backward": backward, "shape": shape}
    for backend, causal, backward, shape in (
        ("MATH", False, False, [1, 8, 256, 16]),
        ("MATH", False, True, [1, 8, 256, 16]),
        ("MATH", True, False, [1, 8, 256, 16]),
        ("default", False, False, [1, 8, 256, 16]),
        ("default", False, True, [1, 8, 256, 16]),
        ("default", True, False, [1, 8, 256, 16]),
        ("default", False, False, [1, 8, 2048, 64]),
    )
]
N_PROCESSES = 2


def run() -> dict:
    """Try every case; `{"settings": ..., "results": ...}`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={N_PROCESSES}"]
        subprocess.run([*launcher, __file__, json.dumps(CASES), file], check=True)
        results = json.loads(file.read_text())
    return {"settings": {"n_processes": N_PROCESSES, "cases": CASES}, "results": results}


def _outcome(mesh, case: dict) -> dict:
    """How far this process's block of the output, and the gradient, are from those of attention in one process."""
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch.distributed.tensor.experimental import context_parallel
    from torch.nn.attention import SDPBackend, sdpa_kernel

    kernels = [SDPBackend.MATH] if case["backend"] == "MATH" else [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]
    tokens, scales = torch.randn(3, *case["shape"]), torch.ones(3, requires_grad=case["backward"])
    expected = F.scaled_dot_product_attention(*(tokens * scales.view(3, 1, 1, 1, 1)), is_causal=case["causal"])
    weights, places = tokens[0].clone(), torch.arange(case["shape"][2])
    if case["backward"]:
        (expected_grad,) = torch.autograd.grad((expected * weights).sum(), scales)
    try:
        with context_parallel(mesh, buffers=[tokens, weights, places], buffer_seq_dims=[3, 2, 0]), sdpa_kernel(kernels):
            inputs = tokens * scales.view(3, 1, 1, 1, 1)
            output = F.scaled_dot_product_attention(*inputs, is_causal=case["causal"])
            found = {"output": list(output.shape), "block": list(inputs.shape[1:])}
            if found["output"] == found["block"]:
                found["error"] = (output - expected[:, :, places]).abs().max().item()
            if case["backward"]:
                (grad,) = torch.autograd.grad((output * weights).sum(), scales)
                dist.all_reduce(grad)
                found["gradient_error"] = ((grad - expected_grad).norm() / expected_grad.norm()).item()
            return found
    except Exception as error:  # whatever PyTorch raises is the finding
        return {"raises": f"{type(error).__name__}: {str(error).splitlines()[0]}"}


def _process() -> None:
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    torch.manual_seed(0)
    dist.init_process_group("gloo", timeout=timedelta(minutes=5))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    results = []
    for case in json.loads(sys.argv[1]):
        results.append(case | _outcome(mesh, case))
        if dist.get_rank() == 0:
            print(results[-1], flush=True)
            Path(sys.argv[2]).write_text(json.dumps(results))
    dist.destroy_process_group()


if __name__ == "__main__":
    _process()
