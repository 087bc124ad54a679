"""What PyTorch's own context parallelism does between two CPU processes, for the page on several processes.

It is too slow for a page: outside the kernels it was made for, PyTorch works out for half a minute a shape how the
tensors should be spread. The public way in is tried first. Then the ring itself is called by its private name, with the
kernel for CPUs that the public way never reaches.
"""

import json
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

CASES = [
    {"call": "context_parallel", "backend": backend, "causal": causal, "backward": backward, "shape": shape}
    for backend, causal, backward, shape in (
        ("MATH", False, False, [1, 8, 256, 16]),
        ("MATH", False, True, [1, 8, 256, 16]),
        ("MATH", True, False, [1, 8, 256, 16]),
        ("default", False, False, [1, 8, 256, 16]),
        ("default", False, True, [1, 8, 256, 16]),
        ("default", True, False, [1, 8, 256, 16]),
        ("default", False, False, [1, 8, 2048, 64]),
    )
] + [
    {"call": "the ring", "rotate": rotate, "causal": causal, "zigzag": zigzag, "shape": [1, 8, 256, 16]}
    for rotate in ("allgather", "alltoall")
    for causal, zigzag in ((True, True), (True, False), (False, False), (False, True))
]
N_PROCESSES = 2


def run() -> dict:
    """Try every case; `{"settings": ..., "defaults": ..., "results": ...}`."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={N_PROCESSES}"]
        subprocess.run([*launcher, __file__, json.dumps(CASES), file], check=True)
        found = json.loads(file.read_text())
    return {"settings": {"n_processes": N_PROCESSES, "cases": CASES}} | found


def _defaults(private) -> dict:
    """What PyTorch does where nobody says otherwise, and the operators that it replaces."""
    options = private._cp_options
    return {
        "rotate": options.rotate_method.name,
        "zigzag": options.enable_load_balance,
        "replaced": [str(operator) for operator in private.custom_ops],
    }


def _through_context_parallel(mesh, case: dict) -> dict:
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


def _through_the_ring(private, ring, mesh, case: dict) -> dict:
    """The same of the ring itself, with the kernel for CPUs."""
    import torch
    import torch.nn.functional as F

    from attention_course.distributed import zigzag_split

    def here(tokens):
        blocks = zigzag_split(tokens, mesh.size()) if case["zigzag"] else tokens.chunk(mesh.size(), 2)
        return blocks[mesh.get_local_rank()].contiguous()

    private.set_rotate_method(case["rotate"])
    private._cp_options.enable_load_balance = case["zigzag"]
    whole = torch.randn(3, *case["shape"])
    expected = F.scaled_dot_product_attention(*whole, is_causal=case["causal"])
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    output, *_ = ring(mesh.get_group(), 2, kernel, *map(here, whole), is_causal=case["causal"])
    return {
        "output": list(output.shape),
        "block": list(here(whole[0]).shape),
        "error": (output - here(expected)).abs().max().item(),
    }


def _process() -> None:
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.debug import CommDebugMode
    from torch.distributed.tensor.experimental._context_parallel import _attention as private

    torch.manual_seed(0)
    dist.init_process_group("gloo", timeout=timedelta(minutes=5))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    found = {"defaults": _defaults(private), "results": []}
    calls, ring = [], private._templated_ring_attention

    def counted(*arguments, **named):
        calls.append(1)
        return ring(*arguments, **named)

    private._templated_ring_attention = counted
    for case in json.loads(sys.argv[1]):
        calls.clear()
        with CommDebugMode() as communication:
            try:
                if case["call"] == "context_parallel":
                    outcome = _through_context_parallel(mesh, case)
                else:
                    outcome = _through_the_ring(private, counted, mesh, case)
            except Exception as error:  # whatever PyTorch raises is the finding
                outcome = {"raises": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
        sent = {str(name).split(".")[-1]: count for name, count in communication.get_comm_counts().items()}
        found["results"].append(case | outcome | {"ring_calls": len(calls), "exchanges": sent})
        if dist.get_rank() == 0:
            print(found["results"][-1], flush=True)
            Path(sys.argv[2]).write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    _process()
