"""Time one token's attention to a long cache: grouped heads beside PyTorch's, and the two forms of latent attention.

python experiments/decoding.py     a minute; prints a table and records it in results/decoding.json

Ratios of medians in one process, each below 1 in our favour. One query a head, 8 heads of 64 (in PyTorch's layout,
`(batch, heads, tokens, d_head)`), float32, no gradients. PyTorch's own is `F.scaled_dot_product_attention(...,
enable_gqa=True)`; "copied" repeats keys and values for every query head first. Then the layers that decode: grouped
heads, and latent attention in its absorbed form (which its layer picks) beside its expanded one.
"""

import json
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F

from attention_course import KVCache, MultiHeadAttention, scaled_dot_product_attention
from attention_course.course import measure
from attention_course.efficient.latent import LatentAttention
from attention_course.grouped import grouped_query_attention

RESULTS = Path(__file__).parent / "results" / "decoding.json"
N_HEADS, D_HEAD, D_MODEL, D_LATENT, D_ROTARY = 8, 64, 512, 128, 32
CASES = [(1, 2, 1024), (1, 2, 4096), (1, 2, 16384), (1, 1, 4096), (1, 4, 4096), (8, 2, 4096)]
QUERIES = [4, 16, 64, 256, 1024]  # ours folds the first four
REPEATS = 300

grouped = partial(grouped_query_attention, scaled_dot_product_attention)


def grouped_times(batch: int, n_kv_heads: int, n_keys: int) -> dict:
    """One query: ratios of the folded group's time to PyTorch's grouped heads, and to copying."""
    query = torch.randn(batch, N_HEADS, 1, D_HEAD)
    key, value = torch.randn(2, batch, n_kv_heads, n_keys, D_HEAD)
    group = N_HEADS // n_kv_heads
    calls = {
        "ours": lambda: grouped(query, key, value, need_weights=False)[0],
        "PyTorch": lambda: F.scaled_dot_product_attention(query, key, value, enable_gqa=True),
        "copied": lambda: _copied(query, key, value, group),
    }
    torch.testing.assert_close(calls["ours"](), calls["PyTorch"]())
    row = {"batch": batch, "n_kv_heads": n_kv_heads, "keys": n_keys}
    return row | _ratios(calls, REPEATS)


def _copied(query, key, value, group: int, mask: torch.Tensor | None = None) -> torch.Tensor:
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    return F.scaled_dot_product_attention(query, key, value, mask)


def many_queries_times(n_queries: int) -> dict:
    """More queries, the newest of 4,096 tokens, under the causal mask: does folding still pay?"""
    query, mask = torch.randn(1, N_HEADS, n_queries, D_HEAD), torch.ones(n_queries, 4096).tril(4096 - n_queries).bool()
    key, value = torch.randn(2, 1, 2, 4096, D_HEAD)
    calls = {
        "ours": lambda: grouped(query, key, value, mask, need_weights=False)[0],
        "PyTorch": lambda: F.scaled_dot_product_attention(query, key, value, mask, enable_gqa=True),
        "copied": lambda: _copied(query, key, value, N_HEADS // key.size(1), mask),
    }
    torch.testing.assert_close(calls["ours"](), calls["PyTorch"](), atol=1e-5, rtol=1e-4)
    return {"queries": n_queries, "keys": 4096} | _ratios(calls, 100 if n_queries < 100 else 15)


def layer_times(n_keys: int) -> dict:
    """Whole layers on one new token: latent attention in both forms, beside 8 and 2 heads of keys and values."""
    past, newest = torch.randn(1, n_keys - 1, D_MODEL), torch.randn(1, 1, D_MODEL)
    latent = LatentAttention(D_MODEL, N_HEADS, D_LATENT, d_rotary=D_ROTARY)
    expanded = LatentAttention(D_MODEL, N_HEADS, D_LATENT, d_rotary=D_ROTARY)
    expanded.absorbed = expanded.expanded
    others = {
        "expanded": expanded,
        "8 heads": MultiHeadAttention(D_MODEL, N_HEADS),
        "2 heads": MultiHeadAttention(D_MODEL, N_HEADS, 2),
    }
    row = {"keys": n_keys}
    for name, other in others.items():  # each pair with two new caches, which grow alike
        row |= _ratios({"ours": _decoder(latent, past, newest), name: _decoder(other, past, newest)}, 100)
    return row


def _decoder(layer: torch.nn.Module, past: torch.Tensor, newest: torch.Tensor) -> Callable:
    cache = KVCache()
    layer(past, cache=cache)

    def decode():  # each call writes one more token: the capacity, which doubles, has room for them
        return layer(newest, cache=cache)

    return decode


def _ratios(calls: dict[str, Callable], repeats: int) -> dict:
    """Ours beside each of the others in turn: three together would find the cache as the slowest left it."""
    row = {}
    for name in [each for each in calls if each != "ours"]:
        times = measure.time_calls({each: calls[each] for each in ("ours", name)}, repeats=repeats, warmup=10)
        row[f"ours / {name}"] = round(times["ours"].median / times[name].median, 3)
        for each, timing in times.items():
            seconds = timing.fastest, timing.median, timing.slowest
            row[f"{each} beside {name}, µs" if each == "ours" else f"{each}, µs"] = [round(1e6 * s) for s in seconds]
    return row


@torch.no_grad()
def main() -> None:
    record = {"machine": measure.describe_machine(), "date": date.today().isoformat()}
    record |= {"threads": torch.get_num_threads(), "n_heads": N_HEADS, "d_head": D_HEAD}
    record |= {"d_latent": D_LATENT, "d_rotary": D_ROTARY}
    parts = {
        "grouped heads, one query": (grouped_times, CASES),
        "grouped heads, more queries": (many_queries_times, [(n_queries,) for n_queries in QUERIES]),
        "latent layer": (layer_times, [(1024,), (4096,)]),
    }
    for part, (time_case, cases) in parts.items():
        record[part] = [time_case(*case) for case in cases]
        for row in record[part]:
            print(part, *(f"{name} {number}" for name, number in row.items() if "µs" not in name), sep=", ")
    RESULTS.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print("wrote", RESULTS)


if __name__ == "__main__":
    main()
