"""Ring attention and Ulysses by NCCL, one device a process, as gpu_processes.py describes.

On one device the ring has one member: a group is made by NCCL, shapes are compared through it, the kernels run on the
device, and nothing travels. From two devices on, blocks do.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from where import GPU, ROOM

SIZES = [size for size in (1, 2) if size <= torch.cuda.device_count()] if GPU else [2]
# Of output and gradients, relative. Gradients that travel are rounded once, at the end.
ALLOWED = {"torch.float32": 3e-6, "torch.bfloat16": 2e-2, "torch.float16": 2.5e-3}
SCRIPT = Path(__file__).with_name("gpu_processes.py")


@pytest.fixture(scope="module", params=SIZES)
def reports(request, tmp_path_factory):
    """What each process found, by rank: one launch for all the tests."""
    folder = tmp_path_factory.mktemp("processes")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={request.param}"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([*torchrun, SCRIPT, folder], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(request.param)]


def test_blocks_give_what_the_whole_gives_forward_and_backward(reports, record_property):
    for report in reports:
        assert (report["device"], report["backend"]) == (("cuda", "nccl") if GPU else ("cpu", "gloo"))
        assert len(report["errors"]) == 9
        for name, errors in report["errors"].items():
            record_property(f"error, {len(reports)} processes, {name}", max(errors))
            assert max(errors) < ROOM * ALLOWED[name.rpartition(", ")[2]], name


def test_a_ring_of_one_sends_nothing_and_a_larger_one_what_it_must(reports):
    for report in reports:
        assert len(report["bytes"]) == 6
        assert all((sent > 0) == (len(reports) > 1) for sent in report["bytes"].values())
