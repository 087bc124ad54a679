"""Tests of the site for every week, with the helpers of those for each change."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "site"))
