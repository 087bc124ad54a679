"""The page to mark by hand: what it writes is what `grade` reads, and an answer stays text in it."""

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from test_grade import CHECK, JACOBIAN, RIGHT, START, notebook
from test_overrides import rows_of

from attention_classroom import grade
from attention_classroom.assign import assign
from attention_classroom.assignment import Task
from attention_classroom.marking import page_of
from attention_classroom.notebooks import for_marking
from attention_classroom.open_exercises import open_exercises
from attention_course.exercises import CHAPTERS, chapter_exercises

pytestmark = pytest.mark.usefixtures("in_this_thread")
ROOT = Path(__file__).parents[2]
HOSTILE = "</script><script>document.title = 'out'</script><img src=x onerror=\"document.title = 'out'\">"
UNDEFINED = "def answer(x):\n    return from_file(x)"


@pytest.fixture
def marked(tmp_path):
    """A class of three, two of whom have answers to look at; gives the command that grades it, and its folder."""
    assign(["scale"], tmp_path / "week", points={JACOBIAN: 2}, key="", source=ROOT / "chapters")
    assignment = tmp_path / "week" / "instructor" / "assignment.json"
    fields = json.loads(assignment.read_text())
    fields["tasks"] = [task | {"variant": None} for task in fields["tasks"] if task["exercise"] == JACOBIAN]
    assignment.write_text(json.dumps(fields))
    words = f"# {HOSTILE} ${{document.title}} {{{{7*7}}}}"
    answers = {"Ada_1": RIGHT, "Eve_2": UNDEFINED, "Pia_3": f"{words}\n{UNDEFINED}"}
    for name, answer in answers.items():
        notebook(tmp_path / "class" / f"{name}.ipynb", START, f"{answer}\n{CHECK}")

    def run():
        return grade.main([str(assignment), str(tmp_path / "class"), "--out", str(tmp_path / "out")])

    return run, tmp_path / "out"


@pytest.fixture
def opened(browser, marked):
    """The page from its file, in a window as wide as a phone; it must ask for nothing and report nothing."""
    run, out = marked
    assert run() == 0
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page, faults = context.new_page(), []
    page.on("console", lambda said: faults.append(said.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: request.url.startswith(("file:", "blob:")) or faults.append(request.url))
    page.set_default_timeout(10_000)
    page.goto((out / "marking.html").as_uri())
    yield page, run, out
    assert faults == []
    context.close()


def downloaded(page, path):
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "decided.csv"
    download.value.save_as(path)


def test_what_was_marked_by_keyboard_reaches_the_gradebook_and_the_feedback(opened):
    page, run, out = opened
    heading = page.locator("#which")
    assert "Eve_2" in heading.text_content() and "from_file" in page.locator("#source").text_content()
    assert "torch.outer" in page.locator("#good").text_content() and page.locator("#mistakes dt").count() >= 4
    assert "look yourself: " in page.locator("#said").text_content()
    assert "Jacobian" in page.locator("#asked").text_content()

    page.keyboard.press("1")
    page.keyboard.type(".5")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    comment = '=Good, but "from_file"; jjk 1\nis not in the notebook.'
    page.keyboard.type(comment)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert "Pia_3" in heading.text_content() and page.get_by_label("Points").input_value() == ""
    for wrong in ("3", "-1", "x", "0x1"):
        page.get_by_label("Points").fill(wrong)
        assert "from 0 to 2" in page.get_by_role("alert").text_content()
    page.keyboard.press("k")  # from within the points
    assert page.get_by_label("Points").input_value() == "1.5"

    downloaded(page, out / "decided.csv")
    comment = " ".join(comment.split())
    assert [row["comment"] for row in rows_of(out / "decided.csv")] == [f"'{comment}", ""]
    assert run() == 0 and run() == 0  # the second time from what the first has written
    rows = rows_of(out / "decided.csv")
    assert [(row["points"], row["comment"]) for row in rows] == [("1.5", f"'{comment}"), ("", "")]
    assert [row["points"] for row in rows_of(out / "grades.csv")] == ["2", "1.5", ""]
    (feedback,) = (out / "feedback").glob("Eve_2-*.md")
    assert f"1.5 of 2, as your instructor decided\n\n**Your instructor:** {comment}\n" in feedback.read_text()


def test_an_answer_stays_text(opened):
    page, _, out = opened
    page.keyboard.press("ArrowRight")
    assert f"# {HOSTILE} ${{document.title}} {{{{7*7}}}}" in page.locator("#source").text_content()
    assert page.locator("main img, main script").count() == 0 and page.title() == "Marking by hand"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert Axe().run(page).response["violations"] == []

    broken = out / "broken.html"  # as if it had become HTML all the same
    broken.write_text((out / "marking.html").read_text().replace("<main>", f"<main>{HOSTILE}"))
    other = page.context.browser.new_page()
    other.goto(broken.as_uri())
    assert other.locator("main img, main script").count() == 2 and other.title() == "Marking by hand"
    other.close()


@pytest.mark.parametrize("hostile", [HOSTILE, "<!--<script>", "\u2028", "\udcff", "$data"])
def test_no_text_ends_the_element_of_the_data(hostile):
    page = page_of({"answers": [hostile]})
    (inside,) = re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert json.loads(inside) == {"answers": [hostile]} and page.count("<script") == page.count("</script>") == 2


def test_what_was_typed_is_there_again_until_the_table_changes_and_a_table_can_be_read(opened, tmp_path):
    page, run, out = opened
    points, heading = page.get_by_label("Points"), page.locator("#which")
    page.keyboard.press("2")
    page.get_by_label("Hide names").check()
    assert "Eve" not in heading.text_content()
    page.reload()
    assert "2 of 2" in heading.text_content() and "Pia" not in heading.text_content()  # the first without points
    page.keyboard.press("k")
    assert points.input_value() == "2"
    downloaded(page, tmp_path / "decided.csv")

    table = out / "decided.csv"
    table.write_text(table.read_text().replace(f"Eve_2,{JACOBIAN},,", f"Eve_2,{JACOBIAN},1,"))
    assert run() == 0
    page.reload()
    page.keyboard.press("k")
    assert points.input_value() == "1"
    page.get_by_label("Go on from a table").set_input_files(tmp_path / "decided.csv")
    page.get_by_text("2 of 2 read from the table").wait_for()
    assert points.input_value() == "2"

    written = f'\ufeffstudent;exercise;points;of;grade says;comment\r\nEve_2;{JACOBIAN};1,5;2;;"\'=a ""b"";\nc"\r\n'
    written += f"Pia_3;{JACOBIAN};7\r\n"  # more than it can earn
    page.get_by_label("Go on from a table").set_input_files(
        {"name": "a.csv", "mimeType": "text/csv", "buffer": written.encode()}
    )
    page.get_by_text("1 of 2 read from the table").wait_for()
    assert (points.input_value(), page.get_by_label("Comment").input_value()) == ("1,5", '=a "b";\nc')


def test_where_nothing_is_to_be_marked_there_is_no_page(marked, capsys):
    run, out = marked
    assert run() == 0 and f"open {out / 'marking.html'}." in capsys.readouterr().out
    for path in (out.parent / "class").glob("[EP]*"):
        path.unlink()
    (out / "decided.csv").unlink()
    assert run() == 0 and not (out / "marking.html").exists()
    assert "by hand" not in capsys.readouterr().out


def test_an_open_exercise_has_a_place_for_its_answer_and_is_marked_beside_what_a_good_answer_shows(browser, tmp_path):
    week, out, name = tmp_path / "week", tmp_path / "out", "alignment.open_4"
    assign(["alignment"], week, points={name: 3, "alignment.open_5": 1}, source=ROOT / "chapters")
    cells = json.loads((week / "students" / "alignment.ipynb").read_text(encoding="utf-8"))["cells"]
    (place,) = (number for number, cell in enumerate(cells) if cell["id"] == "open-4")
    assert "## 4. Keys or values?" in "".join(cells[place - 1]["source"])
    assert "3 points" in "".join(cells[place]["source"])

    for student, added in {"Ada": [f"## Mine\n{HOSTILE}", "hooks = 1"], "Ben": []}.items():
        kinds = ["markdown", "code"][: len(added)]
        more = [{"cell_type": kind, "source": text} for kind, text in zip(kinds, added, strict=True)]
        text = json.dumps({"cells": cells[: place + 1] + more + cells[place + 1 :]})
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / "alignment.ipynb").write_text(text)
    call = [str(week / "instructor" / "assignment.json"), str(tmp_path / "class"), "--out", str(out)]
    assert grade.main(call) == 0
    assert [(row["student"], row["exercise"]) for row in rows_of(out / "decided.csv")] == [("Ada", name)]
    assert [row[name] for row in rows_of(out / "grades.csv")] == ["look yourself", "not attempted"]

    page = browser.new_page()
    page.goto((out / "marking.html").as_uri())
    assert page.locator("#source").text_content() == f"## Mine\n{HOSTILE}\n\nhooks = 1"
    assert "the largest weight" in page.locator("#good").text_content().lower()
    assert "Patch only the keys" in page.locator("#asked").text_content()
    assert page.get_by_text("Figures are in the notebook").is_visible()
    assert not page.locator("#known").is_visible() and not page.locator("#ran").is_visible()
    page.keyboard.type("3")
    downloaded(page, out / "decided.csv")
    page.close()
    assert grade.main(call) == 0
    assert [row["points"] for row in rows_of(out / "grades.csv")] == ["3", "0"]


@pytest.mark.parametrize("lesson", CHAPTERS)
def test_every_exercise_has_its_question_and_a_solution_to_mark_by(lesson):
    notebook = json.loads((ROOT / "chapters" / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    for name, exercise in chapter_exercises(lesson).items():
        asked, solution = for_marking(notebook, Task(name, 1, None), exercise)
        assert re.match(r"\d+\. ", asked) and "<details" not in asked and compile(solution, name, "exec")


def test_every_open_exercise_says_what_a_good_answer_shows():
    stated = {}
    for path in (ROOT / "chapters").glob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        stated |= open_exercises(path.stem, notebook)
    assert len(stated) == sum(path.read_text().count(" (open, ") for path in (ROOT / "chapters").glob("*.ipynb")) > 30
    assert all(asked and good and "<" not in good[:1] for asked, good in stated.values())
