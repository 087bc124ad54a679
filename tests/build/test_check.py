"""What `make check` chooses to run, in a course small enough to know the answer."""

import subprocess
from pathlib import Path

import check
import nbformat
import pytest
from test_dependencies import FILES as PACKAGE

FILES = {f"attention_course/{name}": text for name, text in PACKAGE.items()} | {
    "_toc.yml": """\
format: jb-book
root: intro
chapters:
- file: chapters/one
- file: chapters/two
- file: glossary
""",
    "tests/conftest.py": """\
import pytest
from helpers import small
from pictures import picture

def pytest_configure(config): ...

@pytest.fixture
def layer():
    return small()

@pytest.fixture
def drawn():
    return picture
""",
    "experiments/sweeps/lengths.py": "from _text import words\n",
    "tests/helpers.py": "from attention_course.masks import causal\n",
    "tests/pictures.py": "from attention_course.explore import Explorer\n",
    "tests/test_attention.py": "from attention_course import attend\n",
    "tests/test_layer.py": "def test_it(layer): ...\n",
    "tests/test_drawn.py": 'def test_it(drawn):\n    Path(__file__).with_name("runs.mjs")\n',
    "tests/test_nothing.py": "import math\n",
    "tests/exercises/test_answers.py": """\
from importlib import import_module
from attention_course.exercises import check
import_module(f"answers.{chapter}")
""",
    "tests/exercises/test_one.py": 'from attention_course.exercises import check\ncheck("flash.tiles", 1)\n',
    "tests/sweeps/test_lengths.py": 'from attention_course.course import recorded\nrecorded.load("lengths")\n',
    "tests/sweeps/test_both.py": 'run("depth"), run("lengths")\n',
    "tests/site/test_search.py": 'shutil.copytree(ROOT / "_ext", folder)\nopen("glossary.md")\n',
    "tests/engines/test_engines.py": "from pictures import picture\n",
}
EMPTY = ["attention_course/explore/views/parts/half.js", "experiments/sweeps/depth.py", "experiments/sweeps/_text.py"]
EMPTY += ["tests/runs.mjs", "tests/exercises/answers/masking.py", "tests/sweeps/conftest.py"]
EMPTY += ["tests/notebooks/test_form.py", "glossary.md", "intro.md", "_ext/site.py", "tools/alone.py"]
FILES |= dict.fromkeys(EMPTY, "")
NOTEBOOKS = {"one": "import attention_course.attention", "two": 'check = 1\n"nothing of the package"'}
LAYER = ["test_layer.py"]
SWEEPS = ["sweeps/test_both.py", "sweeps/test_lengths.py"]
DRAWN = ["test_drawn.py", "engines/test_engines.py"]
ANSWERS = ["exercises/test_answers.py"]

# What changed: the tests that are touched, and the pages.
CASES = {
    "a test": ("tests/test_nothing.py", ["test_nothing.py"], []),
    "what a module and a helper import": (
        "attention_course/masks.py",
        ["test_attention.py", *LAYER],
        ["chapters/one"],
    ),
    "a module that nothing imports": ("attention_course/lazy.py", [], []),
    "a helper of one fixture": ("tests/helpers.py", LAYER, []),
    "a file deep in a folder that a module names": ("attention_course/explore/views/parts/half.js", DRAWN, []),
    "a file that a test names": ("tests/runs.mjs", ["test_drawn.py"], []),
    "a record of the package": ("attention_course/course/recorded/lengths.json", ["sweeps/test_lengths.py"], []),
    "a sweep": ("experiments/sweeps/depth.py", ["sweeps/test_both.py"], []),
    "what sweeps share": ("experiments/sweeps/_text.py", SWEEPS, []),
    "an exercise": ("attention_course/exercises/flash.py", [*ANSWERS, "exercises/test_one.py"], []),
    "an exercise that is not named": ("attention_course/exercises/masking.py", ANSWERS, []),
    "answers beside a test": ("tests/exercises/answers/masking.py", ANSWERS, []),
    "the conftest of a folder": ("tests/sweeps/conftest.py", SWEEPS, []),
    "the extension": ("_ext/site.py", ["site/test_search.py"], []),
    "a notebook": ("chapters/two.ipynb", [], ["chapters/two"]),
    "a page": ("glossary.md", ["site/test_search.py"], ["glossary"]),
    "a notebook that is gone": ("chapters/three.ipynb", [], []),
    "a test that is gone": ("tests/test_gone.py", [], []),
    "a tool": ("tools/alone.py", [], []),
}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course in a git repository, which is where Python stands."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "chapters").mkdir()
    for name, source in NOTEBOOKS.items():
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
        nbformat.write(notebook, tmp_path / "chapters" / f"{name}.ipynb")
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch=main")
    commit()
    return tmp_path


def git(*command):
    author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run(["git", *author, *command], check=True, capture_output=True)


def commit():
    git("add", "--all")
    git("commit", "--quiet", "--message", "as it stands")


def touched_tests(touched):
    return sorted(test.relative_to("tests").as_posix() for tests in touched.tests.values() for test in tests)


@pytest.mark.parametrize(("file", "tests", "pages"), CASES.values(), ids=CASES)
def test_a_change_touches_what_depends_on_it(course, file, tests, pages):
    touched = check.find_touched({Path(file)})
    assert touched_tests(touched) == sorted(tests)
    assert touched.pages == [f"{page}.html" for page in pages]
    assert touched.notebooks == [page for page in pages if page.startswith("chapters/")]


def test_whoever_used_a_module_that_is_gone_may_be_anyone(course):
    touched = check.find_touched({Path("attention_course/gone.py")})
    assert touched_tests(touched) == sorted(name[6:] for name in FILES if Path(name).name.startswith("test_"))
    assert touched.notebooks == ["chapters/one", "chapters/two"]


def commands(file):
    """What is run for a change: `{part: its last argument}`."""
    changed = {Path(file)}
    return {part.name: str(part.command[-1]) for part in check.plan(changed, check.find_touched(changed))}


def test_parts_are_run_where_something_is_touched(course):
    assert commands("chapters/two.ipynb") == {
        "lint": ".",
        "site": "tools/make_site.py",
        "notebooks": "chapters/two.ipynb or not ipynb",
        "pages": "chapters/two.html",
    }
    assert commands("tests/test_nothing.py") == {"lint": ".", "package": "tests/test_nothing.py"}
    assert commands("tests/notebooks/test_form.py") == {
        "lint": ".",
        "site": "tools/make_site.py",
        "notebooks": "test_form.py",
    }
    assert commands("_ext/site.py") == {"lint": ".", "site": "tools/make_site.py", "pages": "test"}
    assert commands("attention_course/explore/views/parts/half.js")["types"] == "jsconfig.json"
    assert commands("experiments/results/others.json") == {"lint": "."}


def test_pytest_finds_the_tests_that_are_named(course):
    """That pages, notebooks and files can be named in its `-k` as they are here."""
    test = "@pytest.mark.parametrize('page', ['chapters/one.html', 'chapters/two.html'])\ndef test_page(page): ...\n"
    for name in ("test_search.py", "test_other.py"):
        (course / "tests" / "site" / name).write_text(f"import pytest\n{test}")
    (course / "tests" / "conftest.py").unlink()
    command = [*check.among("site", ["test_search.py", "chapters/two.html"]), "--numprocesses=0", "--verbose"]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    ran = {line.split()[0] for line in output.splitlines() if " PASSED " in line}
    assert ran == {
        "tests/site/test_search.py::test_page[chapters/one.html]",
        "tests/site/test_search.py::test_page[chapters/two.html]",
        "tests/site/test_other.py::test_page[chapters/two.html]",
    }


def changes(since=""):
    return {file.as_posix() for file in check.find_changes(check.find_base(since))}


def test_new_gone_and_renamed_files_differ_from_the_last_commit(course):
    assert changes() == set()
    (course / "new page.md").touch()
    (course / "tests" / "runs.mjs").unlink()
    git("mv", "tests/helpers.py", "tests/assistants.py")
    changed = {"new page.md", "tests/runs.mjs", "tests/helpers.py", "tests/assistants.py"}
    assert changes() == changed
    commit()
    assert changes() == set() and changes("HEAD~1") == changed


@pytest.mark.parametrize("main_line", ["main", "published"])
def test_what_the_main_line_or_the_upstream_branch_does_not_have_yet_counts(course, main_line):
    if main_line == "main":
        git("switch", "--create", "mend")
    else:
        git("branch", main_line)
        git("branch", f"--set-upstream-to={main_line}")
    (course / "glossary.md").write_text("# Words and names")
    commit()
    (course / "intro.md").write_text("# The course")
    assert changes() == {"glossary.md", "intro.md"}


def test_a_folder_that_is_no_repository_and_an_unknown_commit_are_told_so(course, tmp_path_factory, monkeypatch):
    with pytest.raises(SystemExit, match="git knows no commit nowhere"):
        check.find_base("nowhere")
    monkeypatch.chdir(course / "tests")
    with pytest.raises(SystemExit, match="no git repository of its own"):
        check.find_base("")
    monkeypatch.chdir(tmp_path_factory.mktemp("downloaded"))
    with pytest.raises(SystemExit, match="no git repository of its own"):
        check.find_base("")


def test_all_parts_are_run_and_a_failure_is_told_at_the_end(course, monkeypatch, capfd):
    (course / "glossary.md").write_text("# Words and names")
    parts = [check.Part("first", "what fails", ["false"]), check.Part("second", "what does not", ["echo", "it ran"])]
    monkeypatch.setattr(check, "plan", lambda changed, touched: parts)
    assert check.main() == 1
    output = capfd.readouterr().out
    assert output.index("what does not") < output.index("== first") < output.index("it ran")
    assert output.splitlines()[-2:] == ["FAILED  first        0.0 min", "passed  second       0.0 min"]
    parts.pop(0)
    assert check.main() == 0


def test_nothing_changed_runs_nothing(course, capsys):
    assert check.main() == 0
    assert capsys.readouterr().out.startswith("0 files differ from ")
