"""What `make test` does after the installation: one stage behind another, and at the end how long each took.

A stage that has no place in BUDGETS is a mistake. Budgets are minutes at the reference speed; nothing fails for time.
"""

import os
import subprocess
import sys
import time

BUDGETS = {
    "site": 8,
    "test-claims": 1,
    "test-lint": 0.5,
    "test-notebooks": 1,
    "test-package": 5,
    "test-build": 1.5,
    "test-colab": 1,
    "test-site": 5,
    "test-engines": 1,
    "test-hosts": 1,
}
# Seconds that two processes at once, each on one thread, took for it on two cores of an Intel Xeon of 2023.
REFERENCE = 2.5
# What most of the time goes into: steps of small models, and Python. Large products of matrices decide little.
WORK = """\
import ast, inspect, time, torch
layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
tokens, optimizer = torch.randn(32, 32, 64), torch.optim.AdamW(layer.parameters(), fused=True)
source = inspect.getsource(ast)
start = time.perf_counter()
for _ in range(200):
    layer(tokens).square().mean().backward()
    optimizer.step()
for _ in range(20):
    ast.unparse(ast.parse(source))
print(time.perf_counter() - start)"""


def speed():
    """How fast this machine is, beside the reference."""
    command = [sys.executable, "-c", WORK]
    variables = os.environ | {"OMP_NUM_THREADS": "1"}
    both = [subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return 2 * REFERENCE / sum(float(one.communicate()[0]) for one in both)


def run(stage):
    """Run a stage: whether it passed, and its minutes."""
    print(f"\n== {stage}", flush=True)
    start = time.perf_counter()
    done = subprocess.run([*os.environ.get("MAKE", "make").split(), "--no-print-directory", stage])
    return done.returncode == 0, (time.perf_counter() - start) / 60


def table(ran, speed):
    """Each stage beside its budget, as lines: `{stage: (passed, minutes)}`; the budgets are those of this machine."""
    rows = []
    for stage, (passed, minutes) in ran.items():
        budget = BUDGETS[stage] / speed
        over = "  over its budget" if minutes > budget else ""
        rows.append(f"{'passed' if passed else 'FAILED'}  {stage:15} {minutes:5.1f} min of {budget:4.1f}{over}")
    minutes, budget = sum(minutes for _, minutes in ran.values()), sum(BUDGETS[stage] for stage in ran) / speed
    rows.append(f"in all {minutes:.1f} min of {budget:.1f}, without the installation; this machine has {speed:.2f} ")
    rows[-1] += f"times the reference speed, at which it would be {minutes * speed:.1f} min"
    return rows


def main(*stages):
    """Run them all, whatever fails; the exit status."""
    before = speed()
    ran = {stage: run(stage) for stage in stages}
    print("\n" + "\n".join(table(ran, (before + speed()) / 2)))  # others may have been at work for a while
    return int(not all(passed for passed, _ in ran.values()))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
