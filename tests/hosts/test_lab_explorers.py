"""Explorers in a running JupyterLab: with today's ipywidgets on each change, with those of Colab every week.

What a view does of itself is tried in tests/site, in Chromium; here, that the host's controls move it, and it them.
"""

import sys
from pathlib import Path

import lab
import numpy as np
import pytest
import torch
from nbformat.v4 import new_code_cell
from playwright.sync_api import expect

sys.path.insert(0, str(Path(__file__).parents[1] / "site"))
from explorer_samples import pytorch_weights  # noqa: E402

generator = torch.Generator().manual_seed(0)
SQUARE = torch.randn(3, 6, 6, generator=generator, dtype=torch.float64) * 3
HEADS = {heads: torch.randn(heads, 5, 5, generator=generator, dtype=torch.float64) for heads in (1, 2, 4)}
WEIGHTS = torch.randn(2, 3, 5, 5, generator=generator, dtype=torch.float64).softmax(-1)
ACCURACY = {1: 0.5, 2: 0.75, 4: 1}
LISTS = {heads: scores.tolist() for heads, scores in HEADS.items()}

CELLS = [
    """\
import matplotlib.pyplot as plt
from attention_course.explore import explore_attention, explore_frames, explore_heads

def draw(size=1, power=1):
    figure, axes = plt.subplots(figsize=(2, 2), layout="constrained")
    axes.plot([0, size], [power, size])
    return figure""",
    f'explore_attention({SQUARE.tolist()}, gold={torch.eye(6, dtype=torch.bool).tolist()}, length=4, alt="square")',
    f'explore_attention(weights={WEIGHTS.tolist()}, tokens=["[CLS]", *"abc", "##s"], alt="own")',
    f'explore_heads({LISTS}, accuracy={ACCURACY}, alt="heads")',
    'explore_frames(draw, {"size": [1, 2, 3], "power": [1, 2]}, alt="frames")',
    """\
from attention_course.course.checkpoints import load_character_model
from attention_course.explore import explore_model
explore_model(*load_character_model(), "The for ", alt="model")""",
    """\
from attention_course.encoder_decoder import EncoderDecoder
import torch
torch.manual_seed(0)
words = [".", *"abcdefghi"]
explore_model(EncoderDecoder(len(words), 16, 2, 2), words, "a b.", alt="translator", limit=9)""",
]
N_EXPLORERS = len(CELLS) - 1
FOLDED = {"tags": ["hide-input"], "jupyter": {"source_hidden": True}, "cellView": "form"}


@pytest.fixture(scope="module", params=lab.FRONT_ENDS)
def page(request, browser, tmp_path_factory):
    """The notebook after all its cells ran, in one host; what went wrong in `page.alarms`."""
    host = lab.HOSTS[request.param]
    folder = tmp_path_factory.mktemp("lab")
    assert host.lab.exists(), f"there is no {host.lab.name}: run `make install` first"
    folded = new_code_cell("# @title Draw one layer\nprint('drawn')", metadata=FOLDED)
    lab.write_notebook(folder, [*map(new_code_cell, CELLS), folded])
    with lab.running_lab(folder, host) as address:
        # High enough for the whole notebook: JupyterLab takes apart the cells that are out of sight.
        page = browser.new_page(viewport={"width": 1280, "height": 6000}, reduced_motion="no-preference")
        lab.watch(page)
        lab.open_and_run(page, address, N_EXPLORERS)
        yield page
        page.close()


@pytest.fixture
def explorer(page):
    """A function that finds an explorer by its alt text."""
    return lambda alt: lab.LiveExplorer(page, alt)


def assert_right(explorer, scores, state, length=0):
    """What is shown is PyTorch's weights of the heads on show; zeros where a query may attend to nothing."""
    heads = slice(None) if state["head"] == "all" else slice(state["head"] - 1, state["head"])
    expected = pytorch_weights(scores[heads], state["temperature"], state["mask"], length)
    np.testing.assert_allclose(explorer.weights(), expected, rtol=0, atol=1e-6)


def test_menus_a_slider_and_a_box_move_the_maps(explorer):
    shown = explorer("square")
    for key, end in {"Home": 0.05, "End": 10.0}.items():
        shown.slide("temperature", key)
        assert_right(shown, SQUARE, shown.wait_for(temperature=pytest.approx(end, rel=1e-3)))
    shown.choose("mask", "padding")
    assert_right(shown, SQUARE, shown.wait_for(mask="padding"), length=4)
    for option, head in {"head 1": 1, "all, side by side": "all"}.items():
        shown.choose("head", option)
        assert_right(shown, SQUARE, shown.wait_for(head=head), length=4)
    framed = shown.view.locator(".course-explorer-gold")
    for gold in (False, True):
        shown.tick("show gold")
        shown.wait_for(gold=gold)
        assert framed.count() == gold


def test_layers_and_heads_of_given_weights(explorer):
    """By the menus, and by a click on a small map, which the menus follow."""
    shown = explorer("own")
    for layer, head, expected in (("2", "head 3", WEIGHTS[1, 2:]), ("all", "all, side by side", WEIGHTS.flatten(0, 1))):
        shown.choose("layer", layer)
        shown.choose("head", head)
        shown.wait_for(layer=layer if layer == "all" else int(layer), head="all" if layer == "all" else 3)
        torch.testing.assert_close(torch.tensor(shown.weights(), dtype=torch.float64), expected, rtol=0, atol=1 / 8000)
    shown.view.locator(".course-explorer-grid canvas").nth(4).click()
    shown.wait_for(layer=2, head=2)
    assert shown.control("dropdown", "layer").locator("select").evaluate("s => s.selectedOptions[0].text") == "2"


def test_the_number_of_heads_at_both_ends(explorer):
    shown = explorer("heads")
    for key, heads in {"End": 4, "Home": 1}.items():
        shown.slide("number of heads", key)
        assert_right(shown, HEADS[heads], shown.wait_for(heads=heads))
        assert f"accuracy {ACCURACY[heads]:.1%}" in shown.view.inner_text()


def test_frames_at_both_ends_of_both_sliders_and_played_to_their_end(explorer):
    shown = explorer("frames")
    image = shown.view.locator("img")
    seen = set()
    for size, first in {"3": "End", "1": "Home"}.items():
        shown.slide("size", first)
        for power, second in {"2": "End", "1": "Home"}.items():
            shown.slide("power", second)
            frame = 2 * (int(size) - 1) + int(power) - 1
            shown.wait_for(size=size, power=power, frame=frame)
            seen.add(image.get_attribute("src"))
            assert image.evaluate("image => image.decode().then(() => image.naturalWidth)")
    assert len(seen) == 4
    shown.view.get_by_role("button", name="Play").click()
    state = shown.wait_for(size="3")
    shown.view.get_by_role("button", name="Play").wait_for()
    assert shown.control("hslider", "size").locator(".widget-readout").inner_text() == state["size"]


@pytest.mark.parametrize(
    ("alt", "box", "text", "state"),
    [
        ("model", "textarea", "class Point:", {"text": "class Point:", "selected": 11}),
        ("translator", "input[type=text]", "c d e f.", {"source": [3, 4, 5, 6, 0], "writing": False}),
    ],
)
def test_a_live_model_runs_in_a_notebook(explorer, alt, box, text, state):
    """There is no worker here: the page computes, what `tests/site` compares with PyTorch."""
    shown = explorer(alt)
    shown.view.scroll_into_view_if_needed()
    shown.view.locator(".course-live-cost:not(:empty)").wait_for()
    shown.view.locator(box).fill(text)
    shown.wait_for(**state)
    np.testing.assert_allclose(np.sum(shown.weights(), -1), 1, atol=1e-6)


def test_a_folded_cell_hides_its_code_and_shows_its_output(page):
    """Until it is unfolded. Colab's own front end runs nowhere else: for its mark see tests/notebooks/folds.py."""
    opened, folded = page.locator(".jp-Notebook .jp-CodeCell").first, page.locator(".jp-Notebook .jp-CodeCell").last
    expect(folded.locator(".jp-OutputArea-output").get_by_text("drawn")).to_be_visible()
    expect(opened.locator(".jp-InputArea-editor")).to_be_visible()
    expect(folded.locator(".jp-InputArea-editor")).not_to_be_visible()
    folded.locator(".jp-InputPlaceholder, .jp-Placeholder-content").first.click()
    expect(folded.locator(".jp-InputArea-editor")).to_be_visible()


def test_nothing_went_wrong_unseen(page):
    assert not page.alarms
