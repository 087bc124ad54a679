"""A class full of attacks: none gets a mark, reads what is not its own, leaves anything behind or moves another's mark.

It is graded by an ordinary user, and by root. Where the system lacks what an answer is to be kept from, `class.md` says
so, and the tests that depend on it are skipped with that reason; in CI they fail.
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from attacks import FORGING, OWN, REVIEWED, SECRET, program
from test_grade import CHECK, JACOBIAN, ONE, RIGHT, ROOT, START, WRONG, marks, notebook

from attention_classroom.sandbox import PROMISES

AS_NOBODY = [sys.executable, str(Path(__file__).with_name("as_nobody.py"))]


@pytest.fixture(scope="module", params=["ordinary", "root"])
def graded(request, tmp_path_factory):
    """The folder of a class that was graded by such a user, with what its files were before and after."""
    place = tmp_path_factory.mktemp(request.param)
    with listening(place) as (named, port):
        handed_in(place, (str(place), str(ROOT), named, port, SECRET), forging=request.param == "ordinary")
        before = state(place)
        grade(request.param, place)
    return place, before, state(place)


def grade(who, place):
    ran = subprocess.run(
        [*user(who, place), sys.executable, "-m", "attention_course", "grade",
         place / "instructor" / "assignment.json", place / "handed in", "--out", place / "marks"],
        capture_output=True, text=True, cwd=ROOT, timeout=500,
        env=os.environ | {"HOME": str(place / "home"), "TOKEN": SECRET, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


def user(who, place):
    """What to write before a command, so that such a user runs it."""
    if who == "root" and os.getuid() != 0:
        as_root = ["sudo", "--non-interactive", "--preserve-env"]
        if not shutil.which("sudo") or subprocess.run([*as_root, "true"], capture_output=True).returncode:
            missing("there is no root here")
        return as_root
    if who == "root":
        return []
    return [*AS_NOBODY, "contained" if who == "contained" else "plain", str(place)]


def missing(what):
    """Skip, or fail where nothing may be skipped."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


@contextlib.contextmanager
def listening(place):
    """Two sockets, one with a name and one with a port, on which everybody is told the secret."""
    named, port = socket.socket(socket.AF_UNIX), socket.socket()
    name = f"/tmp/{os.getpid()}-{place.name}"  # a longer one would not do
    with named, port:
        named.bind(name)
        port.bind(("127.0.0.1", 0))
        os.chmod(name, 0o777)
        for ear in (named, port):
            ear.listen()
            threading.Thread(target=_tell, args=(ear,), daemon=True).start()
        yield name, port.getsockname()[1]
        os.unlink(name)


def _tell(ear):
    with contextlib.suppress(OSError):  # it was closed
        while True:
            with ear.accept()[0] as one:
                one.sendall(SECRET.encode())


def instructor(place):
    (place / "home" / ".ssh").mkdir(parents=True)
    (place / "home" / ".ssh" / "id_rsa").write_text(SECRET)
    (place / "instructor").mkdir()
    ONE.save(place / "instructor" / "assignment.json")


def handed_in(place, places, forging):
    """Everybody who attacks, odd files among them, and somebody honest before every third."""
    instructor(place)
    folder = place / "handed in"
    attacks = {name: f"{program(body, places)}\n{CHECK}" for name, body in (REVIEWED | OWN).items()}
    for name, before in FORGING.items() if forging else ():
        cell = f"{START}\n{before}" if "def answer" in before or "answer =" in before else f"{START}\n{before}\n{WRONG}"
        # Kept as one block, so that the answer needs it.
        block = "if True:\n" + "\n".join("    " + line for line in cell.splitlines())
        attacks[name] = f"{block}\n{START}\n{CHECK}"
    for number, (name, cell) in enumerate(attacks.items()):
        notebook(folder / f"{number:02}b {name}.ipynb", cell)
        if number % 3 == 0:
            notebook(folder / f"{number:02}a.ipynb", START, f"{RIGHT}\n{CHECK}")
    (folder / "x broken.ipynb").write_text('{"cells": [')
    (folder / "x list.ipynb").write_text("[1]")
    (folder / "x.ipynb").write_bytes(b"%PDF-1.7\x00\xff")
    (folder / "x deep.ipynb").write_text("[" * 100_000)
    (folder / "x link.ipynb").symlink_to(folder / "00a.ipynb")
    (folder / "x folder.ipynb").mkdir()
    os.mkfifo(folder / "x pipe.ipynb")
    notebook(folder / os.fsdecode(b"no text \xff.ipynb"), START, f"{RIGHT}\n{CHECK}")
    notebook(folder / "=x\nwith a newline.ipynb", START, f"{RIGHT}\n{CHECK}")


def state(place):
    """What somebody might have changed of what was there before."""
    found = {}
    for path in sorted(path for part in ("home", "handed in", "instructor") for path in (place / part).rglob("*")):
        info = path.lstat()
        text = path.read_bytes() if path.is_file() else b""
        tags = os.listxattr(path, follow_symlinks=False)
        found[path] = (info.st_mode, info.st_nlink, info.st_mtime_ns, text, tags)
    return found


def test_no_attack_gets_a_mark(graded):
    rows = {name: row for name, row in marks(graded[0] / "marks").items() if re.match(r"\d\db", name)}
    assert len(rows) >= len(REVIEWED | OWN)
    assert {name: row[JACOBIAN] for name, row in rows.items() if row["points"] not in ("0", "")} == {}


def test_no_honest_mark_moves(graded):
    rows = {name: row for name, row in marks(graded[0] / "marks").items() if re.fullmatch(r"\d\da", name)}
    assert len(rows) >= len(REVIEWED | OWN) // 3
    assert {name: row[JACOBIAN] for name, row in rows.items() if row["points"] != "2"} == {}


OWN_CODE = re.compile(r'"(?:source|run)": "(?:[^"\\]|\\.)*"')  # as it was handed in, for who marks by hand


def test_no_attack_reaches_anything_and_no_secret_is_told(graded):
    kept(graded, "files", "processes", "sockets", "memory")
    files = (path for path in (graded[0] / "marks").rglob("*") if path.is_file())
    told = {path.name: OWN_CODE.sub("", path.read_text(errors="replace")) for path in files}
    assert {name for name, text in told.items() if "REACHED" in text or SECRET in text} == set()


def test_nothing_of_the_class_and_of_its_instructor_changes(graded):
    kept(graded, "files")
    _, before, after = graded
    assert {path.name for path in before | after if before.get(path) != after.get(path)} == set()


READING = {"a text": "RuntimeError(got)", "a kind": "type(got, (Exception,), {})()", "no number": None}


@pytest.mark.skipif(sys.platform != "linux", reason="nothing else hides files")
def test_where_files_are_open_it_is_said_and_what_stands_in_them_is_not_told(tmp_path):
    """As in most containers, where nobody may make the namespaces that hide them."""
    instructor(tmp_path)
    for number, error in enumerate(READING.values()):
        act = f"raise {error}" if error else "return got"
        cell = f"got = open({str(tmp_path / 'home' / '.ssh' / 'id_rsa')!r}).read()\ndef answer(x):\n    {act}\n{CHECK}"
        notebook(tmp_path / "handed in" / f"{number}.ipynb", START, cell)
    notebook(tmp_path / "handed in" / "honest.ipynb", START, f"{RIGHT}\n{CHECK}")
    grade("contained", tmp_path)
    rows, of_the_class = marks(tmp_path / "marks"), (tmp_path / "marks" / "class.md").read_text()
    assert {name: row["points"] for name, row in rows.items()} == {"0": "0", "1": "0", "2": "0", "honest": "2"}
    kept, _, broken = of_the_class.partition("**Not in this run**")
    assert PROMISES["files"] in broken and PROMISES["processes"] in broken and PROMISES["sockets"] in kept
    told = [path.read_text() for path in (tmp_path / "marks").rglob("*") if path.is_file()]
    assert not any(SECRET in text for text in told) and any("is not shown" in text for text in told)


def kept(graded, *promises):
    """Skip where the system does not keep one of these promises, which `class.md` then says."""
    _, _, broken = (graded[0] / "marks" / "class.md").read_text().partition("**Not in this run**")
    if lacks := [name for name in promises if PROMISES[name] in broken.partition("\n## ")[0]]:
        missing(f"this system does not promise: {', '.join(lacks)}")


def test_odd_files_are_told_and_names_are_made_harmless(graded):
    rows = marks(graded[0] / "marks")
    for name, note in {"x broken": "not a notebook", "x": "not a notebook", "x list": "not a notebook",
                       "x deep": "not a notebook", "x link": "not a file of its own",
                       "x pipe": "not a file of its own", "x folder.ipynb": ""}.items():  # fmt: skip
        assert note in rows[name]["notes"] and rows[name]["points"] == "0"
    assert rows[r"no text \udcff"]["points"] == "2"
    assert rows["'=x with a newline"]["points"] == "2"


def test_the_class_and_equal_answers_are_told(graded):
    out = graded[0] / "marks"
    assert "<strong>diagonal only</strong>" in (out / "mistakes.html").read_text()
    assert re.search(r": \d\d students$", (out / "identical.md").read_text(), re.MULTILINE)
    assert any("diagonal is right" in path.read_text() for path in (out / "feedback").iterdir())
