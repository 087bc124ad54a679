"""The first cell of a notebook where the package is missing or another one: it installs it, or says what to do."""

import os
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from environments import overlay
from seeds import seeded
from setup_cell import CELL

WHEEL = "attention_course-0.1.0-py3-none-any.whl"
NOWHERE = "http://127.0.0.1:9"  # where nothing listens


def small_wheel(path, version):
    """A package of this name with nothing in it but `setup`."""
    about = f"attention_course-{version}.dist-info"
    files = {
        "attention_course/__init__.py": "def setup(version, page):\n    print(f'{page} of {version} set up')\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: attention_course\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    listed = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    with ZipFile(path, "w") as wheel:
        for name, text in {**files, f"{about}/RECORD": listed}.items():
            wheel.writestr(name, text)


@pytest.fixture
def reader(root, tmp_path):
    """A folder with nothing in it, and the packages of a Colab notebook; `run` runs the cell there."""
    python, folder = overlay(tmp_path / "environment", root / ".venv-colab"), tmp_path / "notes" / "week 1"
    folder.mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(url="https://github.com/your-organisation/course", site="https://example.org", **environment):
        cell = CELL.format(url=url, baseurl=site, branch="main", version="0.1.0", page="chapters/masking")
        command = [python, "-c", cell]
        return subprocess.run(command, cwd=folder, env=kept | environment, capture_output=True, text=True)

    return SimpleNamespace(folder=folder, python=python, run=run)


@pytest.fixture
def site(tmp_path):
    """The address of a site that serves a wheel, without a word to this terminal."""
    folder = tmp_path / "site"
    folder.mkdir()
    small_wheel(folder / WHEEL, "0.1.0")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def says_what_to_do(ran):
    """Whether the last thing said is the sentence, and nothing is left of what pip and git said."""
    said = ran.stderr.splitlines()[-1]
    assert "git" not in ran.stdout
    return ran.returncode == 1 and f"Ask whoever gave you this notebook for {WHEEL}" in said


def test_a_notebook_without_an_address_asks_nobody(reader, tmp_path):
    """The name that stands for an organisation could be anybody's."""
    program = tmp_path / "programs" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexit 1")
    program.chmod(0o755)
    assert says_what_to_do(reader.run(PATH=f"{program.parent}:{os.environ['PATH']}"))
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("where", [".", ".."])
def test_a_wheel_beside_the_notebook_or_above_it_is_enough(reader, where):
    small_wheel(reader.folder / where / WHEEL, "0.1.0")
    assert reader.run().stdout == "https://example.org/chapters/masking.html of 0.1.0 set up\n"


def test_a_wrong_address_says_what_to_do(reader, site):
    assert says_what_to_do(reader.run(url=f"{site}/group/course", site=f"{site}/elsewhere"))


def test_no_network_says_what_to_do(reader):
    assert says_what_to_do(reader.run(url=f"{NOWHERE}/group/course", site=NOWHERE))


def test_without_git_the_site_has_the_package(reader, site):
    (reader.folder / "no programs").mkdir()
    ran = reader.run(url=f"{NOWHERE}/group/course", site=site, PATH=str(reader.folder / "no programs"))
    assert ran.stdout == f"{site}/chapters/masking.html of 0.1.0 set up\n"


def test_what_is_installed_is_left_alone(reader, tmp_path):
    old = tmp_path / "attention_course-0.0.9-py3-none-any.whl"
    small_wheel(old, "0.0.9")
    subprocess.run([reader.python, "-m", "pip", "install", "--quiet", old], check=True)
    assert reader.run(url=f"{NOWHERE}/group/course", site=NOWHERE).stdout.endswith("of 0.1.0 set up\n")


def test_the_cell_takes_another_seed(root, monkeypatch):
    """As the odds of claims need it, and what tries a claim again that did not hold."""
    monkeypatch.chdir(root)
    cell = next(cell for cell in seeded("chapters/masking", 3).cells if cell.cell_type == "code")
    assert 'course = setup(seed=3, version="' in cell.source
