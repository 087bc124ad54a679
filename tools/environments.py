"""An environment over another one, for a single use: it takes no time to make, and nothing has to be uninstalled."""

import subprocess
from pathlib import Path


def site_packages(environment):
    """Where an environment's packages are."""
    return next(Path(environment).glob("lib/python*/site-packages")).absolute()


def overlay(folder, environment):
    """Make an environment over another one, with its Python: all of it is there, and what is installed comes on top.

    Returns:
        The path of its Python.
    """
    below = Path(environment) / "bin" / "python"
    assert below.exists(), f"{environment} is not there: `make install` makes it"
    run(below, "-m", "venv", "--without-pip", "--symlinks", folder)
    (site_packages(folder) / "below.pth").write_text(f"{site_packages(environment)}\n")
    return Path(folder).absolute() / "bin" / "python"


def run(*command, **options):
    """The standard output of a command that must succeed; what it said where it does not."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command[:4]} failed:\n{done.stdout[-2000:]}\n{done.stderr[-6000:]}"
    return done.stdout
