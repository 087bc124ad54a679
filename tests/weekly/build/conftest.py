"""What the tests of the build share stands beside those of each change."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "build"))
