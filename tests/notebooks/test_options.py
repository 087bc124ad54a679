"""A question is answered from its page: neither the form of its options nor a heading gives the answer away."""

import json
import re
from collections import Counter
from dataclasses import dataclass

import pytest
from lessons import FIRST_READING
from limits import WORD, markdown

QUESTION = re.compile(
    r"^\*\*(?:Predict|Say why)\.\*\* (.*?)^<details>.*?</summary>\s*\*\*(.+?)\*\*", re.MULTILINE | re.DOTALL
)
HEADING = re.compile(r"^##+ (.+)$", re.MULTILINE)
REASON = re.compile(r"\b(?:because|since|so that|therefore)\b")
MOST_UNEQUAL = 2.0  # how many times the words of the shortest option the longest may have
FEW = 6  # words, up to which options may differ as they like
LONG = 5  # letters of a word that says something


@dataclass
class Question:
    """A question with options: where it is, what may be chosen, which is right, and the headings above it."""

    page: str
    asked: str
    options: list[str]
    right: int
    headings: list[str]


def questions_of(page, text):
    """The questions of a page's Markdown."""
    for found in QUESTION.finditer(text):
        asked, answer = found.groups()
        options = [line.removeprefix("- ").strip() for line in asked.splitlines() if line.startswith("- ")]
        above = HEADING.findall(text[: found.start()])[-2:]
        yield Question(page, asked.splitlines()[0], options, options.index(answer), above)


@pytest.fixture(scope="module")
def questions(root):
    """Those of the pages of the first reading."""
    texts = {name: (root / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8") for name in FIRST_READING}
    return [question for name, text in texts.items() for question in questions_of(name, markdown(json.loads(text)))]


def n_words(option):
    return len(WORD.findall(option))


def test_options_are_about_as_long_as_each_other(questions):
    unequal = [
        (question.page, question.asked, sorted(map(n_words, question.options)))
        for question in questions
        if max(map(n_words, question.options)) > max(FEW, MOST_UNEQUAL * min(map(n_words, question.options)))
    ]
    assert unequal == []


def test_the_right_option_is_the_longest_one_time_in_three(questions):
    longest = [len(question.options[question.right]) == max(map(len, question.options)) for question in questions]
    assert sum(longest) <= 1 + len(longest) / 3


def test_no_option_is_the_only_one_with_a_reason(questions):
    with_reasons = {question.asked: [*filter(REASON.search, question.options)] for question in questions}
    assert [asked for asked, reasons in with_reasons.items() if len(reasons) == 1] == []


def test_the_right_option_is_in_every_place_of_the_source(questions):
    places = Counter(question.right for question in questions)
    assert set(places) >= {0, 1, 2}
    assert max(places.values()) <= 0.5 * len(questions)


def content(text):
    return {word.lower() for word in re.findall(r"[A-Za-z]+", text) if len(word) >= LONG}


def test_no_heading_gives_the_answer(questions):
    """A heading above a question shares no more words with the right option than with one of the wrong ones."""
    told = []
    for question in questions:
        right = content(question.options[question.right])
        for heading in question.headings:
            shared = len(content(heading) & right)
            wrong = [content(option) for at, option in enumerate(question.options) if at != question.right]
            if shared > max(len(content(heading) & option) for option in wrong):
                told.append((question.page, heading, question.options[question.right]))
    assert told == []
