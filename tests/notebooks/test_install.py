"""The package comes as one file, beside other people's torch and numpy.

That each notebook installs it by its own setup cell and runs alone is tools/alone.py's to show.
"""

from pathlib import Path
from zipfile import ZipFile

import pytest
from environments import overlay, run
from wheel import build_wheel


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("wheel.FOLDER", tmp_path_factory.mktemp("wheel"))
        yield build_wheel()


def test_a_wheel_holds_every_file_of_the_package(root, wheel):
    package = root / "attention_course"
    files = {file.relative_to(root).as_posix() for file in package.rglob("*") if file.is_file()}
    wanted = {file for file in files if "__pycache__" not in file and not file.endswith(".d.ts")}  # only tsc reads it
    assert {name for name in ZipFile(wheel).namelist() if name.startswith("attention_course/")} == wanted


def test_the_package_installs_from_its_wheel(root, wheel, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    python = overlay(tmp_path / "environment", root / ".venv-colab")
    before = set(run(python, "-m", "pip", "list", "--format=freeze").split())
    run(python, "-m", "pip", "install", "--quiet", wheel)
    installed = run(python, "-c", "import attention_course as a; print(a.__file__)", cwd=tmp_path)
    assert Path(installed.strip()).is_relative_to(tmp_path / "environment")
    assert before <= set(run(python, "-m", "pip", "list", "--format=freeze").split())
