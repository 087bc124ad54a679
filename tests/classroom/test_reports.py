"""What an instructor is told beside the marks: what is missing, what was counted late, and what is equal."""

import html
import re

import pytest
from test_grade import CHECK, JACOBIAN, ONE, RIGHT, ROOT, START, made, marks, notebook, result_of

from attention_classroom import client, installed, judging, tables
from attention_classroom.assignment import Assignment, Task
from attention_classroom.grade import main
from attention_classroom.grading import grade_one
from attention_classroom.handed_in import submissions
from attention_classroom.lateness import days_late
from attention_classroom.mistakes import SENTENCES
from attention_classroom.reports import write_reports, write_times
from attention_classroom.sandbox import PROMISES
from attention_classroom.submission import read
from attention_course.exercises import find_exercise

pytestmark = pytest.mark.usefixtures("in_this_thread")
MASKING = [Task(f"masking.{name}", 1, None) for name in ("to_multihead", "window", "leaks")]
TWO = made(Task(JACOBIAN, 2, None), *MASKING)


def page_of(out, student):
    (page,) = (out / "feedback").glob(f"{student}-*.md")
    return page.read_text(encoding="utf-8")


@pytest.fixture
def handed_in(tmp_path):
    """Somebody with one lesson of two, a PDF by the name of a notebook, and a folder without one."""
    folder = tmp_path / "handed in"
    notebook(folder / "Ada" / "scale.ipynb", START, f"{RIGHT}\n{CHECK}")
    (folder / "Pia").mkdir()
    (folder / "Pia" / "scale.ipynb").write_bytes(b"%PDF-1.7\x00\xff")
    (folder / "Ben_8_assignsubmission_file_").mkdir()
    (folder / "Ben_8_assignsubmission_file_" / "answer.docx").write_bytes(b"PK")
    (folder / "loefwen_77_9901_answer.docx").write_bytes(b"PK")
    return folder


def test_notebooks_that_are_missing_or_unreadable_are_told_once_and_to_be_looked_at(tmp_path, handed_in):
    found = submissions(handed_in)
    write_reports(TWO, [grade_one(TWO, student, paths) for student, paths in found.items()], tmp_path / "out", {})
    rows, of_the_class = marks(tmp_path / "out"), (tmp_path / "out" / "class.md").read_text(encoding="utf-8")
    of_both = "no notebook that can be read checks an exercise of scale, masking"
    notes = {
        "Ada": ("1", "no notebook that can be read checks an exercise of masking"),
        "Pia": ("2", f"scale.ipynb: not a notebook; {of_both}"),
        "Ben_8": ("2", f"no notebook (.ipynb) was handed in; {of_both}"),
        "loefwen_77": ("2", f"no notebook (.ipynb) was handed in; {of_both}"),
    }
    assert {name: (row["to look at"], row["notes"]) for name, row in rows.items()} == notes
    for name, (_, note) in notes.items():
        assert f"- {name}: {note}\n" in of_the_class
    assert "## masking" not in page_of(tmp_path / "out", "Ada") and f"{JACOBIAN}: passed, 2 of 2" in page_of(
        tmp_path / "out", "Ada"
    )


EQUAL = {
    "another's names": (("answer", "mine"), ("p", "weights"), ("x", "scores")),
    "a helper's": (("largest", "most"),),
    "a comment": (("# why", "# since"),),
}
DIFFERENT = {
    "another function of Python's": (("max", "min"),),
    "another of PyTorch's": (("torch.diag", "torch.tril"),),
    "another module's": (("torch.outer", "math.outer"), ("import torch", "import math, torch")),
}
LONG = """import torch
def largest(x):
    return max(x.tolist())  # why
def answer(x):
    p = (x - largest(x)).softmax(0)
    return torch.diag(p) - torch.outer(p, p)
"""


@pytest.mark.parametrize(
    ("changes", "equal"),
    [*((one, True) for one in EQUAL.values()), *((one, False) for one in DIFFERENT.values())],
    ids=[*EQUAL, *DIFFERENT],
)
def test_answers_are_equal_where_only_their_own_names_and_comments_differ(tmp_path, changes, equal):
    code, prints = f"from attention_course import check\n{LONG}{CHECK}", []
    for pairs in ((), changes):
        for one, other in pairs:
            code = re.sub(rf"(?<!\w){re.escape(one)}(?!\w)", other, code)
        answer = read(notebook(tmp_path / "a.ipynb", code), [JACOBIAN]).answers[JACOBIAN]
        prints.append(answer.fingerprint)
    assert prints[0] and (prints[0] == prints[1]) == equal


@pytest.mark.parametrize(("written", "kept"), [("Wöche 3 (55)", "Wöche 3 (55)"), ("'-3", "-3"), ("", "")])
def test_the_title_of_the_points_for_canvas_is_written_once(tmp_path, written, kept):
    table, told = tmp_path / "canvas.csv", f"stand under {kept!r}, as they did before this run."
    assert "stand under" not in str(write_reports(ONE, [result_of("byronada_77")], tmp_path, {}))
    text = table.read_text().replace(",", ";").replace(";scale", f";{written}")
    table.write_text(f"\ufeff{text}", encoding="utf-8")  # as a spreadsheet may save it
    for _ in range(2):  # the second time from what the first has written
        assert (told in str(write_reports(ONE, [result_of("byronada_77")], tmp_path, {}))) == bool(kept)
        head = table.read_text(encoding="utf-8").splitlines()[0]
        assert head == f"Student,ID,SIS User ID,SIS Login ID,Section,{written or 'scale'}"


def test_stubs_and_broken_code_as_handed_out_are_not_listed_as_equal(tmp_path):
    statuses = {"a": "wrong", "b": "wrong", "c": "not attempted", "d": "not attempted"}
    results = [result_of(name, status=status, fingerprint="one") for name, status in statuses.items()]
    write_reports(ONE, results, tmp_path, {})
    assert re.findall(r"^- .*", (tmp_path / "identical.md").read_text(), re.MULTILINE) == [f"- {JACOBIAN}: a, b"]


def test_the_fewest_that_are_equal_stand_first_and_many_are_only_counted(tmp_path):
    groups = {"many": "abcdefghi", "few": "jk", "one": "l"}
    results = [result_of(name, fingerprint=group) for group, names in groups.items() for name in names]
    write_reports(ONE, results, tmp_path, {})
    listed = re.findall(r"^- .*", (tmp_path / "identical.md").read_text(), re.MULTILINE)
    assert listed == [f"- {JACOBIAN}: j, k", f"- {JACOBIAN}: 9 students"]


def test_late_days_cost_their_share(tmp_path):
    late = made(*ONE.tasks, due="2027-03-01T18:00+01:00", late_per_day=0.125)
    assert days_late(late, "2027-02-20T17:00+00:00") == days_late(late, "2027-03-01T17:00+00:00") == 0
    assert days_late(late, "2027-03-01T17:01+00:00") == 1
    came = {"a": "2027-03-03T00:00+01:00", "weeks late": "2027-03-31T00:00+02:00", "early": "2027-02-20T00:00+01:00"}
    write_reports(late, [result_of(name) for name in came], tmp_path, came)
    assert [(name, row["points"]) for name, row in marks(tmp_path).items()] == [
        ("a", "1.5"), ("weeks late", "0"), ("early", "2"),
    ]  # fmt: skip
    assert "1.5 of 2 points. 2 days late: 12.5% less for each." in page_of(tmp_path, "a")
    assert "2 of 2 points.\n" in page_of(tmp_path, "early")
    assert not list(tmp_path.rglob("*.new"))


@pytest.mark.parametrize("first", "=+-@")
def test_no_cell_of_a_table_is_a_formula(first):
    assert tables.table([[f"{first}1+1", "1+1", ""]]) == f"'{first}1+1,1+1,\r\n"


def test_without_times_it_is_told_that_nothing_counts_as_late_and_a_table_is_there_to_fill_in(tmp_path, capsys):
    made(*ONE.tasks, due="2027-03-01T18:00+01:00", late_per_day=0.5).save(tmp_path / "assignment.json")
    for name in ("Fay Late_1007", "Ada_1"):
        notebook(tmp_path / "class" / f"{name}.ipynb", START, f"{RIGHT}\n{CHECK}")
    call = [str(tmp_path / "assignment.json"), str(tmp_path / "class"), "--out", str(tmp_path / "out")]
    assert main(call) == 0
    told = "Nothing was counted late, since no times were given: fill in "
    table = tmp_path / "out" / "times.csv"
    assert told in capsys.readouterr().out and told in (tmp_path / "out" / "class.md").read_text()
    assert {name: row["time"] for name, row in marks(tmp_path / "out", "times.csv").items()} == {
        "Ada_1": "", "Fay Late_1007": "",
    }  # fmt: skip
    table.write_text(table.read_text().replace("1007,", "1007,2027-03-01T18:05+01:00"))
    assert main(call) == 0 and "18:05" in table.read_text()  # what was filled in stays
    assert main([*call, "--times", str(table)]) == 0
    rows, told = marks(tmp_path / "out"), "There is no time of Ada_1: counted as in time."
    assert {name: (row["days late"], row["points"]) for name, row in rows.items()} == {
        "Ada_1": ("0", "2"), "Fay Late_1007": ("1", "1"),
    }  # fmt: skip
    assert told in capsys.readouterr().out and told in (tmp_path / "out" / "class.md").read_text()


def test_of_canvas_only_who_was_late_has_no_time_yet(tmp_path):
    for name in ("loefwen_77_9901_scale", "loefwen_77_9902_masks", "byronada_LATE_8_9903_scale", "c"):
        (tmp_path / f"{name}.ipynb").write_text("{}")
    write_times(submissions(tmp_path), "2027-03-01T18:00+01:00", tmp_path / "times.csv")
    assert {name: row["time"] for name, row in marks(tmp_path, "times.csv").items()} == {
        "loefwen_77": "2027-03-01T18:00+01:00", "byronada_8": "", "c": "",
    }  # fmt: skip


@pytest.mark.parametrize("more", ["", ".txt", ".json"])
def test_a_notebook_is_one_whatever_a_browser_adds_to_its_name(tmp_path, more):
    for name in ("bob.ipynb", "loefwen_77_9901_scale.IPYNB"):
        (tmp_path / f"{name}{more}").write_text("{}")
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / f"scale.ipynb{more}").write_text("{}")
    assert {name: len(paths) for name, paths in submissions(tmp_path).items()} == {"bob": 1, "loefwen_77": 1, "ada": 1}


def test_a_zip_is_to_be_unpacked_first(tmp_path):
    (tmp_path / "class.zip").write_bytes(b"PK")
    for given in (tmp_path, tmp_path / "class.zip"):
        with pytest.raises(ValueError, match=r"unpack .*class\.zip first, and name its folder"):
            submissions(given)
    with pytest.raises(ValueError, match=r"submissions must be a folder with notebooks, got .*\.ipynb"):
        submissions(notebook(tmp_path / "a.ipynb"))


def test_files_that_are_nobodys_are_told_by_name(tmp_path, capsys):
    ONE.save(tmp_path / "assignment.json")
    folder, call = tmp_path / "class", ["assignment.json", "class", "--out", "out"]
    call = [argument if argument == "--out" else str(tmp_path / argument) for argument in call]
    notebook(folder / "Ada.ipynb", START, f"{RIGHT}\n{CHECK}")
    (folder / ".DS_Store").write_bytes(b"")
    (folder / "loefwen_77_9901_answer.docx").write_bytes(b"PK")  # this says whose it is
    assert main(call) == 0 and "Not read" not in capsys.readouterr().out
    for name in ("bob.pdf", "more.zip"):
        (folder / name).write_bytes(b"")
    (folder / "a link").symlink_to(tmp_path)
    told = "Not read, since these are no notebooks (.ipynb) and do not say whose they are: "
    told += "'a link', 'bob.pdf', 'more.zip'."
    assert main(call) == 0
    assert told in capsys.readouterr().out and told in (tmp_path / "out" / "class.md").read_text()


def test_it_is_said_where_the_grader_fails_for_everybody(tmp_path, capsys, monkeypatch):
    ONE.save(tmp_path / "assignment.json")
    for name in ("Ada", "Ben"):
        notebook(tmp_path / "class" / f"{name}.ipynb", START, f"{RIGHT}\n{CHECK}")
    monkeypatch.setattr(client, "WORKER", "no_such_module")
    monkeypatch.delattr(judging._own, "asker", raising=False)
    assert main([str(tmp_path / "assignment.json"), str(tmp_path / "class"), "--out", str(tmp_path / "out")]) == 0
    monkeypatch.delattr(judging._own, "asker", raising=False)
    told = "Nobody was judged, and nobody's notebook is the reason: the grader failed: ChildProcessError: "
    assert told in capsys.readouterr().out and "no_such_module" in (tmp_path / "out" / "class.md").read_text()


def test_the_page_of_the_class_says_what_the_system_does_not_keep(tmp_path):
    write_reports(ONE, [result_of("a"), result_of("b") | {"lacks": ["files"]}], tmp_path, {})
    kept, _, broken = (tmp_path / "class.md").read_text().partition("**Not in this run**")
    assert PROMISES["sockets"] in kept and PROMISES["files"] in broken and PROMISES["files"] not in kept


def test_the_page_for_the_class_counts_mistakes_in_the_order_of_their_number_and_names_nobody(tmp_path):
    exercise = find_exercise(JACOBIAN)
    one, other = exercise.misconceptions[:2]
    secret = {"status": "wrong", "message": "ValueError: Eve's words"}
    results = [
        *(result_of(f"passed {n}") for n in range(3)),
        result_of("Ada", misconception=one.name, **secret),
        *(result_of(f"Eve {n}", misconception=other.name, **secret) for n in range(2)),
        *(result_of(f"Jo {n}", misconception=judging.NOT_PYTHON, **secret) for n in range(2)),
        result_of("Zoe", **secret),
        result_of("Pia", status="not found"),
        result_of("Cy", status="look yourself"),
        result_of("Di", status="stopped"),
    ]
    write_reports(ONE, results, tmp_path, {}, lessons=ROOT / "chapters")
    page = (tmp_path / "mistakes.html").read_text(encoding="utf-8")
    rows = [re.sub(r"<.*?>", "", row) for row in re.findall(r"<tr><td>(.*?)</td></tr>", page.replace("</td><td>", " "))]
    told = [f"{mistake.name}: {mistake.message}" for mistake in (other, one)]
    no_python = f"not Python: {SENTENCES['not Python']}"
    assert [html.unescape(row) for row in rows] == [
        "3 passed", f"2 {no_python}", f"2 {told[0]}", f"1 {told[1]}", f"1 {SENTENCES[None]}",
        "2 not decided yet", "1 not found",
    ]  # fmt: skip
    assert "12 submissions" in page and "<em>scale</em> under <em>2. The Jacobian of" in page
    assert not re.search("Eve|Jo|Ada|Zoe|Pia|Cy|ValueError", page)


def test_the_page_for_the_class_leads_to_the_exercise_where_the_site_has_an_address(tmp_path):
    lesson = (ROOT / "chapters" / "scale.ipynb").read_text(encoding="utf-8")
    (tmp_path / "scale.ipynb").write_text(lesson.replace("your-organisation", "a"), encoding="utf-8")
    place = "chapters/scale.html#the-jacobian-of-the-softmax-10-min-difficulty-2-of-3"
    for lessons, there in ((tmp_path, True), (ROOT / "chapters", False)):
        write_reports(ONE, [result_of("a")], tmp_path, {}, lessons=lessons)
        page = (tmp_path / "mistakes.html").read_text(encoding="utf-8")
        assert (f'<a href="https://a.github.io/attention-course/{place}">' in page) is there


def test_a_mistake_in_the_old_order_keeps_its_name_and_a_copied_solution_is_told_what_is_different(tmp_path):
    task = Task("bottleneck.context", 1, "arguments from the back")
    start = "import torch\nfrom attention_course import check\ndef f(scores, states, lengths):\n    "
    bodies = {
        "no mask": "return (scores.softmax(1)[:, :, None] * states).sum(1)",
        "the lesson's own": "real = torch.arange(scores.size(1)) < lengths[:, None]\n    w = scores.masked_fill(~real, "
        'float("-inf")).softmax(1)\n    return (w[:, :, None] * states).sum(1)',
        None: "return scores.size(1)",
    }
    for name, body in bodies.items():
        path = notebook(tmp_path / "a.ipynb", f'{start}{body}\ncheck("bottleneck.context", f)')
        entry = grade_one(made(task), "somebody", [path])["tasks"]["bottleneck.context"]
        assert (entry["status"], entry["misconception"]) == ("wrong", name)
        assert "The arguments come in the opposite order: `(lengths, states, scores)`." in entry["message"]


def test_it_is_told_when_another_package_is_installed_than_the_assignment_was_made_with(tmp_path, capsys):
    notebook(tmp_path / "class" / "Ada.ipynb", START, f"{RIGHT}\n{CHECK}")
    told = {}
    for name, version, commit in (
        ("same", installed.version(), installed.commit()),
        ("no commit known", installed.version(), ""),
        ("another commit", installed.version(), "0123456789abcdef"),
        ("another version", "0.0.1", ""),
    ):
        Assignment(("scale",), (Task(JACOBIAN, 2, None),), version, commit, "00", None, 0.0).save(tmp_path / "a.json")
        assert main([str(tmp_path / "a.json"), str(tmp_path / "class"), "--out", str(tmp_path / name)]) == 0
        told[name] = capsys.readouterr().out
    different = {name for name, said in told.items() if "is installed: exercises may differ." in said}
    known = {"another commit"} if installed.commit() else set()
    assert different == {"another version", *known}
    assert "Assigned with 0.0.1 of the package, and " in told["another version"]
