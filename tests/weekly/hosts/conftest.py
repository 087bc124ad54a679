"""What runs JupyterLab for tests/hosts, tried itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "hosts"))
