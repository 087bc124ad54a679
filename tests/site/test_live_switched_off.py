"""What a head that is off says, and what that costs on unread text: beside the record."""

import pytest
from live_models import INTACT, Live, copied, make_model

from attention_course.course import recorded
from attention_course.course.checkpoints import load_character_model

WITH_MEANS = INTACT | {"means": True}


@pytest.fixture(scope="module")
def measured():
    return recorded.load("switched_off")["models"]


def paragraphs(live):
    """What is said of unread text below the text, and once more below the switches."""
    return [one.inner_text() for one in live.page.locator(".course-live p", has_text="of unread text:").all()]


def test_a_head_that_is_off_says_its_mean_or_zeros(open_model, measured):
    """As the reader chooses; the costs of other text are the record's. (What comes of it: Node.)"""
    record = measured["causal"]
    page, live = open_model(measured=[record])
    menu = page.get_by_label("A head that is off says")
    assert menu.evaluate("menu => menu.selectedOptions[0].label") == "its mean"
    assert live.state["changes"] == WITH_MEANS
    of = "On 200 passages of unread text:"
    assert paragraphs(live) == [f"{of} {record['bits']:.2f} bits a character."] * 2
    live.check("head 2", 2)
    costs = set()
    for choice, name, told in ((0, "with_means", "mean"), (1, "zeros", "zeros")):
        menu.select_option(index=choice)
        live.wait_for(changes=WITH_MEANS | {"heads": [[], [], [1]], "means": not choice})
        costs.add(live.bits())
        assert live.cost.inner_text().startswith(f"On this text: {live.bits():.2f} bits")
        assert live.cost.inner_text().endswith(f"Off: block 3 head 2 ({told}).")
        beside = f"{record[name][2][1]:.2f} bits a character; as the model was trained, {record['bits']:.2f}."
        assert paragraphs(live) == [f"{of} {beside}"] * 2
    assert len(costs) == 2
    live.check("head 1", 0)
    beside = f"not measured with all of these off; as the model was trained, {record['bits']:.2f}."
    assert paragraphs(live) == [f"{of} {beside}"] * 2
    page.get_by_role("button", name="As it was trained").click()
    live.wait_for(changes=INTACT)  # the choice stays
    for switch, cost in (("block 3", record["blocks"][2]), ("positions", record["positions"])):
        live.check(switch)
        assert paragraphs(live)[0].startswith(f"{of} {cost:.2f} bits")
        live.check(switch)
    live.check("head 1", 0)
    live.check("block 1")  # of which the head is a part
    assert paragraphs(live)[0].startswith(f"{of} {record['blocks'][0]:.2f} bits")
    assert page.errors == []


def test_each_model_has_its_own_measurements(show, trained, measured):
    """And a link carries what stands in the place of a head."""
    cheat, _ = load_character_model("unmasked")
    page = show(make_model(trained, unmasked=cheat, measured=[measured["causal"], measured["unmasked"]]))
    live = Live(page)
    live.choose_unmasked()
    live.check("mask: hide the future")
    assert f" {measured['unmasked']['mask']:.2f} bits a character; as" in paragraphs(live)[0]
    live.check("head 3", 1)
    assert "instead" not in copied(page)
    page.get_by_label("A head that is off says").select_option("zeros")
    live.wait_for(changes={"heads": [[], [2]], "blocks": [], "positions": True, "masked": True, "means": False})
    seen, link = live.state, copied(page)
    assert "instead=zeros" in link
    fresh = page.context.new_page()
    fresh.goto(link)
    again = Live(fresh)
    assert again.wait_for(open=seen["open"]) == seen
    assert fresh.get_by_label("A head that is off says").evaluate("menu => menu.value") == "zeros"
    assert page.errors == []


def test_without_measurements_there_are_zeros(open_model):
    """The one choice; nothing is said of other text."""
    page, live = open_model()
    assert page.get_by_label("A head that is off says").locator("option").all_inner_texts() == ["zeros"]
    assert paragraphs(live) == [] and live.state["changes"] == INTACT
