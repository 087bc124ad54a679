"""Explorers in Firefox and in WebKit beside PyTorch, as tests/site has them in Chromium on each change."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[2]
sys.path[:0] = [str(TESTS / "site"), str(TESTS / "engines")]

from started import engine  # noqa: E402, F401
from started import for_each_engine as pytest_generate_tests  # noqa: E402, F401
