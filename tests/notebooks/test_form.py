"""Lessons have the form of a lesson, and what measures it notices where a notebook has not."""

import json
import re

import pytest
from form import (
    closing_headings,
    hidden_lessons,
    is_closed_well,
    led_to,
    malformed_exercise_headings,
    missing_kinds,
    mistakes_at_the_top,
)
from limits import markdown
from small_notebooks import LESSON, code, folded, replaced, text, written


def test_the_top_of_a_lesson(lesson, notebook):
    assert mistakes_at_the_top(notebook) == []


def test_a_lesson_closes_with_exercises_and_what_its_reader_can_do(lesson, notebook):
    assert is_closed_well(closing_headings(notebook)), closing_headings(notebook)


def test_a_lesson_leads_to_the_next_one(lesson, notebook, next_lesson):
    assert next_lesson in led_to(notebook)


def test_exercises_say_their_number_minutes_and_difficulty(lesson_or_further, notebook):
    assert malformed_exercise_headings(notebook) == []


def test_a_lesson_has_every_kind_of_exercise(lesson, notebook):
    assert not missing_kinds(notebook), ", ".join(missing_kinds(notebook))


def places_of_right_options(text):
    """At which place among its options, counted from 0, the right one of each question is written."""
    for asked, answer in PREDICTION.findall(text):
        options = [line.removeprefix("- ").strip() for line in asked.splitlines() if line.startswith("- ")]
        yield options.index(answer)


PREDICTION = re.compile(
    r"^\*\*(?:Predict|Say why)\.\*\* (.*?)^<details>.*?</summary>\s*\*\*(.+?)\*\*", re.MULTILINE | re.DOTALL
)


def test_the_right_option_seldom_stands_first(root, notebook_names):
    """The site mixes them; in a notebook they stand as they are written."""
    texts = [markdown(json.loads((root / name).read_text(encoding="utf-8"))) for name in notebook_names]
    places = [place for text in texts for place in places_of_right_options(text)]
    assert len(places) > 50
    assert places.count(0) <= 0.45 * len(places)
    assert list(places_of_right_options(markdown(LESSON))) == [0, 0]


def test_no_fold_hides_the_lesson_itself(lesson_or_further, notebook, linked_before):
    """What an earlier page showed open may be folded, where the page links there."""
    assert hidden_lessons(notebook, linked_before) == []


def test_a_lesson_as_it_should_be_has_no_mistakes():
    assert mistakes_at_the_top(LESSON) == malformed_exercise_headings(LESSON) == missing_kinds(LESSON) == []
    assert closing_headings(LESSON) == ["Exercises", "What you can do now", "Next", "Papers"]
    assert is_closed_well(closing_headings(LESSON))
    assert hidden_lessons(LESSON) == []


@pytest.mark.parametrize(
    ("right", "wrong", "mistake"),
    [
        ("*What is it?*", "What is it?", "not `# Title`"),
        ("*What is it?*", "*One. Two. Three?*", "two sentences"),
        ("**Reading about 5 minutes, exercises about 15.**", "Some minutes.", "Reading about 40 minutes"),
        ("You need", "Bring", "You need"),
        ("Afterwards you can", "Then you may", "Afterwards"),
    ],
)
def test_a_mistake_in_the_words_at_the_top_is_found(right, wrong, mistake):
    (found,) = mistakes_at_the_top(replaced(right, wrong))
    assert mistake in found


def test_a_missing_picture_and_an_open_cell_at_the_top_are_found():
    cells = LESSON["cells"]
    (found,) = mistakes_at_the_top(written(*cells[:2], *cells[3:]))
    assert "no folded cells" in found
    (found,) = mistakes_at_the_top(written(*cells[:3], code("1 + 1"), *cells[3:]))
    assert "open cell" in found


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("## Exercises", "## Tasks"),
        ("## What you can do now", "## Summary"),
        ("## Next", "## Later"),
        ("## Papers", "## Exercises"),
    ],
)
def test_closing_headings_that_are_missing_or_strange_are_found(right, wrong):
    assert not is_closed_well(closing_headings(replaced(right, wrong)))


def test_next_and_papers_may_stand_inside():
    notebook = replaced("## Next", "**Next.**", replaced("## Papers", "**Papers**"))
    assert is_closed_well(closing_headings(notebook))


@pytest.mark.parametrize(
    ("right", "wrong", "kind"),
    [
        ("**Predict.**", "Guess.", "predict"),
        ("**Say why.**", "Think.", "say why"),
        ("**By hand.**", "Try.", "by hand, or put in order"),
        ("check(", "print(", "build"),
        ("(open, 60 min, difficulty 3 of 3)", "(60 min, difficulty 3 of 3)", "one open task of difficulty 3"),
        ("(open, 60 min, difficulty 3 of 3)", "(open, 60 min, difficulty 2 of 3)", "one open task of difficulty 3"),
        ("What a good answer shows", "Hint", "what a good answer shows"),
    ],
)
def test_a_missing_kind_of_exercise_is_found(right, wrong, kind):
    assert missing_kinds(replaced(right, wrong)) == [kind]


@pytest.mark.parametrize("wrong", ["(5 minutes, difficulty 1 of 3)", "(5 min)", "(5 min, difficulty 4 of 3)"])
def test_a_malformed_heading_of_an_exercise_is_found(wrong):
    assert malformed_exercise_headings(replaced("(5 min, difficulty 1 of 3)", wrong)) == [f"### 1. Build it {wrong}"]


@pytest.mark.parametrize(
    "definition",
    [
        "class thing(nn.Module):\n    pass",
        "class thing:\n    pass",
        "def thing():\n    loss.backward()",
        "def thing():\n    optimizer.zero_grad()",
        "def thing():\n    return F.cross_entropy(x, y)",
        "thing = nn.Linear(2, 2)",
        "thing = torch.optim.Adam(parameters)",
        "thing = lambda: nn.MSELoss()(x, y)",
        "for i in range(3):\n    thing = nn.Linear(2, 2)",
    ],
)
def test_a_lesson_hidden_in_a_fold_is_found_where_an_open_cell_uses_it(definition):
    hidden = folded(f"# @title Hide the lesson\n{definition}")
    assert hidden_lessons(written(hidden, code("thing()"))) == ["thing"]
    assert hidden_lessons(written(hidden, folded("# @title Use it too\nthing()"), code("thing = 1"))) == []
    assert hidden_lessons(written(code(definition), code("thing()"))) == []
    page = written(hidden, code("thing()"))
    assert hidden_lessons(page, [written(code(definition))]) == []
    assert hidden_lessons(page, [written(hidden), written(code("other = 2"))]) == ["thing"]


@pytest.mark.parametrize(
    "definition",
    [
        "thing = softmax(x)",
        "thing = nn.functional.softmax(x)",
        "thing = training.train(model, batch, training.sequence_loss)",
        "def thing():\n    plt.plot(losses)",
    ],
)
def test_plots_and_runs_may_be_folded(definition):
    assert hidden_lessons(written(folded(f"# @title Draw the run\n{definition}"), text("Prose."), code("thing"))) == []
