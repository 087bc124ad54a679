"""Which notebooks a build runs, and what it keeps of them."""

import execute
import pytest
from jupyter_cache import get_cache
from notebooks import read
from tiny_book import PACKAGE, pretend, write_chapter
from verdicts import exceptions


@pytest.fixture
def run(course, monkeypatch):
    """Run what is stale, and return which chapters that was, in their order."""

    def all_of(notebooks, keep):
        ran.extend(name.removeprefix("chapters/") for name in notebooks)
        for name, notebook in notebooks.items():
            keep(pretend(name, notebook))

    def run(*chosen):
        ran.clear()
        run.took = execute.run_stale(chosen)
        return list(ran)

    ran = []
    monkeypatch.setattr(execute, "run_by_nbval", all_of)
    assert sorted(run()) == ["one", "two"]
    return run


def kept(name):
    return get_cache(str(execute.CACHE)).merge_match_into_notebook(read(name))[1]


def test_nothing_changed_runs_nothing(course, run):
    (course / "attention_course" / "__pycache__").mkdir()
    (course / "attention_course" / "__pycache__" / "idea.pyc").write_text("not a change")
    (course / "attention_course" / "unused.py").write_text("nobody imports this")
    (course / "intro.md").write_text("# In other words")
    assert run() == []


@pytest.mark.parametrize(
    ("module", "chapters"),
    [("idea.py", ["one"]), ("deep.py", ["one"]), ("other.py", ["two"]), ("__init__.py", [])],
)
def test_a_change_in_the_package_runs_the_chapters_that_use_it(course, run, module, chapters):
    (course / "attention_course" / module).write_text(PACKAGE[module] + "from math import pi\n")
    assert run() == chapters
    assert run() == []


def test_a_change_in_a_chapter_runs_that_one_where_it_is_asked_for(course, run):
    write_chapter(course, "two", "1 + 1")
    assert run("chapters/one") == []
    assert run("chapters/two") == ["two"]
    assert run() == []


@pytest.mark.parametrize(("tag", "chapters"), [("hide-input", []), ("skip-execution", ["two"])])
def test_folding_a_cell_runs_nothing_and_its_outputs_stay(course, run, tag, chapters):
    write_chapter(course, "two", "print('as' + ' ever')", tags=[tag])
    assert run() == chapters
    assert kept("chapters/two").cells[1].outputs[0].text == "as ever\n"
    assert kept("chapters/two").cells[-1].metadata["tags"] == [tag]


def test_what_raised_an_exception_is_kept_and_runs_again(course, run, capsys):
    write_chapter(course, "two", "print('before')", "raise ValueError('on purpose')", "print('never')")
    for _ in range(2):
        assert run() == ["two"]
        assert "notebook 1 of 1: chapters/two, 6 s; cell 3 failed: ValueError: on purpose" in capsys.readouterr().out
        assert [number for number, *_ in exceptions(kept("chapters/two"))] == [3]
    write_chapter(course, "two", "print('✗ not so in this run: one is two')")
    assert run() == ["two"]
    assert "chapters/two, 3 s; not so in this run: one is two\n" in capsys.readouterr().out
    assert run() == []


def test_what_was_done_before_an_interruption_does_not_run_again(course, run, monkeypatch):
    def only_one(notebooks, keep):
        keep(pretend("chapters/one", notebooks["chapters/one"]))
        raise KeyboardInterrupt

    (course / "requirements.txt").write_text("torch\nnumpy\n")
    with monkeypatch.context() as at:
        at.setattr(execute, "run_by_nbval", only_one)
        with pytest.raises(KeyboardInterrupt):
            execute.run_stale()
    assert run() == ["two"]


def test_what_a_full_disk_has_cut_off_runs_again(course, run):
    file = next(file for file in execute.CACHE.glob("executed/*/base.ipynb") if "other_answer" in file.read_text())
    file.write_text(file.read_text()[:100])
    assert run() == ["two"]
    file.unlink()
    assert run() == ["two"]
    assert run() == []


def test_a_chapter_that_is_edited_while_it_runs_is_named(course, run, monkeypatch):
    def edit(notebooks, keep):
        keep(pretend("chapters/two", notebooks["chapters/two"]))
        write_chapter(course, "two", "2 + 2")

    write_chapter(course, "two", "1 + 1")
    monkeypatch.setattr(execute, "run_by_nbval", edit)
    with pytest.raises(SystemExit, match="not run yet: chapters/two.ipynb. Run `make site` again"):
        execute.run_stale()


def test_the_longest_comes_first_by_the_last_run_or_by_its_length(course, run):
    cache = get_cache(str(execute.CACHE))
    assert execute.expected("chapters/one", cache) == 3
    assert run.took.splitlines()[1] == "     3.0 s  chapters/one"
    assert run.took.endswith("all 2 notebooks: 6 s of one thread (budget: 500 s)\n")
    write_chapter(course, "one", "1", "2", "3")
    write_chapter(course, "two", "1")
    assert run() == ["one", "two"]
    (course / "requirements.txt").write_text("")
    write_chapter(course, "two", "1", "2", "3", "4", "5")
    assert run() == ["one", "two"]  # six seconds and three
    (course / "requirements.txt").write_text("torch")
    assert run() == ["two", "one"]
