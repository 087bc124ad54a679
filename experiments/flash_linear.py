"""Time the layers that keep a matrix a head, a window with sinks, and top-k attention, beside flash-linear-attention.

make peers                         its ten minutes and 4 GB; prints a table, records it in results/flash_linear.json
python experiments/flash_linear.py  the same with those of the other libraries that are installed in this environment
python experiments/flash_linear.py --lengths 1024 --only decay delta    some of it, recording nothing

What that library (its operations are the package fla-core) is made for cannot be timed on a CPU: without a GPU its
Triton kernels end in "0 active drivers ([]). There should only be one." (Triton's interpreter would go through them in
Python, which is no timing.) What runs are the plain functions in PyTorch that its tests hold the kernels to. So these
ratios say how ours fares beside a clear program, and nothing of how fast that library is. For the decay and both delta
rules they work in chunks, as ours do; the gate has only a loop over tokens, and top-k attention only a form that stores
the scores of all pairs: `LONGEST` has where they end. A window with sinks it has not (its `sink_bias` is a number in
softmax's denominator, no token). `transformers` has the gated delta rule in PyTorch, for use without a GPU.

Each is compared after the projections, with the gates or the indexer's queries and keys given: our layers have these
taken out. A ratio is that of medians, to `F.scaled_dot_product_attention(..., is_causal=True)` on the same tensors.
What our layers cost as a whole is in `sweeps/layer_costs.py`.
"""

import argparse
import inspect
import json
import math
import warnings
from collections.abc import Callable
from datetime import date
from functools import cache, partial
from importlib import import_module
from itertools import product

import torch
import torch.nn.functional as F
from efficient import FUSED_CAUSAL, RESULTS, THREADS, forward, forward_backward, installed_version, timings
from peers import ROUNDING, Call
from torch import Tensor, nn

from attention_course.course import measure
from attention_course.efficient.gated_delta import GatedDeltaNet
from attention_course.efficient.gated_linear import GatedLinearAttention
from attention_course.efficient.matrix_state import MatrixStateLayer
from attention_course.efficient.retention import MultiScaleRetention
from attention_course.efficient.sinks import SinkAttention
from attention_course.efficient.top_k import TopKAttention
from attention_course.mechanism import AttentionLayer

BATCH, N_HEADS, D_HEAD = 1, 4, 64
D_MODEL, WINDOW, K = N_HEADS * D_HEAD, 128, 64
REPEATS = {1024: 15, 32768: 3}  # of each length
KINDS = {"forward": forward, "forward + backward": forward_backward}

LAYERS = {
    "window with sinks": lambda: SinkAttention(D_MODEL, N_HEADS, WINDOW),
    "decay": lambda: MultiScaleRetention(D_MODEL, N_HEADS),
    "gate": lambda: GatedLinearAttention(D_MODEL, N_HEADS),
    "delta": lambda: GatedDeltaNet(D_MODEL, N_HEADS, gated=False),
    "gated delta": lambda: GatedDeltaNet(D_MODEL, N_HEADS),
    "top-k": lambda: TopKAttention(D_MODEL, N_HEADS, K),
}
# The most tokens, by variant, package and kind. In the loop the gradient of each step is as long as the sequence, which
# would take minutes a call; scores and weights of all pairs would be 16 GiB each.
LONGEST = {
    ("gate", "fla-core", "forward + backward"): 1024,
    ("top-k", "fla-core", "forward"): 1024,
    ("top-k", "fla-core", "forward + backward"): 1024,
}


# Other libraries' forms: from queries, keys and values `(batch, n_heads, n_tokens, d_head)`, and what stands beside
# them, to the output of the same shape. Most put tokens before heads, which is another view of the same numbers.


def _swap(*tensors: Tensor) -> list[Tensor]:
    return [each.transpose(1, 2) for each in tensors]


@cache
def _reference(module: str, name: str) -> Callable:
    with warnings.catch_warnings():  # that there is no GPU
        warnings.simplefilter("ignore")
        return getattr(import_module(f"fla.ops.{module}.naive"), name)


def _fla_decay(query, key, value, log_decay) -> Tensor:
    """Its `naive_retention` stores the weights of all pairs; "simple" gated linear attention is retention in chunks."""
    given = _swap(query, key, value, log_decay.squeeze(-1))
    return _reference("simple_gla", "naive_chunk_simple_gla")(*given)[0].transpose(1, 2)


def _fla_gate(query, key, value, log_gate) -> Tensor:
    return _reference("gla", "naive_recurrent_gla")(*_swap(query, key, value, log_gate))[0].transpose(1, 2)


def _fla_delta(query, key, value, log_gate, strength) -> Tensor:
    given = query, F.normalize(key, dim=-1), value, strength.squeeze(-1)  # heads first, and no gate
    return _reference("delta_rule", "delta_rule_chunkwise")(*given)[0]


def _fla_gated_delta(*tensors) -> Tensor:
    return _gated_delta_by(_reference("gated_delta_rule", "naive_chunk_gated_delta_rule"), *tensors)


def _transformers_gated_delta(*tensors) -> Tensor:
    from transformers.models.qwen3_next.modeling_qwen3_next import torch_chunk_gated_delta_rule

    # Where flash-linear-attention is installed, the wrapper would call its kernels, GPU or not.
    return _gated_delta_by(inspect.unwrap(torch_chunk_gated_delta_rule), *tensors)


def _gated_delta_by(function, query, key, value, log_gate, strength) -> Tensor:
    given = _swap(query, F.normalize(key, dim=-1), value, log_gate.squeeze(-1), strength.squeeze(-1))
    return function(*given)[0].transpose(1, 2)


def _fla_top_k(query, key, value, index_query, index_weight, index_key) -> Tensor:
    *heads, weight = _swap(query, key, value, index_query, index_weight.squeeze(-1))
    return _reference("dsa", "naive_dsa")(*heads, index_key.squeeze(1), weight, topk=K).transpose(1, 2)


PEERS = {
    "decay": {"fla-core": _fla_decay},
    "gate": {"fla-core": _fla_gate},
    "delta": {"fla-core": _fla_delta},
    "gated delta": {"fla-core": _fla_gated_delta, "transformers": _transformers_gated_delta},
    "top-k": {"fla-core": _fla_top_k},
}


def beside(layer: AttentionLayer, tokens: Tensor) -> list[Tensor]:
    """What a layer computes from tokens besides queries, keys and values."""
    if isinstance(layer, MatrixStateLayer):
        return layer.gates(tokens)
    if isinstance(layer, TopKAttention):
        # Not its own: of equal or nearly equal scores, rounding would choose. These are all apart.
        place = (torch.randperm(tokens.size(1)) + 1) / tokens.size(1)
        query, weight = (each.detach() for each in layer.indexer.queries(tokens))
        return [torch.ones_like(query), torch.ones_like(weight), place[:, None].expand_as(layer.indexer.keys(tokens))]
    return []


def without_projections(layer: AttentionLayer) -> Callable:
    """The layer as a function like those of `PEERS`."""
    layer.query_proj = layer.key_proj = layer.value_proj = layer.out_proj = nn.Identity()
    layer.eval()  # top-k's indexer learns nothing: others' have no loss

    def attend(query, key, value, *others):
        if isinstance(layer, MatrixStateLayer):
            layer.gates = lambda tokens: others
        elif isinstance(layer, TopKAttention):
            layer.indexer.queries, layer.indexer.keys = (lambda tokens: others[:2]), (lambda tokens: others[2])
        tokens = (each.transpose(1, 2).flatten(2) for each in (query, key, value))
        return layer(*tokens, causal=True)[0].unflatten(2, (N_HEADS, D_HEAD)).transpose(1, 2)

    return attend


def prepare(function: Callable, tokens: list[Tensor], others: list[Tensor]) -> Call:
    """A call that is differentiated by queries, keys, values, and those others that a layer's parameters made."""
    learned = [each.detach() for each in others if each.requires_grad]

    def call(query, key, value, *learned):
        left = iter(learned)
        return function(query, key, value, *(next(left) if each.requires_grad else each for each in others))

    return Call(call, (*tokens, *learned))


def make_calls(n_tokens: int, only: list[str], kind: str = "forward") -> dict[tuple[str, str], Call]:
    """PyTorch's fused kernel, our layers and their peers on the same tokens, by variant and package."""
    torch.manual_seed(0)
    heads_first = list(torch.randn(3, BATCH, N_HEADS, n_tokens, D_HEAD))
    # As projections leave them, which is how our layers find them; others want them as they are above.
    tokens_first = [each.transpose(1, 2).contiguous().transpose(1, 2) for each in heads_first]
    calls = {(FUSED_CAUSAL, "torch"): Call(partial(F.scaled_dot_product_attention, is_causal=True), heads_first)}
    for variant in only:
        layer = LAYERS[variant]()
        others = beside(layer, torch.randn(BATCH, n_tokens, D_MODEL))
        calls[variant, "ours"] = prepare(without_projections(layer), tokens_first, others)
        for package, function in PEERS.get(variant, {}).items():
            if installed_version(package) and n_tokens <= LONGEST.get((variant, package, kind), math.inf):
                calls[variant, package] = prepare(function, heads_first, others)
    return calls


@torch.no_grad()
def check_peers(only: list[str], n_tokens: int = 1024) -> dict[str, float]:
    """Largest difference of each installed peer from ours, relative to the largest output.

    Raises:
        ValueError: If that is more than rounding.
    """
    outputs = {name: call.function(*call.inputs) for name, call in make_calls(n_tokens, only).items()}
    differences = {}
    for variant, package in [name for name in outputs if name[1] not in ("ours", "torch")]:
        output, ours = outputs[variant, package], outputs[variant, "ours"]
        differences[f"{variant}: {package}"] = difference = float((output - ours).abs().max() / ours.abs().max())
        if not difference < ROUNDING:
            raise ValueError(f"{package}'s {variant} must differ by rounding alone, got {difference:.1e}")
    return differences


def measure_all(lengths: list[int], only: list[str]) -> list[dict]:
    """A row for each variant and package."""
    rows = {}
    for n_tokens, (kind, make) in product(lengths, KINDS.items()):
        print(f"{kind}, {n_tokens:,} tokens ...", flush=True)
        functions = {name: make(call) for name, call in make_calls(n_tokens, only, kind).items()}
        for name, timing in timings(functions, REPEATS.get(n_tokens, 3), FUSED_CAUSAL).items():
            row = rows.setdefault(name, {"variant": name[0], "by": name[1]})
            row.setdefault(kind, {})[str(n_tokens)] = timing
    return list(rows.values())


def table(record: dict) -> str:
    """The record for reading: ratios, and median milliseconds."""
    lines = [f"{record['machine']}, {record['threads']} threads, {record['date']}", ""]
    lines += ["Time, as a ratio to PyTorch's fused exact attention, causal (median milliseconds)"]
    columns = [(kind, n_tokens) for kind in KINDS for n_tokens in record["rows"][0][kind]]
    lines += [f"{'':<40}" + "".join(f"{f'{kind}, {int(n):,}':>28}" for kind, n in columns)]
    for row in record["rows"]:
        times = [row.get(kind, {}).get(n) for kind, n in columns]
        cells = [f"{time['ratio']:.3f} ({time['ms'][1]:.4g})" if time else "" for time in times]
        lines += [f"{row['variant']:<26}{row['by']:<14}" + "".join(f"{cell:>28}" for cell in cells)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time newer layers beside others'; see the top of this file.")
    parser.add_argument("--lengths", type=int, nargs="+", default=list(REPEATS), metavar="TOKENS")
    parser.add_argument("--only", nargs="+", default=list(LAYERS), choices=list(LAYERS), metavar="VARIANT")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    versions = {package: installed_version(package) for peers in PEERS.values() for package in peers}
    for package, version in versions.items():
        if version is None:
            print(f"{package} is not installed: left out")
    record = {"machine": measure.describe_machine(), "date": date.today().isoformat(), "packages": versions}
    record |= {"threads": torch.get_num_threads(), "shape": [BATCH, N_HEADS, "tokens", D_HEAD]}
    record["differences of the packages"] = check_peers(options.only)
    record["rows"] = measure_all(sorted(options.lengths), options.only)
    print(table(record))
    if options.lengths == list(REPEATS) and options.only == list(LAYERS):
        path = RESULTS / "flash_linear.json"
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print("wrote", path)


if __name__ == "__main__":
    main()
