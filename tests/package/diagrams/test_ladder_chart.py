from statistics import median

import pytest
from reading import SVG, parse, texts

from attention_course import diagrams
from attention_course.course import recorded
from attention_course.course.ladder import LADDER, LESSONS
from attention_course.diagrams.diagram import Diagram
from attention_course.diagrams.ladder import LEAST, LEFT, UNITS, Chart


def ladder(lesson, bits=None):
    """The chart alone."""
    chart = Chart(lesson, bits)
    picture = Diagram(chart.alt, height=chart.height)
    chart.draw(picture, 0)
    return picture


def dots(picture):
    """Where the middles of the dots stand, from the left, by the labels before them."""
    found = {}
    for dot in parse(picture).iter(f"{SVG}rect"):
        x, y, width, height = (float(dot.get(side)) for side in ("x", "y", "width", "height"))
        labels = [text for text in parse(picture).iter(f"{SVG}text") if abs(float(text.get("y")) - y - height / 2) < 8]
        (label,) = ["".join(text.itertext()) for text in labels if text.get("text-anchor") == "end"]
        found[label] = x + width / 2
    return found


def bits_of(model):
    return median(row["bits"] for row in recorded.load("ladder")["results"] if row["model"] == model)


def test_dots_stand_at_the_recorded_bits():
    places = dots(ladder(LESSONS[-1]))
    bits = {step.part: bits_of(name) for name, step in LADDER.items()}
    bits |= {f"counting {row['order']} letters": row["bits"] for row in recorded.load("ladder")["counts"]}
    bits["counting 1 letter"] = bits.pop("counting 1 letters")
    bits["the front page's model"] = recorded.load("character_model")["models"]["causal"]["bits"]
    bits["GRU, front page's size"] = min(row["bits"] for row in recorded.load("ladder")["longer"])
    for label in places.keys() & bits.keys():
        assert places[label] == pytest.approx(LEFT + UNITS * (bits[label] - LEAST), abs=0.1), label
    assert len(places) == len(LADDER) + 1 + 5 + 4 and len(places.keys() - bits.keys()) == 3  # the recurrent networks


def test_a_lesson_shows_the_steps_up_to_its_own_and_no_rival_that_its_reader_has_not_met():
    for place, lesson in enumerate(LESSONS[:-1]):
        shown = set(dots(ladder(lesson)))
        assert {step.part for step in LADDER.values()} & shown == {
            step.part for step in LADDER.values() if LESSONS.index(step.lesson) <= place
        }
        gru = sum("GRU" in label for label in shown)
        assert gru == (place >= LESSONS.index("positions")) + (place >= LESSONS.index("transformer"))


def test_rivals_that_know_the_order_wait_until_the_model_knows_it():
    for lesson in LESSONS[: LESSONS.index("positions")]:
        assert {label for label in dots(ladder(lesson)) if "counting" in label or "GRU" in label} == {
            "counting 1 letter"
        }


def test_the_readers_own_bits_stand_beside_the_newest_step():
    said = texts(ladder("self_attention", 3.21))
    assert f"{bits_of('one head'):.2f}, yours 3.21" in said
    assert sum("yours" in text for text in said) == 1
    assert "on this page: 3.21" in ladder("self_attention", 3.21).alt
    assert not any("yours" in text for text in texts(ladder("self_attention")))
    one_block = texts(ladder("transformer", 2.24))  # the lesson goes on to two, but trains one
    assert f"{bits_of('one block'):.2f}, yours 2.24" in one_block and f"{bits_of('two blocks'):.2f}" in one_block


def test_what_is_built_so_far_ends_in_the_same_chart():
    chart, whole = texts(ladder("masking", 3.2)), texts(diagrams.built_so_far("masking", 3.2))
    assert whole[-len(chart) :] == chart


def test_what_the_newest_step_writes_stands_below_whole():
    written = recorded.load("ladder")["written"]
    for name, step in LADDER.items():
        if name != "one block":  # the Transformer's lesson goes on to two
            chart = ladder(step.lesson)
            assert "".join(texts(chart)).replace("\N{NO-BREAK SPACE}", " ").endswith(written[name])
            assert chart.alt.endswith(written[name])
    assert not any("writes" in text for text in texts(ladder("scaled_dot_product")))
