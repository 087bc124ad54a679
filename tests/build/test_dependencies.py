"""What a notebook is said to depend on, in a package small enough to know the answer."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from dependencies import Package, depends_on, parse_cell
from odds import code_of
from tiny_book import ROOT

FILES = {
    "__init__.py": """\
\"\"\"Passes names on.\"\"\"
from attention_course.attention import attend
from attention_course.exercises import check
from attention_course.masks import causal as causal_mask

__all__ = ["attend", "causal_mask", "check"]
""",
    "attention.py": "from attention_course.masks import causal\n",
    "masks.py": "",
    "lazy.py": "def use():\n    import attention_course.masks\n",
    "explore/__init__.py": "from attention_course.explore.explorer import Explorer\n",
    "explore/explorer.py": 'from pathlib import Path\nVIEWS = Path(__file__).with_name("views")\n',
    "explore/views/map.js": "",
    "explore/views/map.css": "",
    "tasks/__init__.py": """\
from attention_course.tasks.dates import dates
from attention_course.tasks.digits import digits
""",
    "tasks/dates.py": "from attention_course.tasks.batch import Batch\n",
    "tasks/digits.py": "",
    "tasks/batch.py": "",
    "course/__init__.py": '"""For pages."""\n',
    "course/recorded/__init__.py": "def load(name):\n    ...\n",
    "course/recorded/lengths.json": "{}",
    "course/recorded/depth.json": "{}",
    "exercises/__init__.py": """\
from attention_course.exercises import flash, masking
from attention_course.exercises.judging.checking import judge

def check(exercise_id, answer):
    ...
""",
    "exercises/judging/__init__.py": '"""How."""\n',
    "exercises/judging/checking.py": "",
    "exercises/flash.py": "from attention_course.exercises.judging.checking import Exercise\n",
    "exercises/masking.py": "",
}
EXPLORE = {"explore/explorer.py", "explore/views/map.js", "explore/views/map.css"}
CHECK = {"exercises/__init__.py", "exercises/judging/checking.py"}
DATES = {"tasks/dates.py", "tasks/batch.py"}

CASES = {
    "nothing of the package": ("import torch\nfrom torch import nn", set()),
    "a module and what it imports": ("from attention_course.attention import attend", {"attention.py", "masks.py"}),
    "a name that the package passes on": ("from attention_course import causal_mask", {"masks.py"}),
    "an import in a function": ("from attention_course.lazy import use", {"lazy.py", "masks.py"}),
    "a module as a name": ("from attention_course import masks\nmasks.causal", {"masks.py"}),
    "one task of many": ("from attention_course import tasks\ntasks.dates()", DATES),
    "one task, the folder renamed": ("import attention_course.tasks as t\nt.dates()", DATES),
    "any task": (
        "from attention_course import tasks\ngetattr(tasks, x)",
        DATES | {"tasks/__init__.py", "tasks/digits.py"},
    ),
    "files beside a module": ("from attention_course.explore import Explorer", EXPLORE),
    "one exercise": ('from attention_course import check\ncheck("flash.tiles", 1)', CHECK | {"exercises/flash.py"}),
    "no exercise": ("from attention_course import check", CHECK),
    "one record": (
        'from attention_course.course import recorded\nrecorded.load("depth")',
        {"course/recorded/__init__.py", "course/recorded/depth.json"},
    ),
    "a record from a list": (
        'from attention_course.course.recorded import load\nfor name in ["depth"]:\n    load(name)',
        {"course/recorded/__init__.py", "course/recorded/depth.json", "course/recorded/lengths.json"},
    ),
    "beside a magic": ("if True:\n    %pip install x\nimport attention_course.masks", {"masks.py"}),
    "what is not Python": ("this is no Python", set(FILES)),
}


def write(folder, files):
    for name, text in files.items():
        file = folder / "attention_course" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Package(folder)


def found(package, *cells):
    """The files that cells depend on, without the packages above them."""
    contents = depends_on(package, cells)
    paths = {path.relative_to(package.root / "attention_course").as_posix(): path for path in contents}
    return {name for name, path in paths.items() if contents[path] == path.read_bytes()}


@pytest.mark.parametrize(("cell", "expected"), CASES.values(), ids=CASES)
def test_a_cell_depends_on_what_it_uses(tmp_path, cell, expected):
    assert found(write(tmp_path, FILES), cell) == expected


def test_an_import_serves_the_cells_below_it(tmp_path):
    package = write(tmp_path, FILES)
    assert found(package, "from attention_course import tasks", "tasks.digits()") == {"tasks/digits.py"}


def test_what_a_package_does_itself_counts_for_every_module_in_it(tmp_path):
    cell = "import attention_course.masks"
    before = depends_on(write(tmp_path, FILES), [cell])
    passed_on = FILES["__init__.py"].replace("causal_mask\n", "causal_mask, padding\n").replace('["', '["padding", "')
    assert depends_on(write(tmp_path, {"__init__.py": passed_on}), [cell]) == before
    assert depends_on(write(tmp_path, {"__init__.py": passed_on + "torch.set_num_threads(1)\n"}), [cell]) != before


def test_no_two_threads_parse_at_once(monkeypatch):
    """Python 3.11's parser fails now and then where they do."""
    inside, at_once = [], []

    def slowly(source):
        inside.append(source)
        time.sleep(0.01)
        at_once.append(len(inside))
        inside.pop()

    monkeypatch.setattr("dependencies.ast", SimpleNamespace(parse=slowly))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(parse_cell, "1234"))
    assert at_once == [1, 1, 1, 1]


def test_what_python_loads_is_followed():
    """The other way round, on the real package."""
    cell = "from attention_course.efficient.reformer import LSHAttention"
    loaded = "import sys; print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('attention_course')))"
    command = [sys.executable, "-c", f"{cell}\n{loaded}"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    efficient = {path for path in ran.stdout.split() if "/efficient/" in path}
    assert any(path.endswith("reformer.py") for path in efficient)
    assert efficient <= {str(path) for path in depends_on(Package(ROOT), [cell])}


MODULE = '''"""Two
lines."""
from math import pi

from attention_course.masks import causal

def twice(x):
    """Doubles."""
    text = """no docstring"""
    return 2 * x
'''


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Two\nlines.", "One line.", True),
        ("Doubles.", "Doubles it.\n\n    And says so.", True),
        ("def twice", "\n\ndef twice", True),
        ("def twice", "# Doubles.\ndef twice", True),
        ("no docstring", "another string", False),
        ("2 * x", "x + x", False),
        ("masks import", "attention import", True),
        ("import causal", "import causal as mask", False),
        ("math", "cmath", False),
    ],
)
def test_neither_docstrings_nor_where_a_name_comes_from_decide_claims(old, new, same):
    changed = MODULE.replace(old, new)
    assert changed != MODULE
    assert (code_of(MODULE) == code_of(changed)) == same
