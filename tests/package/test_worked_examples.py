"""The code in README.md and CONTRIBUTING.md does what the words around it say."""

import math
import re
from pathlib import Path

import pytest
import torch
from seeding import seeded

ROOT = Path(__file__).parents[2]


def run(name):
    """What the Python code in a file of the repository defines."""
    names = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL):
        exec(block, names)
    return names


def test_readmes_lines_name_the_mistake(capsys):
    names = run("README.md")
    assert names["output"].shape == (1, 100, 512)
    assert "square root" in capsys.readouterr().out


@pytest.mark.parametrize("causal", [False, True])
def test_the_mechanism_that_is_added_is_its_definition(causal):
    names = run("CONTRIBUTING.md")
    attention = names["SoftCapAttention"](cap=2.0)
    tokens = 3 * torch.randn(3, 2, 4, 6, 8, generator=seeded(), dtype=torch.float64)
    mask = torch.ones(6, dtype=torch.bool)
    mask[2] = False
    output, weights = attention.attend(*tokens, mask, causal=causal, need_weights=True)
    torch.testing.assert_close(output, names["soft_cap"](attention, *tokens, mask, causal=causal))
    assert weights[..., -1, :].amax() <= 1 / (1 + 4 * math.exp(-4))  # of five keys, with scores between -2 and 2
    with pytest.raises(ValueError, match="cap must be above 0, got -1"):
        names["SoftCapAttention"](-1)
