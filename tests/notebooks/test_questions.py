"""Each lesson has three questions to ask aloud, short ones, and none that the lesson asks itself."""

import json
import re
from difflib import get_close_matches
from pathlib import Path

import pytest
from course_map import title_of
from lessons import IN_ORDER, LESSON_NAMES
from limits import WORD, markdown

MOST_WORDS = 110  # a lesson
MOST_ALIKE = 0.6  # of two questions' letters, in their order
HEADING = re.compile(r"(?m)^## (.+)\n")
# What is asked, what a good answer says, and a wrong answer with what it reveals.
QUESTION = re.compile(r"\d\. \*\*(?P<question>[^*]+[?])\*\* (?P<good>[^*]+[.]) (?P<wrong>\*[^*]+\*: [^*]+[.])")
ASKED = re.compile(r"\*\*(?:Predict|By hand|Say why)\.\*\* (.+)")


@pytest.fixture(scope="module")
def questions(root):
    """By its title, the lines of each lesson."""
    _, *pieces = HEADING.split((root / "instructors" / "questions.md").read_text(encoding="utf-8"))
    return {title: text.strip().splitlines() for title, text in zip(pieces[::2], pieces[1::2], strict=True)}


@pytest.fixture(scope="module")
def texts(root):
    """By its title, the Markdown of each lesson, in the order of the contents."""
    notebooks = [Path(root, "chapters", f"{name}.ipynb") for name in IN_ORDER if name in LESSON_NAMES]
    found = [markdown(json.loads(path.read_text(encoding="utf-8"))) for path in notebooks]
    return {title_of(text): text for text in found}


def test_the_lessons_are_those_of_the_contents_in_their_order(questions, texts):
    assert list(questions) == list(texts), "instructors/questions.md has others"


def test_each_lesson_has_three_questions_with_a_good_and_a_wrong_answer(questions):
    for title, lines in questions.items():
        assert [line[:3] for line in lines] == ["1. ", "2. ", "3. "], title
        assert all(QUESTION.fullmatch(line) for line in lines), title


def test_questions_are_short(questions):
    lengths = {title: len(WORD.findall(" ".join(lines))) for title, lines in questions.items()}
    assert {title: length for title, length in lengths.items() if length > MOST_WORDS} == {}


def test_no_question_is_asked_in_its_lesson(questions, texts):
    for title, lines in questions.items():
        asked = ASKED.findall(texts[title])
        for line in lines:
            question = QUESTION.fullmatch(line)["question"]
            assert not get_close_matches(question, asked, cutoff=MOST_ALIKE), f"{title}: {line}"
