import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "sweeps"
sys.path.append(str(FOLDER))  # sweeps share what stands in files with an underscore


@pytest.fixture(scope="module")
def sweep(request):
    """The script that the test file is named after. (Its "sweep" keeps the name apart from a test of the package.)"""
    name = request.module.__name__.rpartition("test_sweep_")[2]
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
