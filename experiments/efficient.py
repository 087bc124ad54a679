"""Time efficient attention beside other libraries' and beside PyTorch's fused exact attention.

make peers                        a quarter of an hour and 12 GB; prints tables, records them in results/efficient.json
python experiments/efficient.py    the same with those of the other libraries that are installed in this environment
python experiments/efficient.py --lengths 1024 2048 --only window LSH    some of it, recording nothing

Before anything is timed each of the other libraries is checked to compute what it is compared with (see peers.py).

All variants of a length take turns in one process, so that a busy moment hits them alike. A ratio is that of medians,
to `F.scaled_dot_product_attention` without a mask on the same tensors: below 1 is faster. Goals are for two threads.
"""

import argparse
import json
import math
import os
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib import metadata
from pathlib import Path

import torch
import torch.nn.functional as F
from peers import PEERS, ROUNDING, Call, largest_difference
from torch import nn

from attention_course import scaled_dot_product_attention
from attention_course.course import measure
from attention_course.efficient.block_sparse import BlockSparseAttention, bigbird_layout
from attention_course.efficient.chunked import chunked_attention
from attention_course.efficient.flash import flash_attention
from attention_course.efficient.linear import LinearAttention
from attention_course.efficient.linformer import LinformerAttention
from attention_course.efficient.longformer import LongformerAttention
from attention_course.efficient.performer import PerformerAttention
from attention_course.efficient.reformer import LSHAttention

RESULTS = Path(__file__).parent / "results"
THREADS = 2
BATCH, N_HEADS, D_HEAD = 1, 8, 64
REPEATS = {1024: 15, 2048: 11, 4096: 7, 8192: 5, 16384: 3}  # of each length
BACKWARD_LENGTH, BACKWARD_REPEATS = 8192, 3
SLOPE_FROM = 2048
MEMORY_LENGTHS = (4096, 16384)  # whose ratio is the growth

# Each from the number of tokens to a mechanism.
VARIANTS = {
    "linear": lambda n_tokens: LinearAttention(),
    "linear, causal": lambda n_tokens: LinearAttention(causal=True),
    "Performer": lambda n_tokens: PerformerAttention(D_HEAD, 256),
    "Performer, causal": lambda n_tokens: PerformerAttention(D_HEAD, 256, causal=True),
    "Linformer": lambda n_tokens: LinformerAttention(n_tokens, 256),
    "window": lambda n_tokens: LongformerAttention(128),
    "window, causal": lambda n_tokens: LongformerAttention(128, causal=True),
    "LSH": lambda n_tokens: LSHAttention(64, 4),
    "block-sparse": lambda n_tokens: BlockSparseAttention(bigbird_layout(n_tokens // 64), 64),
    "flash": lambda n_tokens: flash_attention,
    "flash, causal": lambda n_tokens: partial(flash_attention, causal=True),
    "chunked": lambda n_tokens: chunked_attention,
    "materialised": lambda n_tokens: scaled_dot_product_attention,
}
FUSED, FUSED_CAUSAL = "PyTorch's fused", "PyTorch's fused, causal"
LONGEST = {"materialised": 8192}  # at 16,384 three matrices of scores and weights would take 24 GiB
BACKWARD = ["linear", "linear, causal", "Performer", "Performer, causal", "Linformer", "window", "window, causal"]
BACKWARD += ["LSH", "flash", "flash, causal"]

# What was asked for. Times are ratios.
FORWARD_GOALS = {"linear": 0.013, "linear, causal": 0.036, "Performer": 0.08, "Linformer": 0.035, "window": 0.045}
FORWARD_GOALS |= {"window, causal": 0.032, "LSH": 0.39, "block-sparse": 0.12, "flash": 1.4, "flash, causal": 0.75}
BACKWARD_GOALS = {"flash": 1.35, "linear, causal": 0.05, "window": 0.07}
LINEAR = ["linear", "linear, causal", "Performer", "Performer, causal", "Linformer", "window", "window, causal"]
EXACT = ["flash", "flash, causal", "chunked"]
LARGEST_SLOPE, EXACT_SLOPES, LARGEST_GROWTH = 1.15, (1.85, 2.15), 4.5


# What is called -------------------------------------------------------------------------------------------------------


def make_calls(n_tokens: int, only: list[str], variants: list[str]) -> dict[tuple[str, str], Call]:
    """PyTorch's fused kernel, our variants and their peers on the same tokens, by variant and package."""
    torch.manual_seed(0)
    query, key, value = torch.randn(3, BATCH, N_HEADS, n_tokens, D_HEAD)
    calls = {
        (FUSED, "torch"): Call(F.scaled_dot_product_attention, (query, key, value)),
        (FUSED_CAUSAL, "torch"): Call(partial(F.scaled_dot_product_attention, is_causal=True), (query, key, value)),
    }
    for variant in variants:
        if variant not in only or n_tokens > LONGEST.get(variant, math.inf):
            continue
        ours = VARIANTS[variant](n_tokens)
        calls[variant, "ours"] = _our_call(ours, query, key, value)
        for peer in PEERS.get(variant, []):
            if installed_version(peer.package):
                with torch.no_grad():
                    calls[variant, peer.package] = peer.prepare(ours, query, key, value)
    return calls


def _our_call(attention: Callable, query, key, value) -> Call:
    parameters = tuple(attention.parameters()) if isinstance(attention, nn.Module) else ()
    if isinstance(attention, LSHAttention):
        return Call(lambda q, v: attention(q, q, v, need_weights=False)[0], (query, value))
    # Of ours only the materialised form has weights to return, and by returning them is what it is.
    options = {} if attention is scaled_dot_product_attention else {"need_weights": False}
    return Call(lambda q, k, v: attention(q, k, v, **options)[0], (query, key, value), parameters)


def installed_version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@torch.no_grad()
def check_peers(only: list[str], n_tokens: int = 1024) -> dict[str, float]:
    """Largest relative difference of each installed peer from what it must compute.

    Raises:
        ValueError: If that is more than rounding.
    """
    torch.manual_seed(0)
    query, key, value = torch.randn(3, BATCH, N_HEADS, n_tokens, D_HEAD)
    differences = {}
    for variant in only:
        for peer in PEERS.get(variant, []):
            if installed_version(peer.package):
                difference = largest_difference(peer, VARIANTS[variant](n_tokens), query, key, value)
                differences[f"{variant}: {peer.package}"] = difference
                if not difference < ROUNDING:
                    raise ValueError(f"{peer.package}'s {variant} must differ by rounding alone, got {difference:.1e}")
    return differences


# What is measured -----------------------------------------------------------------------------------------------------


def forward(call: Call) -> Callable:
    @torch.no_grad()
    def run():
        return call.function(*call.inputs)

    return run


def forward_backward(call: Call) -> Callable:
    inputs = [tokens.clone().requires_grad_() for tokens in call.inputs]
    gradient = torch.randn_like(call.function(*inputs))

    def run():
        return torch.autograd.grad(call.function(*inputs), [*inputs, *call.parameters], gradient)

    return run


def timings(calls: dict[tuple[str, str], Callable], repeats: int, beside: str = FUSED) -> dict[tuple[str, str], dict]:
    """Milliseconds (fastest, median, slowest) of each, and the ratio of its median to the fused kernel's."""
    times = measure.time_calls(calls, repeats=repeats, warmup=1)
    unit = times[beside, "torch"].median
    return {
        name: {
            "ms": [round(1e3 * seconds, 2) for seconds in (time.fastest, time.median, time.slowest)],
            "ratio": round(time.median / unit, 4),
        }
        for name, time in times.items()
    }


def measure_all(lengths: list[int], only: list[str]) -> list[dict]:
    """A row for each variant and package."""
    rows = {}

    def row(name):
        return rows.setdefault(name, {"variant": name[0], "by": name[1], "forward": {}, "extra MiB": {}})

    for n_tokens in lengths:
        print(f"{n_tokens:,} tokens ...", flush=True)
        calls = make_calls(n_tokens, only, list(VARIANTS))
        functions = {name: forward(call) for name, call in calls.items()}
        for name, timing in timings(functions, REPEATS.get(n_tokens, 3)).items():
            row(name)["forward"][str(n_tokens)] = timing
            row(name)["extra MiB"][str(n_tokens)] = round(measure.peak_memory(functions[name]) / 2**20, 1)
        if n_tokens == BACKWARD_LENGTH:
            calls = make_calls(n_tokens, only, BACKWARD)
            functions = {name: forward_backward(call) for name, call in calls.items()}
            for name, timing in timings(functions, BACKWARD_REPEATS).items():
                row(name)["forward + backward"] = {str(n_tokens): timing}
    for each in rows.values():
        each["slope"] = slope({int(n): timing["ms"][1] for n, timing in each["forward"].items()})
        shorter, longer = (each["extra MiB"].get(str(n_tokens)) for n_tokens in MEMORY_LENGTHS)
        each["memory growth"] = round(longer / shorter, 2) if shorter and longer else None
    order = [FUSED, FUSED_CAUSAL, *VARIANTS]
    return sorted(rows.values(), key=lambda each: order.index(each["variant"]))


def slope(times: dict[int, float]) -> float | None:
    """Power of the number of tokens that the times grow with: least squares on logarithms, from `SLOPE_FROM` on."""
    points = [(math.log(n_tokens), math.log(time)) for n_tokens, time in times.items() if n_tokens >= SLOPE_FROM]
    if len(points) < 2:
        return None
    x, y = torch.tensor(points, dtype=torch.float64).T
    x = x - x.mean()
    return round(float(x @ y / (x @ x)), 3)


def judge(rows: list[dict]) -> list[dict]:
    """Each goal that these rows can tell of, with what was reached and whether that meets it."""
    ours = {row["variant"]: row for row in rows if row["by"] == "ours"}
    judged = []

    def goal(variant, what, reached, at_least, at_most):
        if reached is not None:
            met = at_least <= reached <= at_most
            limits = {"at least": at_least} if at_least else {}
            judged.append({"variant": variant, "what": what} | limits | {"at most": at_most, "reached": reached})
            judged[-1]["met"] = met

    def ratio(variant, kind, n_tokens):
        return ours.get(variant, {}).get(kind, {}).get(str(n_tokens), {}).get("ratio")

    longest = max(REPEATS)
    for variant, most in FORWARD_GOALS.items():
        goal(variant, f"forward, {longest:,} tokens", ratio(variant, "forward", longest), 0, most)
    for variant, most in BACKWARD_GOALS.items():
        reached = ratio(variant, "forward + backward", BACKWARD_LENGTH)
        goal(variant, f"forward + backward, {BACKWARD_LENGTH:,} tokens", reached, 0, most)
    # A slope of two lengths is not the one that was asked for.
    whole = [variant for variant in ours if len(ours[variant]["forward"]) == len(REPEATS)]
    for variant in whole:
        if variant in LINEAR:
            goal(variant, "slope of time", ours[variant]["slope"], 0, LARGEST_SLOPE)
        if variant in EXACT:
            goal(variant, "slope of time", ours[variant]["slope"], *EXACT_SLOPES)
    for variant in [*LINEAR, *EXACT]:
        goal(variant, "growth of memory", ours.get(variant, {}).get("memory growth"), 0, LARGEST_GROWTH)
    return judged


# How far the approximations are off -----------------------------------------------------------------------------------


@torch.no_grad()
def performer_errors(draws: int = 3, n_tokens: int = 1024) -> list[dict]:
    """Size of the error relative to the output's, and the same for averaging all values alike."""
    rows = []
    for scale in (0.5, 1.0):
        generator = torch.Generator().manual_seed(0)
        tokens = torch.randn(3, draws, N_HEADS, n_tokens, D_HEAD, generator=generator)
        query, key, value = scale * tokens[0], scale * tokens[1], tokens[2]
        exact = F.scaled_dot_product_attention(query, key, value)

        def error(output, exact=exact):
            return round(float((output - exact).norm() / exact.norm()), 3)

        uniform = error(value.mean(-2, keepdim=True).expand_as(value))
        for n_features in (64, 256, 1024, 2048):
            outputs = []
            for q, k, v in zip(query, key, value, strict=True):
                attention = PerformerAttention(D_HEAD, n_features, generator=generator)
                outputs.append(attention(*(each.unsqueeze(0) for each in (q, k, v)))[0])
            row = {"scale": scale, "features": n_features, "error": error(torch.cat(outputs))}
            rows.append(row | {"error of the mean of all values": uniform})
    return rows


@torch.no_grad()
def lsh_recall(n_tokens: int = 1024, n_best: int = 16) -> list[dict]:
    """Share of the keys nearest to each query that some round lets it see.

    The values are the rows of the identity matrix, so that the output is the weights.
    """
    generator = torch.Generator().manual_seed(0)
    gaussian = torch.randn(1, 1, n_tokens, D_HEAD, generator=generator)
    centres = torch.randn(1, 1, n_tokens // 32, D_HEAD, generator=generator).repeat(1, 1, 32, 1)
    clustered = centres + 0.5 * torch.randn(centres.shape, generator=generator)
    rows = []
    for name, query in {"Gaussian": gaussian, "32 around each of 32 centres": clustered}.items():
        key = F.normalize(query, dim=-1)
        similarity = (query @ key.transpose(-2, -1)).masked_fill(torch.eye(n_tokens, dtype=torch.bool), -torch.inf)
        nearest = similarity.topk(n_best, dim=-1).indices
        for n_rounds in (1, 2, 4, 8, 16):
            attention = LSHAttention(64, n_rounds, generator=generator)
            weights = attention(query, query, torch.eye(n_tokens).expand(1, 1, -1, -1))[0]
            recall = float((weights.gather(-1, nearest) > 0).float().mean())
            rows.append({"tokens": name, "rounds": n_rounds, "recall": round(recall, 3)})
    return rows


# What is shown --------------------------------------------------------------------------------------------------------


def tables(record: dict) -> str:
    """The record for reading: ratios and memory, seconds, errors, goals."""
    lengths = list(record["rows"][0]["forward"])
    heads = [f"{int(n_tokens):,}" for n_tokens in lengths]
    lines = [f"{record['machine']}, {record['threads']} threads, {record['date']}", ""]

    lines += [
        f"Time, as a ratio to PyTorch's fused exact attention: forward; forward + backward at {BACKWARD_LENGTH:,}"
    ]
    lines += [_name({}) + "".join(f"{head:>9}" for head in heads) + "    slope    both"]
    for row in record["rows"]:
        ratios = [row["forward"].get(n_tokens, {}).get("ratio") for n_tokens in lengths]
        both = row.get("forward + backward", {}).get(str(BACKWARD_LENGTH), {}).get("ratio")
        lines += [_name(row) + _cells(ratios, 9, "{:.3f}") + _cells([row["slope"]], 9, "{:.2f}") + _cells([both])]

    lines += ["", "Milliseconds, forward: fastest / median / slowest"]
    lines += [_name({}) + "".join(f"{head:>24}" for head in heads)]
    for row in record["rows"]:
        times = [row["forward"].get(n_tokens, {}).get("ms") for n_tokens in lengths]
        texts = [" / ".join(f"{ms:.4g}" for ms in each) if each else None for each in times]
        lines += [_name(row) + _cells(texts, 24, "{}")]

    both = [row for row in record["rows"] if "forward + backward" in row]
    if both:
        lines += ["", f"Milliseconds, forward + backward at {BACKWARD_LENGTH:,}: fastest / median / slowest"]
    for row in both:
        lines += [_name(row) + " / ".join(f"{ms:.4g}" for ms in row["forward + backward"][str(BACKWARD_LENGTH)]["ms"])]

    lines += ["", "Most MiB in use beyond the inputs, forward; growth from {:,} to {:,}".format(*MEMORY_LENGTHS)]
    lines += [_name({}) + "".join(f"{head:>9}" for head in heads) + "   growth"]
    for row in record["rows"]:
        extra = [row["extra MiB"].get(n_tokens) for n_tokens in lengths]
        lines += [_name(row) + _cells(extra, 9, "{:.0f}") + _cells([row["memory growth"]], 9, "{:.1f}")]

    if "errors" in record:
        lines += ["", "Performer's error relative to the output (of the mean of all values), queries and keys normal"]
        for row in record["errors"]["Performer"]:
            scale = f"standard deviation {row['scale']}, {row['features']:,} features: "
            lines += [f"{scale}{row['error']:.3f} ({row['error of the mean of all values']:.3f})"]
        lines += ["", "LSH: share of the 16 nearest keys seen"]
        lines += [f"{row['tokens']}, {row['rounds']} rounds: {row['recall']:.2f}" for row in record["errors"]["LSH"]]

    lines += ["", "Goals"] if record["goals"] else []
    for goal in record["goals"]:
        limits = f"{goal['at least']} to {goal['at most']}" if "at least" in goal else f"at most {goal['at most']}"
        verdict = "met" if goal["met"] else "MISSED"
        lines += [f"{goal['variant'] + ', ' + goal['what']:<52}{limits:<16}{goal['reached']:<9}{verdict}"]
    return "\n".join(lines)


def _name(row: dict) -> str:
    return f"{row.get('variant', ''):<25}{row.get('by', ''):<30}"


def _cells(values: list, width: int = 8, form: str = "{:.3f}") -> str:
    return "".join(f"{'' if value is None else form.format(value):>{width}}" for value in values)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time efficient attention; see the top of this file.")
    parser.add_argument("--lengths", type=int, nargs="+", default=list(REPEATS), metavar="TOKENS")
    parser.add_argument("--only", nargs="+", default=list(VARIANTS), choices=list(VARIANTS), metavar="VARIANT")
    options = parser.parse_args()
    torch.set_num_threads(THREADS)
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler that counts memory would report each start and stop
    packages = {peer.package for peers in PEERS.values() for peer in peers}
    versions = {package: installed_version(package) for package in sorted(packages)}
    for package, version in versions.items():
        if version is None:
            print(f"{package} is not installed: left out")
    record = {"machine": measure.describe_machine(), "date": date.today().isoformat()}
    record |= {"threads": torch.get_num_threads(), "shape": [BATCH, N_HEADS, "tokens", D_HEAD], "packages": versions}
    record["differences of the packages"] = check_peers(options.only)
    record["rows"] = measure_all(sorted(options.lengths), options.only)
    whole = options.lengths == list(REPEATS) and options.only == list(VARIANTS)
    if whole:
        record["errors"] = {"Performer": performer_errors(), "LSH": lsh_recall()}
    record["goals"] = judge(record["rows"])
    print(tables(record))
    if whole:
        path = RESULTS / "efficient.json"
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print("wrote", path)


if __name__ == "__main__":
    main()
