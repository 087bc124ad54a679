"""The kernel in Triton's interpreter, against attention in float64; and the script that times it on a GPU."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attention_course import scaled_dot_product_attention
from attention_course.masks import causal_mask

if importlib.util.find_spec("triton") is None:
    pytest.skip("Triton exists for Linux only", allow_module_level=True)

GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if GPU else "cpu")
ROOT = Path(__file__).parents[3]

# Triton decides when it is first imported whether it interprets; in this process others may have imported it.
CAN_RUN = GPU or os.environ.get("TRITON_INTERPRET") == "1"
runs_the_kernel = pytest.mark.skipif(not CAN_RUN, reason="runs inside test_all_of_it_in_the_interpreter")


@pytest.mark.skipif(CAN_RUN, reason="the kernel runs in this process")
def test_all_of_it_in_the_interpreter():
    in_no_interpreter = "not (without or compiles)"  # and run beside this
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", in_no_interpreter, __file__]
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def attend(*tensors, **options):
    from attention_course.efficient.flash_triton import flash_attention_triton

    return flash_attention_triton(*tensors, **options)


def inputs(n_queries, n_keys, d_k, d_v, dtype=torch.float32, scale=1.0):
    generator = torch.Generator().manual_seed(n_queries + 7 * n_keys)
    sizes = ((n_queries, d_k), (n_keys, d_k), (n_keys, d_v))
    query, key, value = (torch.randn(2, 2, *size, generator=generator).to(DEVICE, dtype) for size in sizes)
    return scale * query, key, value


def expected(query, key, value, causal=False):
    mask = causal_mask(query.size(-2), device=DEVICE) if causal else None
    return scaled_dot_product_attention(query.double(), key.double(), value.double(), mask)[0]


# Around the tiles' edges (64 queries, 32 keys), widths that are no power of 2, and more or fewer keys than queries.
SHAPES = [(1, 1, 8, 8), (63, 63, 16, 16), (64, 64, 64, 64), (65, 65, 24, 40), (97, 97, 5, 3)]


@runs_the_kernel
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_equals_dense_attention(shape, causal):
    tensors = inputs(*shape)
    output, weights = attend(*tensors, causal=causal)
    assert weights is None and output.dtype == torch.float32
    torch.testing.assert_close(output.double(), expected(*tensors, causal), atol=1e-5, rtol=0)


@runs_the_kernel
@pytest.mark.parametrize("shape", [(70, 31, 16, 16), (3, 100, 32, 8)])
def test_queries_and_keys_may_differ_in_number(shape):
    tensors = inputs(*shape)
    torch.testing.assert_close(attend(*tensors)[0].double(), expected(*tensors), atol=1e-5, rtol=0)


@runs_the_kernel
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float16, 2e-3), (torch.bfloat16, 2e-2)])
@pytest.mark.parametrize("causal", [False, True])
def test_half_precision(dtype, tolerance, causal):
    tensors = inputs(70, 70, 32, 32, dtype)
    output, _ = attend(*tensors, causal=causal)
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), expected(*tensors, causal), atol=tolerance, rtol=0)


@runs_the_kernel
def test_scores_of_ten_thousand():
    tensors = inputs(40, 70, 16, 16, scale=2500.0)
    assert (tensors[0] @ tensors[1].transpose(-2, -1) / 4).abs().max() > 1e4
    torch.testing.assert_close(attend(*tensors)[0].double(), expected(*tensors), atol=1e-2, rtol=0)


@runs_the_kernel
def test_tensors_need_not_be_contiguous():
    query, key, value = (tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in inputs(20, 20, 16, 16))
    assert not query.is_contiguous()
    torch.testing.assert_close(attend(query, key, value)[0].double(), expected(query, key, value), atol=1e-5, rtol=0)


@runs_the_kernel
def test_no_queries_no_output():
    assert attend(*inputs(0, 5, 16, 16))[0].shape == (2, 2, 0, 16)


@runs_the_kernel
def test_heads_may_be_more_than_the_second_side_of_a_grid_holds(monkeypatch):
    """The interpreter would take any grid, so this one is only looked at."""
    grids = []

    class Looks:
        def __getitem__(self, grid):
            grids.append(grid)
            return lambda *sizes, **options: None

    monkeypatch.setattr("attention_course.efficient.flash_triton._forward", Looks())
    attend(*torch.zeros(3, 70_000, 1, 1, 16, device=DEVICE))
    assert grids == [(70_000, 1)]


@runs_the_kernel
@pytest.mark.parametrize(
    ("error", "message", "arguments", "options"),
    [
        (TypeError, "float32, float16 or bfloat16, got torch.float64", (3, 3, 8, 8, torch.float64), {}),
        (ValueError, "as many tokens as query, 3, got 4", (3, 4, 8, 8), {"causal": True}),
        (ValueError, "at least 1 token, got shape", (3, 0, 8, 8), {}),
        (ValueError, "mask must be None", (3, 3, 8, 8), {"mask": torch.ones(3, 3, dtype=torch.bool)}),
        (ValueError, "need_weights False", (3, 3, 8, 8), {"need_weights": True}),
        (ValueError, "dropout 0", (3, 3, 8, 8), {"dropout": 0.1}),
    ],
)
def test_what_it_cannot_do_is_refused(error, message, arguments, options):
    with pytest.raises(error, match=message):
        attend(*inputs(*arguments), **options)


@runs_the_kernel
def test_no_gradient_is_lost_in_silence():
    query, key, value = inputs(3, 3, 8, 8)
    with pytest.raises(ValueError, match="no backward pass"):
        attend(query.requires_grad_(), key, value)
    with torch.no_grad():
        attend(query, key, value)


def python(code, **environment):
    """What a fresh Python says to the code, without the interpreter's variable."""
    inherited = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, env=inherited | environment, capture_output=True, text=True)


def test_without_triton_the_import_says_what_to_do():
    code = "import sys; sys.modules['triton'] = None; import attention_course.efficient.flash_triton"
    assert "ImportError: flash_triton needs Triton, which exists for Linux" in python(code).stderr


def test_without_gpu_and_interpreter_it_says_what_to_do():
    code = (
        "import torch; from attention_course.efficient.flash_triton import flash_attention_triton as attend;"
        "attend(*torch.zeros(3, 1, 1, 4, 8))"
    )
    assert "query must be on a GPU, got cpu; else set TRITON_INTERPRET=1" in python(code).stderr


COMPILE = """
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from attention_course.efficient.flash_triton import COLUMNS, ROWS, _forward

pointers = dict.fromkeys(["query", "key", "value", "output"], "*fp16")
numbers = {"n_queries": "i32", "n_keys": "i32", "scale": "fp32"}
constants = dict(d_k=64, d_v=64, D_K=64, D_V=64, ROWS=ROWS, COLUMNS=COLUMNS, CAUSAL=True, DOT=tl.float16)
signature = pointers | numbers | dict.fromkeys(constants, "constexpr")
compiled = triton.compile(ASTSource(_forward, signature, constants), target=GPUTarget("cuda", 80, 32))
print("shared", compiled.metadata.shared, "cubin", len(compiled.asm["cubin"]))
"""


def test_it_compiles_for_a_gpu_where_there_is_none(tmp_path):
    result = python(COMPILE, TRITON_CACHE_DIR=str(tmp_path))
    assert "cubin" in result.stdout, result.stderr
    assert int(result.stdout.split()[1]) < 48 * 1024  # bytes of shared memory that every CUDA device has


@pytest.fixture(scope="module")
def benchmark_script():
    spec = importlib.util.spec_from_file_location("flash_gpu", ROOT / "experiments" / "flash_gpu.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_benchmark_refuses_without_a_gpu(benchmark_script, monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(benchmark_script, "RECORD", tmp_path / "record.json")
    with pytest.raises(SystemExit, match="PyTorch finds none here"):
        benchmark_script.main()
    assert not (tmp_path / "record.json").exists()


@runs_the_kernel
def test_the_benchmark_measures_each_pass_of_each_implementation(benchmark_script, monkeypatch):
    monkeypatch.setattr(benchmark_script, "LENGTHS", [16])
    monkeypatch.setitem(benchmark_script.SETTINGS, "dtype", "float32")
    monkeypatch.setitem(benchmark_script.SETTINGS, "repeats", 1)
    results = benchmark_script.run(DEVICE)["results"]
    names = ["materialised", "flash_attention", "Triton kernel", "PyTorch's kernel"]
    forward = [row for row in results if row["pass"] == "forward"]
    both = [row for row in results if row["pass"] == "forward + backward"]
    assert [(row["name"], row["causal"]) for row in forward] == [(n, causal) for causal in (False, True) for n in names]
    assert {row["name"] for row in both} == set(names) - {"Triton kernel"}
    assert all(row["ms"] > 0 and row["peak_mib"] >= 0 and row["tokens"] == 16 for row in results)


@runs_the_kernel
def test_all_that_the_benchmark_times_is_the_same_attention(benchmark_script):
    tensors = inputs(33, 33, 16, 16)
    for causal in (False, True):
        for implementation in benchmark_script.implementations().values():
            output = implementation(*tensors, causal)
            torch.testing.assert_close(output.double(), expected(*tensors, causal), atol=1e-5, rtol=0)
