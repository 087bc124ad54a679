"""Build the package as a wheel, one file that pip installs without git or a repository, which the site serves.

The instructors' program is another such file.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from environments import run

FOLDER = Path("_build/wheel")
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def build_wheel(package: str = "attention_course") -> Path:
    """Build it anew, beside nothing that was built of it before."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob(f"{package}-*"):
        old.unlink()
    with TemporaryDirectory() as temporary:  # setuptools would find what an earlier build left in this one
        source = Path(temporary)
        shutil.copytree(package, source / package, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
        if (source / package / "pyproject.toml").exists():
            source /= package
        else:
            for name in ("pyproject.toml", "LICENSE"):
                shutil.copy(name, source)
        run(sys.executable, "-c", BUILD, FOLDER.absolute(), cwd=source)
    (wheel,) = FOLDER.glob(f"{package}-*")
    return wheel


if __name__ == "__main__":
    print(build_wheel())
    print(build_wheel("attention_classroom"))
