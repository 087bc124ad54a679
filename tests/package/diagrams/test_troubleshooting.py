"""The chart says each symptom, test, cause and number it is given, within its boxes."""

import pytest
from reading import texts

from attention_course.diagrams.troubleshooting import chart

SYMPTOMS = {
    "The loss stays flat": [("eight rows by heart", "no residuals", 2.34e-7), ("first step", "rate too small", 0.051)],
    "The loss is too good": [("other tokens behind", "future seen", 0.6451)],
    "NaN in float16": [("the largest number", "float16 overflows", 123456.0)],
}


def test_symptoms_tests_causes_and_numbers_stand_in_the_chart_in_order():
    written = texts(chart(SYMPTOMS))
    for symptom, rows in SYMPTOMS.items():
        place = written.index(symptom)
        for number, (test, cause, _) in enumerate(rows):
            assert written[place + 1 + 3 * number : place + 3 + 3 * number] == [test, cause]
    assert [text for text in written if text[0].isdigit()] == ["2.3e-07", "0.051", "0.65", "1e+05"]


def test_the_words_for_those_who_do_not_see_it_hold_every_line():
    alt = chart(SYMPTOMS).alt
    assert "3 symptoms, 4 tests" in alt
    for symptom, rows in SYMPTOMS.items():
        assert symptom in alt
        assert all(f"{test} finds {cause}" in alt for test, cause, _ in rows)


@pytest.mark.parametrize("n_rows", [1, 3])
def test_the_picture_is_as_high_as_its_lines(n_rows):
    one = chart({"A": [("b", "c", 1.0)]}).height
    assert chart({"A": [("b", "c", 1.0)] * n_rows}).height == one + 36 * (n_rows - 1)
