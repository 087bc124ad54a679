"""Ring attention in processes of its own, which ring_processes.py describes, and its parts in this one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from choosing import weekly

from attention_course.distributed import RingAttention, zigzag_join, zigzag_split
from attention_course.distributed.zigzag import visible

# Of numbers up to 4. Sums are kept in float32, so that half precision loses only what rounding the result loses.
TOLERANCE = {"torch.float64": 1e-12, "torch.float32": 2e-5, "torch.bfloat16": 0.016, "torch.float16": 0.002}
SCRIPT = Path(__file__).with_name("ring_processes.py")
PATHS = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]  # of what it imports


def launch(n_processes, task, folder):
    """Run the script under torchrun to its end."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={n_processes}"]
    return subprocess.run(
        [*command, SCRIPT, task, folder],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(PATHS)},
    )


@pytest.fixture(scope="module", params=[weekly(2), 4])
def reports(request, tmp_path_factory):
    """What each of 2 or of 4 processes found, by rank: one launch for all the tests."""
    folder = tmp_path_factory.mktemp("ring")
    done = launch(request.param, "all", folder)
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(request.param)]


def check_case(case, size, tolerance):
    assert max(case["errors"]) < tolerance
    # Forward, keys and values make all hops but the one home. Backward they do so again, and their gradients make
    # all hops.
    assert case["forward_bytes"] == (size - 1) * case["block_bytes"]
    backward = (size - 1) * case["block_bytes"] + size * case["gradient_bytes"]
    assert case["bytes"] == (case["forward_bytes"] + backward if size > 1 else 0)


def test_blocks_give_what_the_whole_gives_forward_and_backward(reports):
    for report in reports:
        assert len(report["equal"]) == 8
        for name, case in report["equal"].items():
            check_case(case, len(reports), TOLERANCE[name.split()[0]])


def test_a_group_of_the_processes_is_a_ring_too(reports):
    if len(reports) < 4:
        pytest.skip("groups are formed of four processes")
    for rank, report in enumerate(reports):
        assert list(report["groups"]) == [str(size) for size in (1, 2, 4) if rank < size]
        for size, case in report["groups"].items():
            check_case(case, int(size), TOLERANCE["torch.float32"])


def test_each_process_needs_less_memory_the_more_there_are(reports):
    if len(reports) < 4:
        pytest.skip("memory is compared in the launch of four processes")
    one, two, four = (reports[0]["memory"][size] for size in "124")
    # Not in proportion: beside its own tokens a process holds tiles of one size, and blocks that pass through.
    assert four < 0.65 * two < 0.65 * 0.85 * one
    assert max(report["memory"]["4"] for report in reports) < 1.1 * four


def test_a_language_model_spread_over_processes_learns_the_same(reports):
    for report in reports:
        whole, spread = report["language_model"]["losses"]
        assert spread == pytest.approx(whole, rel=1e-5)
        assert report["language_model"]["error"] < 1e-4
        assert report["language_model"]["rings"] == 2  # a layer counts its own bytes


def test_it_plugs_into_a_multi_head_layer_with_grouped_heads(reports):
    assert max(report["plugs_in"]["error"] for report in reports) < 1e-5


def test_every_process_refuses_what_any_of_them_cannot_do(reports):
    for report in reports:
        said = report["refusals"]
        assert said["shapes"].startswith("query must have one shape on all processes, got [(1, 2, 8, 4), (1, 2, 10, 4)")
        assert said["keys"].startswith("key must have one shape on all processes, got [(1, 2, 8, 4), (1, 2, 10, 4)")
        assert said["odd"].startswith("query must have as many tokens as key, and an even number")
        assert said["mask"].startswith("mask must be None")
        assert said["weights"].startswith("need_weights must be False")
        assert said["dropout"].startswith("dropout must be 0")
        assert said["afterwards"] == [1, 2, 8, 4]


def test_a_process_that_dies_ends_the_run_with_its_name(tmp_path):
    """Or the launch would be given up."""
    done = launch(2, "die", tmp_path)
    assert done.returncode != 0
    assert "SIGKILL" in done.stderr and "rank      : 1" in done.stderr


def test_a_process_that_stops_answering_ends_the_run_with_the_name_of_one_that_waited(tmp_path):
    """It waits as long as the timeout of its group says."""
    done = launch(2, "sleep", tmp_path)
    assert done.returncode != 0
    assert "Timed out waiting 3000ms" in done.stderr and "rank      : 0" in done.stderr


def test_without_processes_it_says_what_to_do():
    with pytest.raises(RuntimeError, match="init_process_group first"):
        RingAttention()


@pytest.mark.parametrize("n_processes", [1, 2, 3, 5])
def test_zigzag_pairs_early_with_late_chunks_and_joins_them_again(n_processes):
    tokens = torch.arange(2 * n_processes * 3)
    blocks = zigzag_split(tokens, n_processes, dim=0)
    for rank, block in enumerate(blocks):
        late = 2 * n_processes - 1 - rank
        assert block.tolist() == [*range(3 * rank, 3 * rank + 3), *range(3 * late, 3 * late + 3)]
    assert torch.equal(zigzag_join(blocks, dim=0), tokens)
    states = torch.randn(2, 2 * n_processes, 4)
    assert torch.equal(zigzag_join(zigzag_split(states, n_processes)), states)


@pytest.mark.parametrize(("n_tokens", "n_processes"), [(6, 2), (7, 1), (8, 0)])
def test_tokens_that_cannot_be_dealt_out_evenly_are_refused(n_tokens, n_processes):
    with pytest.raises(ValueError, match=rf"tokens must have a size in dim -2 .* got {n_tokens} and"):
        zigzag_split(torch.zeros(n_tokens, 3), n_processes)


def test_blocks_that_cannot_have_come_from_a_split_are_refused():
    for sizes in ((4, 6), (3, 3)):
        with pytest.raises(ValueError, match="blocks must have one even size"):
            zigzag_join([torch.zeros(size, 2) for size in sizes])


@pytest.mark.parametrize("n_processes", [1, 2, 4])
def test_what_is_visible_is_the_causal_mask_and_equal_work(n_processes):
    places = zigzag_split(torch.arange(12 * n_processes), n_processes, dim=0)
    work = torch.zeros(n_processes, n_processes)
    for rank, queries in enumerate(places):
        for source, keys in enumerate(places):
            seen = torch.zeros(12, 12, dtype=torch.bool)
            rows, columns, diagonal = visible(rank, source, 12)
            part = torch.ones_like(seen[rows, columns])
            seen[rows, columns] = part.tril() if diagonal else part
            assert torch.equal(seen, queries[:, None] >= keys)
            work[rank, (rank - source) % n_processes] = seen.sum()
    assert (work == work[0]).all()  # in each step alike
