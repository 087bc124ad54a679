"""The package installs from a folder too, beside other people's torch and numpy.

That each notebook installs it by its own setup cell and runs alone is tools/alone.py's to show.
"""

import shutil
from pathlib import Path

from environments import overlay, run


def test_the_package_installs_from_a_folder(root, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    source = tmp_path / "source"
    shutil.copytree(root / "attention_course", source / "attention_course")
    for name in ("pyproject.toml", "LICENSE"):
        shutil.copy(root / name, source)
    python = overlay(tmp_path / "environment", root / ".venv-colab")
    before = set(run(python, "-m", "pip", "list", "--format=freeze").split())
    run(python, "-m", "pip", "install", "--quiet", source)
    installed = run(python, "-c", "import attention_course as a; print(a.__file__)", cwd=tmp_path)
    assert Path(installed.strip()).is_relative_to(tmp_path / "environment")
    assert before <= set(run(python, "-m", "pip", "list", "--format=freeze").split())
