"""Build the package as a wheel, one file that pip installs without git or a repository; the site serves it."""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from environments import run

FOLDER = Path("_build/wheel")
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def build_wheel() -> Path:
    """Build it anew, and alone in its folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with TemporaryDirectory() as temporary:  # setuptools would find what an earlier build left in this one
        source = Path(temporary)
        shutil.copytree("attention_course", source / "attention_course", ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("pyproject.toml", "LICENSE"):
            shutil.copy(name, source)
        run(sys.executable, "-c", BUILD, FOLDER.absolute(), cwd=source)
    (wheel,) = FOLDER.iterdir()
    return wheel


if __name__ == "__main__":
    print(build_wheel())
