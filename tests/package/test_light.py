"""The package is light: mechanisms and `diagnose` need PyTorch and NumPy alone, and a first reader few of its lines."""

import subprocess
import sys
from pathlib import Path

from dependencies import Package, depends_on
from lessons import LESSON_NAMES, WITH_EXERCISES
from notebooks import code_cells, read

ROOT = Path(__file__).parents[2]
# From here on nothing can be imported but what comes with Python, with PyTorch or with NumPy, and the package.
ALONE = """
import sys
from importlib.metadata import packages_distributions, requires
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

needed, new = {"attention-course", "numpy"}, {"torch"}
while new:
    needed |= new
    asked = [Requirement(line) for name in new for line in requires(name) or ()]
    asked = [one for one in asked if not one.marker or one.marker.evaluate({"extra": ""})]
    new = {canonicalize_name(one.name) for one in asked} - needed
installed = packages_distributions()

class Missing:
    def find_spec(name, path=None, target=None):
        if not needed & set(map(canonicalize_name, installed.get(name, needed))):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing)
"""
OF_PAGES = ("course.plots", "course.training", "explore")  # they draw, show how far it is, and move
ELSEWHERE = ("efficient.flash_triton",)  # needs Triton
EVERY_OTHER = f"""
import pkgutil
from importlib import import_module
import attention_course

for module in pkgutil.walk_packages(attention_course.__path__, "attention_course."):
    if not module.name.startswith(tuple(f"attention_course.{{name}}" for name in {OF_PAGES + ELSEWHERE})):
        import_module(module.name)
for name in {OF_PAGES}:
    try:
        import_module(f"attention_course.{{name}}")
    except ModuleNotFoundError as error:
        assert error.name in {{"anywidget", "ipywidgets", "matplotlib", "tqdm"}}, error
    else:
        sys.exit(f"{{name}} is there")
"""
DIAGNOSE = "from attention_course.__main__ import main\nsys.exit(main(['diagnose', sys.argv[1]]))"
WRONG = """
import torch

def attention(query, key, value):
    return torch.softmax(query @ key.mT, -2) @ value
"""


def alone(code, *arguments):
    """What this says in a Python that has PyTorch and NumPy, and nothing else."""
    return subprocess.run([sys.executable, "-c", ALONE + code, *arguments], cwd=ROOT, capture_output=True, text=True)


def test_all_but_what_pages_show_is_imported_without_anything_that_shows():
    ran = alone(EVERY_OTHER)
    assert ran.returncode == 0, ran.stderr


def test_diagnose_needs_nothing_that_shows(tmp_path):
    (tmp_path / "own.py").write_text(WRONG)
    ran = alone(DIAGNOSE, f"{tmp_path / 'own.py'}:attention")
    assert ran.returncode == 1 and "softmax" in ran.stdout, ran.stderr


def test_a_first_reader_meets_few_lines_of_the_package(monkeypatch):
    """Besides what draws, and the exercises' references, which nobody reads."""
    monkeypatch.chdir(ROOT)
    lessons = [f"chapters/{name}" for name in WITH_EXERCISES if name in LESSON_NAMES]
    first_reading = ["intro", *lessons[: lessons.index("chapters/language_model") + 1]]
    files = set()
    for name in first_reading:
        files |= set(depends_on(Package("."), [cell.source for _, cell in code_cells(read(name))]))
    met = [file for file in files if file.suffix == ".py" and file.parts[1] not in ("diagrams", "exercises", "explore")]
    assert Path("attention_course/attention.py") in met
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in met) <= 4_000
