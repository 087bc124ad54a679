"""Which package is installed here: exercises and their checks may differ from one to the next."""

import importlib.metadata
import json
import subprocess
from pathlib import Path

import attention_course

PACKAGE = attention_course.__name__


def version() -> str:
    """Of the package."""
    return importlib.metadata.version(PACKAGE)


def commit() -> str:
    """The package's, from what pip noted or from the repository that holds it; empty where there is neither."""
    noted = json.loads(importlib.metadata.distribution(PACKAGE).read_text("direct_url.json") or "{}")
    if "vcs_info" in noted:
        return noted["vcs_info"]["commit_id"]
    file = Path(attention_course.__file__)
    git = ["git", "-C", file.parent]
    try:  # the package may lie, unknown to it, within a repository of something else
        subprocess.run([*git, "ls-files", "--error-unmatch", file.name], capture_output=True, check=True)
        asked = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return asked.stdout.strip()
