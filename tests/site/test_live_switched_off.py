"""What a head that is off says, and what that costs on held-out text: beside PyTorch, and beside the record."""

import pytest
import torch
from live_models import INTACT, LIMIT, TEXT, Live, bits, copied, encode

from attention_course import recorded
from attention_course.checkpoints import load_character_model
from attention_course.explore import explore_model
from attention_course.switched_off import switched_off

WITH_MEANS = INTACT | {"means": True}


@pytest.fixture(scope="module")
def measured():
    return recorded.load("switched_off")["models"]


def paragraphs(live):
    """What is said of held-out text below the text, and once more below the switches."""
    return [one.inner_text() for one in live.page.locator(".course-live p", has_text="of held-out text:").all()]


def test_a_head_that_is_off_says_its_mean_or_zeros(open_model, trained, measured):
    """As the reader chooses; the costs of this text are PyTorch's, those of other text the record's."""
    model, vocabulary = trained
    record = measured["causal"]
    page, live = open_model(measured=[record])
    symbols = encode(TEXT, vocabulary)
    menu = page.get_by_label("A head that is off says")
    assert menu.evaluate("menu => menu.selectedOptions[0].label") == "its mean"
    assert live.state["changes"] == WITH_MEANS
    of = "On 200 pieces of held-out text:"
    assert paragraphs(live) == [f"{of} {record['bits']:.2f} bits a character."] * 2
    live.check("head 2", 2)
    means = torch.tensor(record["means"], dtype=torch.float64)
    for choice, name, told, instead in ((0, "with_means", "mean", means), (1, "zeros", "zeros", None)):
        menu.select_option(index=choice)
        live.wait_for(changes=WITH_MEANS | {"heads": [[], [], [1]], "means": not choice})
        with switched_off(model, heads=[(2, 1)], means=instead):
            cost = bits(model, symbols)
        assert live.cost.inner_text().startswith(f"Average surprise: {cost:.2f} bits")
        assert live.cost.inner_text().endswith(f"Off: block 3 head 2 ({told}).")
        beside = f"{record[name][2][1]:.2f} bits a character; as the model was trained, {record['bits']:.2f}."
        assert paragraphs(live) == [f"{of} {beside}"] * 2
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
    model, vocabulary = trained
    cheat, _ = load_character_model("unmasked")
    both = [measured["causal"], measured["unmasked"]]
    page = show(explore_model(model, vocabulary, TEXT, alt="Two.", limit=LIMIT, unmasked=cheat, measured=both))
    live = Live(page)
    page.locator(".course-live-choice select").select_option(label="trained without the mask")
    live.wait_for(model=1)
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
