"""What the Makefile promises, but for what is built: what it installs, starts and names."""

import json
import os
import re
import shutil
import sys

import pytest
from published import published
from tiny_book import ROOT, make


def test_a_change_of_the_pins_installs_again(tmp_path):
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    venv = tmp_path / ".venv"
    venv.mkdir()
    for stamp in (".pins", ".package"):
        (venv / stamp).touch()
    plan = ["--dry-run", ".venv/.package"]
    assert "pip install" not in make(tmp_path, *plan)[1]
    (tmp_path / "requirements.txt").write_text("torch==3.0.0\n")
    assert "pip install" in make(tmp_path, *plan)[1]


# Whatever the make that runs this was asked for, and that there is one.
INNER = {"MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "ALL"}
OUTSIDE = {name: value for name, value in os.environ.items() if name not in INNER}
WEEKLY = ROOT / "tests" / "weekly"
ENVIRONMENTS = ["", "-peers", "-colab", "-lab", "-lab3", "-oldest", "-newest", "-book2", "-real"]


@pytest.mark.parametrize("which", ENVIRONMENTS)
def test_bytecode_is_made_once_whatever_the_environment_says(which):
    variables = OUTSIDE | {"PYTHONDONTWRITEBYTECODE": "1"}
    environment = f".venv{which}"
    stamp = f"{environment}/.pins"
    lines = make(ROOT, "--dry-run", "--always-make", stamp, env=variables)[1].splitlines()
    (touched,) = [place for place, line in enumerate(lines) if line == f"touch {stamp}"]
    assert lines[touched - 1].startswith(f"{environment}/bin/python -m compileall ")
    said = make(ROOT, "--eval", "said: ; @echo [$$PYTHONDONTWRITEBYTECODE]", "said", env=variables)[1]
    assert said == "[]\n"


def test_what_is_for_the_week_is_left_out_unless_all_is_asked_for():
    def asked(*arguments):
        lines = make(ROOT, "--dry-run", *arguments, env=OUTSIDE)[1].splitlines()
        (line,) = [line for line in lines if " -m pytest " in line]
        return line

    tried = set()
    for stage in ("test-package", "test-build", "test-site", "test-engines", "test-hosts"):
        assert '-m "not weekly"' in asked(stage) and "tests/weekly" not in asked(stage)
        assert "not weekly" not in asked(stage, "ALL=1")
        tried |= set(re.findall(r"tests/weekly/(\w+)", asked(stage, "ALL=1")))
    assert {file.relative_to(WEEKLY).parts[0] for file in WEEKLY.glob("**/test_*.py")} <= tried


def test_an_interrupted_installation_is_begun_again(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    program(tmp_path / "pip", "echo no network; exit 1")
    program(tmp_path / "python", "case $1 in -m) mkdir -p .venv/bin && cp pip .venv/bin;; esac")
    for _ in range(2):
        status, output = make(tmp_path, "site", "PYTHON=./python")
        assert status != 0
        assert "no network" in output


def test_an_old_python_is_told_so(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.txt").touch()
    pretend = f"""exec {sys.executable} -c "import sys; sys.version_info = (3, 9, 1); $2" """
    program(tmp_path / "python", f'[ "$1" = --version ] && echo Python 3.9.1 && exit\n{pretend}')
    status, output = make(tmp_path, "site", "PYTHON=./python")
    assert status != 0
    assert "needs Python 3.11 or newer, and ./python is Python 3.9.1" in output


def program(path, script):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def browser(tmp_path):
    """`make browser` on a machine that has only the programs of this folder."""
    return make(
        ROOT, "browser", "CHROMIUM=no-such-browser", executable=shutil.which("make"), env={"PATH": str(tmp_path)}
    )


def test_a_missing_browser_is_never_passed_over(tmp_path):
    status, output = browser(tmp_path)
    assert status != 0
    assert "make test CHROMIUM=/path/to/chromium" in output


def test_a_missing_browser_is_installed_where_it_may(tmp_path):
    program(tmp_path / "id", "echo 0")
    program(tmp_path / "env", f'{shutil.which("env")} "$@"')
    program(tmp_path / "apt-get", f'echo "$1" >> {tmp_path}/calls')
    status, output = browser(tmp_path)
    assert status == 0, output
    assert (tmp_path / "calls").read_text().split() == ["update", "install"]


@pytest.fixture
def unnamed(tmp_path):
    """The files that say where the course is published, and two notebooks: one with the setup cell, one without."""
    files = ["Makefile", "_config.yml", "pyproject.toml", "CITATION.cff", "attention_classroom/pyproject.toml"]
    for name in (*files, "tools/published.py", "tools/setup_cell.py", "intro.ipynb", "chapters/masking.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "chapters" / "bare.ipynb").write_text('{"cells": []}')
    return tmp_path


def setup_cell(path):
    return "".join(next(c["source"] for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"))


def test_the_repository_is_named_everywhere(unnamed):
    status, output = make(unnamed, "url", "URL=https://github.com/Group/course")
    assert status == 0, output
    assert published(unnamed)["url"] == "https://github.com/Group/course"
    assert published(unnamed)["baseurl"] == "https://group.github.io/course"
    assert "\nrepository-code: https://github.com/Group/course\n" in (unnamed / "CITATION.cff").read_text()
    for name in ("intro", "chapters/masking"):
        cell = setup_cell(unnamed / f"{name}.ipynb")
        assert 'repository, site = "https://github.com/Group/course", ' in cell
        assert ', "https://group.github.io/course"\n' in cell and f"{{site}}/{name}.html" in cell
    assert (unnamed / "chapters" / "bare.ipynb").read_text() == '{"cells": []}'


def test_a_site_at_the_root_of_its_host_is_known(unnamed):
    make(unnamed, "url", "URL=https://github.com/Group/group.github.io")
    assert published(unnamed)["baseurl"] == "https://group.github.io"


def test_naming_it_changes_nothing_else_of_a_notebook(unnamed):
    before = (unnamed / "chapters" / "masking.ipynb").read_text()
    old = published(unnamed)
    make(unnamed, "url", "URL=https://example.org/group/course", "SITE=https://example.org/site/")
    assert (unnamed / "chapters" / "masking.ipynb").read_text() != before
    make(unnamed, "url", f"URL={old['url']}", f"SITE={old['baseurl']}")
    assert (unnamed / "chapters" / "masking.ipynb").read_text() == before


def test_a_version_is_named_everywhere(unnamed):
    status, output = make(unnamed, "version", "VERSION=1.2.0", "BRANCH=v1.2.0")
    assert status == 0, output
    assert published(unnamed) == published(ROOT) | {"version": "1.2.0", "branch": "v1.2.0"}
    assert "\nversion: 1.2.0\n" in (unnamed / "CITATION.cff").read_text()
    cell = setup_cell(unnamed / "chapters" / "masking.ipynb")
    assert 'wheel, revision = "attention_course-1.2.0-py3-none-any.whl", "v1.2.0"\n' in cell
    assert 'setup(version="1.2.0"' in cell


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["URL="], "make url URL=https://"),
        (["URL=example.org/group/course"], "make url URL=https://"),
        (["URL=https://example.org/group/course.git"], "make url URL=https://"),
        (["URL=https://example.org/group/course"], "Say also where its site is"),
        (["URL=https://github.com/group/course", "SITE=http://here/site"], "not SITE=http://here/site"),
    ],
)
def test_an_address_that_would_not_do_is_refused(unnamed, arguments, told):
    status, output = make(unnamed, "url", *arguments)
    assert status != 0
    assert told in output
    assert published(unnamed) == published(ROOT)


def test_make_alone_lists_what_it_can_do():
    _, output = make(ROOT)
    for target in ("site", "serve", "install", "test", "sweeps", "odds", "gpu", "url", "clean"):
        assert re.search(rf"^make {target} +\S", output, re.MULTILINE)
