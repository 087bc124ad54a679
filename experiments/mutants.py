"""Plant mistakes in the package, one at a time, and see whether the tests of that file notice.

make mutants                                  a sample of every file below; the result goes to experiments/results
make mutants FILES="masks.py positions.py"    only these, beside the last result of the others
make mutants SAMPLE=0                         every mistake rather than a sample: hours

mistakes.py says which mistakes there are. One is killed when a test fails or the tests never end. One that changes
nothing a test could see is listed in equivalent_mutants.toml with the reason, and does not count.
"""

import argparse
import json
import multiprocessing
import os
import platform
import random
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from importlib.metadata import version
from operator import itemgetter
from pathlib import Path
from queue import Queue

from mistakes import mutants


def contract(*mechanisms: str) -> list[str]:
    """Of the tests that run over every mechanism those of these, and all tests of the other files that are named."""
    over_all = ["test_contract", "test_hidden", "test_refusals"]
    chosen = " or ".join([*mechanisms, f"not ({' or '.join(over_all)})"])
    return [*(f"{name}.py" for name in over_all), "-k", chosen]


# Each file of the package in which mistakes are planted, and the tests that have to notice.
MODELS = ["efficient/test_exact.py", "efficient/test_plug_in.py"]
TESTS = {
    "attention.py": ["test_attention.py", "test_mechanism.py", "test_kv_cache.py", *contract("exact")],
    "support/autocast.py": ["support/test_autocast.py"],
    "kv_cache.py": ["test_kv_cache.py"],
    "interpreting/circuits.py": ["interpreting/test_circuits.py"],
    "classifiers.py": ["test_classifiers.py"],
    "interpreting/comparison.py": ["interpreting/test_comparison.py"],
    "decoding.py": ["test_decoding.py"],
    "embeddings.py": ["test_embeddings.py"],
    "encoder_decoder.py": ["test_encoder_decoder.py"],
    "diagnosing/examine.py": ["diagnosing/test_examine.py"],
    "fused.py": ["test_fused.py", "test_attention.py"],
    "grouped.py": ["test_grouped.py"],
    "interpreting/interpret.py": ["interpreting/test_interpret.py"],
    "interpreting/patching.py": ["interpreting/test_patching.py"],
    "interpreting/relevance.py": ["interpreting/test_relevance.py"],
    "language_model.py": ["test_language_model.py"],
    "modern_block.py": ["test_gated_block.py"],
    "masks.py": ["test_masks.py"],
    "mechanism.py": ["test_mechanism.py", "test_kv_cache.py", "test_attention.py"],
    "course/ladder.py": ["course/test_ladder.py"],
    "positions.py": ["test_positions.py"],
    "seq2seq_rnn.py": ["test_seq2seq_rnn.py"],
    "scores.py": ["test_scores.py"],
    "interpreting/ablations.py": ["interpreting/test_ablations.py"],
    "t5_bias.py": ["test_t5_bias.py"],
    "course/training.py": ["course/test_training.py"],
    "transformer.py": ["test_transformer.py"],
    "support/validation.py": ["support/test_validation.py", "test_attention.py"],
    "efficient/block_sparse.py": [*MODELS, *contract("block")],
    "efficient/chunked.py": ["efficient/test_chunked.py", *MODELS, *contract("chunked")],
    "efficient/flash.py": ["efficient/test_flash.py", *MODELS, "test_mechanism.py", *contract("flash")],
    "efficient/flash_triton.py": ["efficient/test_flash_triton.py"],
    "efficient/flex.py": ["efficient/test_flex.py", *contract("flex")],
    "efficient/gated_delta.py": ["efficient/test_matrix_state.py", *contract("delta")],
    "efficient/gated_linear.py": ["efficient/test_matrix_state.py", *contract("gated")],
    "efficient/indexer.py": ["efficient/test_top_k.py", *contract("top-k")],
    "efficient/inputs.py": ["efficient/test_linear.py", *MODELS, *contract("linear", "window", "LSH")],
    "efficient/latent.py": ["efficient/test_latent.py", "test_kv_cache.py", *contract("latent")],
    "efficient/linear.py": ["efficient/test_linear.py", *MODELS, *contract("linear")],
    "efficient/linformer.py": [*MODELS, *contract("Linformer")],
    "efficient/longformer.py": [*MODELS, *contract("window")],
    "efficient/matrix_state.py": [
        "efficient/test_matrix_state.py",
        "test_kv_cache.py",
        *contract("retention", "gated", "delta"),
    ],
    "efficient/performer.py": ["efficient/test_performer.py", *MODELS, *contract("Performer")],
    "efficient/reformer.py": ["efficient/test_reformer.py", *MODELS, *contract("LSH")],
    "efficient/retention.py": ["efficient/test_matrix_state.py", *contract("retention")],
    "efficient/running_sums.py": ["efficient/test_linear.py", *contract("linear", "Performer")],
    "efficient/sinks.py": ["efficient/test_sinks.py", "test_kv_cache.py", *contract("sinks")],
    "efficient/tiles.py": ["efficient/test_tiles.py", "efficient/test_flash.py", *contract("flash", "ring")],
    "efficient/top_k.py": ["efficient/test_top_k.py", "test_kv_cache.py", *contract("top-k")],
    "distributed/ring.py": ["distributed/test_ring.py"],
    "distributed/zigzag.py": ["distributed/test_ring.py"],
}
# The rooms whose files TESTS must name, so that a new one is missed: all but those that store, draw, time or say.
ROOMS = [".", "course", "distributed", "efficient", "interpreting", "support", "tasks"]
SPARED = [
    "course/checkpoints.py",
    "course/claims.py",
    "course/environment.py",
    "course/measure.py",
    "course/palette.py",
    "course/plots.py",
    "moved.py",
    "pretrained.py",
    "real_models.py",
    "support/arrays.py",
    "support/float16_weights.py",
    "support/renamed.py",
]
SAMPLE = 12
GOAL = 0.95

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attention_course"
TESTS |= {
    f"tasks/{task.name}": [f"tasks/test_{task.name}", "tasks/test_batch.py"]
    for task in sorted(PACKAGE.glob("tasks/[!_]*.py"))
}
RESULTS = ROOT / "experiments" / "results" / "mutants.json"
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")

# Every test run is forked from one process that has imported what takes long; the package itself is not among it.
FORK = multiprocessing.get_context("forkserver")
PRELOAD = ["torch", "numpy", "pytest", "hypothesis", "matplotlib.pyplot", "seaborn", "sklearn"]


def wrongly_named() -> list[str]:
    """Files of the rooms that neither TESTS nor SPARED names, and what they name that is not there, tests too."""
    there = {str(file.relative_to(PACKAGE)) for room in ROOMS for file in PACKAGE.glob(f"{room}/[!_]*.py")}
    named = {*TESTS, *SPARED}
    tests = {f"tests/package/{test}" for each in TESTS.values() for test in each if test.endswith(".py")}
    gone = [each for each in named if not (PACKAGE / each).is_file()]
    return sorted(there - named) + sorted(gone) + sorted(test for test in tests if not (ROOT / test).is_file())


def equivalents(path: str) -> list[dict]:
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("equivalent", [])
    return [entry for entry in entries if entry["file"] == path]


def matches(entry: dict, mutant: dict) -> bool:
    """An entry without `becomes` speaks of every mutant of its line."""
    return entry["was"] == mutant["was"] and entry.get("becomes") in (None, mutant["becomes"])


def run_tests(copy: str, tests: list[str]):
    """In a process of its own, forked from one that has imported torch already."""
    import hypothesis
    import pytest

    os.setsid()  # so that what the tests start ends with them
    os.chdir(copy)
    sys.path.insert(0, copy)
    os.environ["PYTHONPATH"] = copy
    hypothesis.settings.register_profile("mutants", derandomize=True, database=None, deadline=None)
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1), os.dup2(sink, 2)
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
    os._exit(pytest.main([*options, *(f"tests/package/{test}" if test.endswith(".py") else test for test in tests)]))


def judge(copy: str, tests: list[str], limit: float | None = None) -> str:
    """Whether the tests pass (`survived`), fail (`killed`) or take more than `limit` seconds (`timeout`)."""
    process = FORK.Process(target=run_tests, args=(copy, tests))
    process.start()
    process.join(limit)
    late = process.is_alive()
    if late:
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
    if process.exitcode in (3, 4, 5):
        raise SystemExit(f"pytest could not run {tests}")
    return "timeout" if late else "killed" if process.exitcode else "survived"


def try_file(path: str, copies: Queue, pool: ThreadPoolExecutor, sample: int) -> dict:
    source = (PACKAGE / path).read_text(encoding="utf-8")
    planted, excused = mutants(source), equivalents(path)
    for entry in excused:
        if not any(matches(entry, mutant) for mutant in planted):
            raise SystemExit(f"{EQUIVALENT.name} speaks of a mutant of {path} that there is not: {entry}")
    real = [mutant for mutant in planted if not any(matches(entry, mutant) for entry in excused)]
    chosen = random.Random(path).sample(real, min(sample or len(real), len(real)))

    def attempt(mutant: dict | None, limit: float | None = None) -> str:
        copy = copies.get()
        file = Path(copy, "attention_course", path)
        file.write_text(mutant["source"] if mutant else source, encoding="utf-8")
        try:
            return judge(copy, TESTS[path], limit)
        finally:
            file.write_text(source, encoding="utf-8")
            copies.put(copy)

    began = time.time()
    if attempt(None) != "survived":
        raise SystemExit(f"The tests of {path} must pass before mistakes are planted: {TESTS[path]}")
    limit = 20 + 5 * (time.time() - began)
    outcomes = list(pool.map(lambda mutant: attempt(mutant, limit), chosen))
    survivors = [
        {key: mutant[key] for key in ("line", "was", "becomes")}
        for mutant, outcome in zip(chosen, outcomes, strict=True)
        if outcome == "survived"
    ]
    return {
        "tests": TESTS[path],
        "mutants": len(planted),
        "equivalent": len(planted) - len(real),
        "tried": len(chosen),
        "killed": len(chosen) - len(survivors),
        "timeouts": outcomes.count("timeout"),
        "survivors": sorted(survivors, key=itemgetter("line")),
        "seconds": round(time.time() - began),
        "date": date.today().isoformat(),
    }


def record(path: str, result: dict) -> dict:
    """Put a file's result beside the last ones of the others."""
    files = json.loads(RESULTS.read_text())["files"] if RESULTS.exists() else {}
    files[path] = result
    files = {path: files[path] for path in TESTS if path in files}
    versions = {"Python": platform.python_version(), "PyTorch": version("torch")}
    RESULTS.write_text(json.dumps({"versions": versions, "files": files}, indent=1, ensure_ascii=False) + "\n")
    return files


def show(files: dict) -> bool:
    """Print what survived, and whether enough did not."""
    print(f"\n{'file':32} {'mutants':>8} {'tried':>6} {'killed':>7}")
    for path, result in files.items():
        share = result["killed"] / result["tried"]
        print(f"{path:32} {result['mutants'] - result['equivalent']:8} {result['tried']:6} {share:7.1%}")
        for survivor in result["survivors"]:
            print(f"  {path}:{survivor['line']}  {survivor['was']}\n    -> {survivor['becomes']}")
    tried, killed = (sum(result[key] for result in files.values()) for key in ("tried", "killed"))
    print(f"{killed} of {tried} killed: {killed / tried:.1%}, of which at least {GOAL:.0%} must be")
    return killed >= GOAL * tried


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", default=list(TESTS), help="within attention_course; without any, all")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="how many mistakes a file; 0 for every one")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    options = parser.parse_args()
    if not set(options.files) <= set(TESTS):
        parser.error(f"each file needs a line in TESTS, got {' '.join(sorted(set(options.files) - set(TESTS)))}")
    if wrong := wrongly_named():
        parser.error(f"TESTS and SPARED must name the files there are, and say otherwise of {wrong}")
    os.environ |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
    FORK.set_forkserver_preload(PRELOAD)
    copies = Queue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        for job in range(options.jobs):
            for part in ("attention_course", "chapters", "experiments", "tests", "tools"):
                shutil.copytree(ROOT / part, Path(folder, str(job), part), ignore=shutil.ignore_patterns("__pycache__"))
            copies.put(str(Path(folder, str(job))))
        for path in options.files:
            result = try_file(path, copies, pool, options.sample)
            files = record(path, result)
            print(f"{path}: {result['killed']} of {result['tried']} killed in {result['seconds']} s", flush=True)
    sys.exit(not show(files))


if __name__ == "__main__":
    main()
