"""The controls of explorers: by keyboard and by mouse, their pictures, and how they play."""

import numpy as np
import pytest
import torch
from explorer_pages import Mounted
from explorer_samples import draw_bars, shown_picture

from attention_course.diagrams import Diagram
from attention_course.explore import explore_attention, explore_frames, explore_heads, explore_steps
from attention_course.explore.frames import PAUSE

pytestmark = pytest.mark.usefixtures("close_figures")


def test_the_temperature_moves_by_keyboard_from_end_to_end(show):
    """0.05, 10, 1 and a step beside it; the value is written beside the slider, and told to who cannot see it."""
    explorer = Mounted(show(explore_attention(torch.randn(4, 4), alt="Random.")))
    slider = explorer.control("temperature")
    assert explorer.state["temperature"] == 1 and explorer.output("temperature") == "1"
    for key, temperature in {"ArrowRight": 10 ** (1 / 93), "Home": 0.05, "End": 10}.items():
        before = explorer.pixels()
        explorer.press("temperature", key)
        assert explorer.state["temperature"] == pytest.approx(temperature, rel=1e-9)
        assert float(explorer.output("temperature")) == pytest.approx(temperature, rel=5e-3)
        assert slider.get_attribute("aria-valuetext") == explorer.output("temperature")
        assert explorer.pixels() != before
        beyond = {"Home": "ArrowLeft", "End": "ArrowRight"}.get(key)
        if beyond:
            explorer.press("temperature", beyond)
            assert explorer.state["temperature"] == temperature


def count_gold(canvas, n: int) -> np.ndarray:
    """How many pixels of each of `n` by `n` cells have the colour of gold, on a map without names of rows."""
    return np.array(
        canvas.evaluate(
            """(canvas, n) => {
          const ratio = devicePixelRatio;
          const cell = (canvas.width / ratio - 3) / n;
          const top = canvas.height / ratio - 2 - n * cell;
          const pen = canvas.getContext("2d");
          const gold = ([r, g, b]) => r > 190 && g > 60 && g < 130 && b < 60;
          const count = (x, y) => {
            const { data } = pen.getImageData(x * ratio, y * ratio, cell * ratio, cell * ratio);
            return Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 3)).filter(gold).length;
          };
          const places = Array.from({ length: n }, (_, i) => i * cell);
          return places.map((y) => places.map((x) => count(1 + x, top + y)));
        }""",
            n,
        )
    )


def test_eight_heads_stand_side_by_side_on_a_phone_with_names_and_frames(show):
    """Three in a row, names beside the first of each row and above all, and frames for each question."""
    mentor, friend = (torch.eye(8).roll(by, 1) > 0 for by in (1, 3))
    names = ["Ada", "Ben", "Cem", "Dan", "Eva", "Fei", "Gus", "Hal"]
    gold = {"mentor": mentor, "friend": friend}
    heads = explore_heads({8: torch.zeros(8, 8, 8)}, accuracy={8: 1}, tokens=names, gold=gold, alt="Eight heads.")
    explorer = Mounted(show(heads, width="phone", device_scale_factor=2))
    canvases = explorer.view.locator(".course-explorer-maps canvas")
    boxes = [canvas.bounding_box() for canvas in canvases.all()]
    assert [sum(box["y"] == other["y"] for other in boxes) for box in boxes] == [3] * 6 + [2] * 2
    assert max(box["x"] + box["width"] for box in boxes) < 390
    beside, plain = boxes[0]["width"] - boxes[1]["width"], boxes[1]["width"]
    assert beside > 20 and all(box["width"] == boxes[index % 3]["width"] for index, box in enumerate(boxes))
    assert all(box["height"] - plain > 20 for box in boxes)  # eight rows as high as the columns are wide, and names
    found = count_gold(canvases.nth(1), 8)
    assert ((found > 0) == (mentor | friend).numpy()).all()
    assert found[mentor.numpy()].sum() > 1.3 * found[friend.numpy()].sum()  # dashes leave gaps
    assert "frames: mentor, dashed: friend" in explorer.view.locator(".course-explorer-legend").inner_text()
    keys = explorer.view.locator(".course-explorer-row li")
    styles = keys.evaluate_all("keys => keys.map((key) => getComputedStyle(key).borderTopStyle)")
    framed = keys.evaluate_all("keys => keys.map((key) => key.classList.contains('course-explorer-gold'))")
    assert (styles.index("dashed"), styles.count("dashed")) == (friend[0].int().argmax(), 1)
    assert framed == (mentor | friend)[0].tolist()
    labels = explorer.view.locator(".course-explorer-lines :is(button, li span)")
    assert labels.evaluate_all("labels => labels.filter((e) => e.scrollWidth > e.clientWidth)") == []  # none is cut


def test_maps_whose_names_do_not_fit_stand_without(show):
    """Of forty tokens no two maps with names have room on a phone: they keep their size, and have no names."""
    explorer = Mounted(show(explore_attention(torch.zeros(2, 40, 40), alt="Two heads."), width="phone"))
    boxes = [canvas.bounding_box() for canvas in explorer.view.locator(".course-explorer-maps canvas").all()]
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["width"] == boxes[1]["width"]
    assert abs(boxes[0]["height"] - boxes[0]["width"]) < 1


def test_the_legend_names_what_is_drawn(show):
    """In the small cells of a grid there are no frames, and in the smallest no strokes either."""
    scores = torch.zeros(2, 8, 40, 40)
    gold = torch.eye(40) > 0
    explorer = Mounted(show(explore_attention(scores, gold=gold, mask="causal", alt="Small maps."), width="phone"))
    legend = explorer.view.locator(".course-explorer-legend > span").last
    assert explorer.view.locator("canvas").first.bounding_box()["width"] < 3 * 40
    assert legend.inner_text() == ""
    explorer.control("layer").select_option(label="1")
    explorer.control("head").select_option(label="head 1")
    assert legend.inner_text() == "frames: gold · strokes: masked"


def test_frames_follow_two_sliders(show):
    """Every corner of the grid is a picture of its own, and the state says which; a slider says minus, no hyphen."""
    explorer = Mounted(show(explore_frames(draw_bars, {"height": [-1, 2, 3], "width": [1.5, 2.5]}, alt="Two bars.")))
    seen = {}
    for height, height_key in ((-1, "Home"), (3, "End")):
        for width, width_key in ((1.5, "Home"), (2.5, "End")):
            explorer.press("height", height_key)
            explorer.press("width", width_key)
            assert explorer.output("height") == str(height).replace("-", "−") and explorer.output("width") == str(width)
            state = explorer.state
            assert (state["height"], state["width"]) == (str(height), str(width))
            seen[state["frame"]] = shown_picture(explorer)
    assert sorted(seen) == [0, 1, 4, 5]
    assert len(set(seen.values())) == 4
    assert explorer.page.errors == []


def test_steps_go_on_by_slider_and_by_button(show):
    """Each step has its caption, and a longer one moves nothing; after the last the button starts again."""
    words = ["One.", "Two: " + "long words, " * 20 + "and no more.", "Three."]
    pairs = [(caption, lambda n=n: draw_bars(n)) for n, caption in enumerate(words, 1)]
    explorer = Mounted(show(explore_steps(pairs, alt="Three steps."), width="phone"))
    button = explorer.view.locator("button")
    captions, tops = [], set()
    for label in ("Next", "Next", "Start again"):
        captions.append(explorer.view.locator(".course-explorer-caption").inner_text())
        tops.add(explorer.view.locator("img").bounding_box()["y"])
        assert button.inner_text() == label
        assert captions[-1].split(": ", 1)[1] in explorer.view.locator("img").get_attribute("alt")
        button.click()
    assert captions == [f"{n} of 3: {caption}" for n, caption in enumerate(words, 1)] and len(tops) == 1
    assert "long words" not in explorer.view.aria_snapshot()  # there is room for it, which is not read out
    assert explorer.output("step") == "1"
    explorer.press("step", "End")
    assert explorer.view.locator(".course-explorer-caption").inner_text() == captions[-1]


def draw_height(height):
    picture = Diagram(f"A bar. It is {height} high.", height=100)
    picture.tensor(10, 10, [[height, -1.0]], name="height", cell=40, numbers=True)
    return picture


def test_a_diagram_takes_the_colours_of_the_page(show):
    """Its text is the page's ink, in light and in dark, and it changes with the slider."""
    for scheme in ("light", "dark"):
        explorer = Mounted(show(explore_frames(draw_height, {"height": [1.0, 2.0]}, alt="Bars."), scheme=scheme))
        text = explorer.view.locator("svg.course-diagram text").first
        assert text.text_content() == "1"
        explorer.press("height", "End")
        assert text.text_content() == "2"
        page_ink = explorer.page.evaluate("getComputedStyle(document.querySelector('.course-explorer-view')).color")
        assert text.evaluate("text => getComputedStyle(text).fill") == page_ink


def test_ink_is_the_readers_own_where_colours_are_forced(browser):
    picture = Diagram("A picture.", height=100)
    picture.box(10, 20, 100, 40, "decoder")
    page = browser.new_page(forced_colors="active", color_scheme="dark")
    page.set_content(picture.svg)
    ink, text, line = page.evaluate(
        "[getComputedStyle(document.body).color, ...['text', 'rect'].map((part) => "
        "getComputedStyle(document.querySelector(part))).map((style, i) => i ? style.stroke : style.fill)]"
    )
    assert text == line == ink
    page.close()


def test_steps_may_be_diagrams_and_figures(show):
    """What is shown is one of them, and nothing is left of the other."""
    steps = [("A diagram.", draw_height(1.0)), ("A figure.", lambda: draw_bars(1, 2)), ("Again.", draw_height(3.0))]
    explorer = Mounted(show(explore_steps(steps, alt="Three pictures.")))
    image, svg = explorer.view.locator("img"), explorer.view.locator("svg.course-diagram")
    assert (image.is_visible(), svg.count()) == (False, 1)
    explorer.view.locator("button").click()
    image.wait_for()
    assert svg.count() == 0
    explorer.view.locator("button").click()
    assert (image.is_visible(), svg.locator("text").first.text_content()) == (False, "3")


def test_what_later_steps_add_stands_faintly_and_without_its_numbers_behind_the_first(show):
    steps = [("One.", draw_height(1.0)), ("Three.", draw_height(3.0))]
    explorer = Mounted(show(explore_steps(steps, alt="Two pictures.")))
    coming = explorer.view.locator("svg.course-explorer-coming")
    assert (coming.count(), coming.locator("text").first.text_content()) == (1, "3")
    assert 0.1 < float(coming.evaluate("svg => getComputedStyle(svg).opacity")) < 0.2
    assert not coming.locator("[data-tensor] text").first.is_visible() and coming.locator("rect").first.is_visible()
    assert coming.bounding_box() == explorer.view.locator("svg.course-diagram").bounding_box()


def test_steps_that_play_by_themselves_do_so_once_and_not_where_less_motion_is_asked_for(show):
    steps = [(words, draw_height(height)) for height, words in ((1.0, "One."), (2.0, "Two."), (3.0, "Three."))]
    explorer = explore_steps(steps, alt="Three pictures.", plays=True)
    assert explorer.first_state.count("<svg") == 1 and "Three." in explorer.first_state
    calm = Mounted(show(explorer))
    assert (calm.state["frame"], calm.view.locator("button").inner_text()) == (2, "Start again")
    page = show(explorer, reduced_motion="no-preference", clock=True)
    moving = Mounted(page)
    button, caption = moving.view.locator("button"), moving.view.locator(".course-explorer-caption")
    page.wait_for_function("document.querySelector('.course-explorer-play').textContent === 'Pause'")
    assert caption.get_attribute("aria-live") == "off" and moving.state["frame"] == 0
    page.clock.run_for(PAUSE)
    assert moving.state["frame"] == 1
    page.clock.run_for(10 * PAUSE)
    assert moving.state["frame"] == 2 and button.inner_text() == "Start again"
    assert caption.get_attribute("aria-live") == "polite"


def test_what_plays_by_itself_stops_where_the_reader_moves_it(show):
    steps = [(words, draw_height(height)) for height, words in ((1.0, "One."), (2.0, "Two."), (3.0, "Three."))]
    page = show(explore_steps(steps, alt="Three pictures.", plays=True), reduced_motion="no-preference", clock=True)
    moving = Mounted(page)
    page.wait_for_function("document.querySelector('.course-explorer-play').textContent === 'Pause'")
    page.locator("input[type=range]").press("ArrowRight")
    assert moving.state["frame"] == 1 and moving.view.locator("button").inner_text() == "Next"
    page.clock.run_for(10 * PAUSE)
    assert moving.state["frame"] == 1


def test_play_runs_to_the_end_and_pauses(show):
    """Nothing moves by itself; once played, the slider moves along."""
    frames = explore_frames(draw_bars, {"height": [1, 2, 3]}, alt="Bars.")
    page = show(frames, reduced_motion="no-preference", clock=True)
    explorer = Mounted(page)
    button = explorer.view.locator("button")
    assert button.inner_text() == "Play"
    # At one stroke: a busy machine may need longer for a click than a picture stands.
    named = "button => { button.click(); const name = button.textContent; button.click(); return name; }"
    assert button.evaluate(named) == "Pause"
    assert button.inner_text() == "Play" and explorer.state["frame"] == 1
    page.clock.run_for(900)
    assert explorer.state["frame"] == 1
    button.click()
    explorer.wait_for(frame=2)
    assert button.inner_text() == "Play"
    page.clock.run_for(900)
    assert explorer.state["frame"] == 2  # it does not begin again
    assert explorer.output("height") == "3"


def test_play_steps_where_motion_is_unwelcome(show):
    """One press, one frame."""
    explorer = Mounted(show(explore_frames(draw_bars, {"height": [1, 2, 3]}, alt="Bars."), clock=True))
    button = explorer.view.locator("button")
    assert button.inner_text() == "Next"
    button.click()
    explorer.page.clock.run_for(900)
    assert explorer.state["frame"] == 1


def test_a_picture_that_cannot_be_made_is_said(show):
    page = show(explore_attention(torch.randn(4, 4), alt="Random."))
    page.evaluate("() => (HTMLCanvasElement.prototype.toBlob = (take) => take(null)) && null")
    page.locator(".course-explorer-said:not(:empty)").wait_for()
    page.get_by_role("button", name="Save as PNG").click()
    page.get_by_text("This browser could not make the picture.").wait_for()
    assert page.errors == []
