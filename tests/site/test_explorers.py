"""Explorers as the site mounts them: in a real browser, from a strict server and from a folder."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from explorer_pages import Mounted, bundle, write_pages
from serving import serving
from visits import WIDTHS, run_axe

from attention_course.diagrams import Diagram
from attention_course.explore import explore_attention, explore_frames, explore_heads, explore_steps
from attention_course.explore.explorer import VIEWS

BUDGET = 40_000  # bytes of script and style, uncompressed
HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&amp; \u2028"]


@pytest.fixture(scope="module")
def show(browser, tmp_path_factory):
    """A function that opens a page of the given explorers; `page.errors` and `page.requests` fill as it lives."""
    contexts = []

    def show(*explorers, scheme="light", width="desktop", from_folder=False, **options):
        folder = tmp_path_factory.mktemp("explorers")
        write_pages(folder, explorers)
        options = {"reduced_motion": "reduce", **options}
        context = browser.new_context(color_scheme=scheme, viewport={"width": WIDTHS[width], "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.errors, page.requests = [], []
        page.on("console", lambda message: message.type in ("error", "warning") and page.errors.append(message.text))
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("dialog", lambda dialog: (page.errors.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("requestfailed", lambda request: page.errors.append(f"failed: {request.url}"))
        if from_folder:
            page.goto((folder / f"{scheme}.html").as_uri(), wait_until="load")
            return page
        server = serving(folder)
        origin = server.__enter__()
        page.on("close", lambda: server.__exit__(None, None, None))
        page.goto(f"{origin}/{scheme}.html", wait_until="load")
        return page

    yield show
    for context in contexts:
        context.close()


@pytest.fixture(autouse=True)
def close_figures():
    """Leave no figure open."""
    yield
    plt.close("all")


def draw_bars(height, width=1):
    """A figure for frames."""
    figure, ax = plt.subplots(figsize=(4, 2))
    ax.bar([0, 1], [height, width])
    return figure


def every_explorer() -> list:
    """One explorer of each kind, the attention explorer with all its controls."""
    generator = torch.Generator().manual_seed(0)
    words = ["the", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired"]
    scores = torch.randn(4, 10, 10, generator=generator)
    return [
        explore_attention(scores, words, gold=torch.eye(10) > 0, length=8, alt="Four heads on ten words."),
        explore_heads({1: scores[:1], 4: scores}, accuracy={1: 0.5, 4: 0.9}, tokens=words, alt="One head and four."),
        explore_frames(draw_bars, {"height": [1, 2, 3], "width": [1.5, 2.5]}, alt="Two bars."),
        explore_steps([("First.", lambda: draw_bars(1)), ("Then.", lambda: draw_bars(2))], alt="Two steps."),
    ]


@pytest.fixture(scope="module")
def pages(show):
    """A function that opens the page of all explorers, once in each mode."""
    opened = {}

    def pages(scheme: str, width: str):
        if (scheme, width) not in opened:
            opened[scheme, width] = show(*every_explorer(), scheme=scheme, width=width)
        return opened[scheme, width]

    return pages


# --- numbers -----------------------------------------------------------------------------------


def may_attend(mask: str, n_queries: int, n_keys: int, length: int) -> torch.Tensor:
    """The four masks, aligned to the bottom right."""
    distance = torch.arange(n_keys - n_queries, n_keys)[:, None] - torch.arange(n_keys)
    return {
        "none": torch.ones_like(distance) > 0,
        "causal": distance >= 0,
        "padding": (torch.arange(n_keys) < length).expand(n_queries, n_keys),
        "sliding window": distance.abs() <= 2,
    }[mask]


def pytorch_weights(scores: torch.Tensor, temperature: float, mask: str, length: int) -> np.ndarray:
    """What the view must show: a query that may attend to nothing gets zeros."""
    allowed = may_attend(mask, *scores.shape[1:], length)
    weights = (scores.double() / temperature).masked_fill(~allowed, float("-inf")).softmax(-1)
    return weights.nan_to_num(0.0).numpy()


@pytest.mark.parametrize(
    ("shape", "length", "dtype", "spread"),
    [
        ((3, 5, 5), 3, torch.float32, 1.0),
        ((1, 1, 7), 7, torch.float32, 3.0),
        ((2, 7, 4), 0, torch.float64, 10.0),  # more queries than keys: causal leaves rows empty, padding all of them
        ((2, 3, 9), 1, torch.float64, 100.0),
        ((8, 16, 16), 9, torch.float16, 5.0),
    ],
)
def test_weights_equal_pytorch(show, shape, length, dtype, spread):
    """At the ends of the temperature, in between, under every mask, for all heads and for the last one."""
    scores = (torch.randn(shape, generator=torch.Generator().manual_seed(1)) * spread).to(dtype)
    page = show(explore_attention(scores, keys=range(shape[2]), tokens=range(shape[1]), length=length, alt="Random."))
    explorer = Mounted(page)
    seen = set()
    for mask in ("none", "causal", "padding", "sliding window"):
        explorer.control("mask").select_option(label=mask)
        for keys in (["Home"], ["PageUp", "PageUp"], ["End"], ["ArrowLeft"]):
            explorer.press("temperature", *keys)
            state = explorer.state
            seen.add(state["temperature"])
            assert state["mask"] == mask
            expected = pytorch_weights(scores, state["temperature"], mask, length)
            np.testing.assert_allclose(explorer.weights, expected, rtol=0, atol=1e-6)
    assert len(seen) == 4 and {0.05, 10} < seen
    if shape[0] > 1:
        explorer.control("head").select_option(label=f"head {shape[0]}")
        np.testing.assert_allclose(explorer.weights, expected[-1:], rtol=0, atol=1e-6)
    assert page.errors == []


def test_a_query_that_may_attend_to_nothing_says_so(show):
    """Its weights are 0, not NaN, and the sentence tells why."""
    explorer = Mounted(show(explore_attention(torch.zeros(3, 2), keys="ab", mask="causal", tokens="xyz", alt="Zeros.")))
    assert explorer.weights.tolist() == [[[0, 0], [1, 0], [0.5, 0.5]]]
    assert explorer.row() == [0, 0]
    explorer.page.get_by_text("“x” may attend to nothing: every weight is 0.").wait_for()


# --- controls ----------------------------------------------------------------------------------


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


def test_heads_side_by_side_or_one(show):
    """The choice changes how many maps there are, and each map's name."""
    explorer = Mounted(show(explore_attention(torch.randn(3, 4, 4), alt="Random.")))
    titles = explorer.view.locator("figcaption")
    assert titles.all_inner_texts() == ["head 1", "head 2", "head 3"]
    assert explorer.state["head"] == "all"
    explorer.control("head").press("ArrowDown")
    explorer.control("head").press("ArrowDown")
    assert titles.all_inner_texts() == ["head 2"]
    assert explorer.state["head"] == 2 and explorer.weights.shape == (1, 4, 4)


def test_gold_comes_and_goes(show):
    """As frames on the map and on the numbers, and in words."""
    explorer = Mounted(show(explore_attention(torch.randn(4, 4), gold=torch.eye(4) > 0, alt="Random.")))
    framed = explorer.pixels()
    assert explorer.view.locator("li.course-explorer-gold").count() == 1
    assert "gold" in explorer.view.locator(".course-explorer-legend").inner_text()
    explorer.control("gold").press("Space")
    assert explorer.state["gold"] is False
    assert explorer.pixels() != framed
    assert explorer.view.locator("li.course-explorer-gold").count() == 0
    assert "gold" not in explorer.view.locator(".course-explorer-legend").inner_text()


def test_models_by_their_number_of_heads(show):
    """From the first to the last by keyboard, with each one's accuracy."""
    scores = {n: torch.randn(n, 5, 5) for n in (1, 2, 4, 8)}
    accuracy = {1: 0.25, 2: 0.5, 4: 0.75, 8: 1.0}
    explorer = Mounted(show(explore_heads(scores, accuracy=accuracy, mask="causal", alt="Random models.")))
    for keys, n in ((["Home"], 1), (["ArrowRight"], 2), (["End"], 8)):
        explorer.press("heads", *keys)
        assert explorer.output("heads") == str(n)
        assert explorer.state["heads"] == n
        assert f"accuracy {accuracy[n]:.1%}" in explorer.view.inner_text()
        assert explorer.view.locator(".course-explorer-maps canvas").count() == n
        np.testing.assert_allclose(explorer.weights, pytorch_weights(scores[n], 1.0, "causal", 5), rtol=0, atol=1e-6)


def shown_picture(explorer: Mounted) -> str:
    """The address of the frame on show, once it has arrived."""
    image = explorer.view.locator("img")
    image.evaluate("image => image.decode()")
    assert image.evaluate("image => image.naturalWidth") > 0
    return image.get_attribute("src")


def test_frames_follow_two_sliders(show):
    """Every corner of the grid is a picture of its own, and the state says which."""
    explorer = Mounted(show(explore_frames(draw_bars, {"height": [1, 2, 3], "width": [1.5, 2.5]}, alt="Two bars.")))
    seen = {}
    for height, height_key in ((1, "Home"), (3, "End")):
        for width, width_key in ((1.5, "Home"), (2.5, "End")):
            explorer.press("height", height_key)
            explorer.press("width", width_key)
            assert (explorer.output("height"), explorer.output("width")) == (str(height), str(width))
            state = explorer.state
            assert (state["height"], state["width"]) == (str(height), str(width))
            seen[state["frame"]] = shown_picture(explorer)
    assert sorted(seen) == [0, 1, 4, 5]
    assert len(set(seen.values())) == 4
    assert explorer.page.errors == []


def test_steps_go_on_by_slider_and_by_button(show):
    """Each step has its caption; after the last the button starts again."""
    pairs = [(f"Step {name}.", lambda n=n: draw_bars(n)) for n, name in enumerate(("one", "two", "three"), 1)]
    explorer = Mounted(show(explore_steps(pairs, alt="Three steps.")))
    button = explorer.view.locator("button")
    captions = []
    for label in ("Next", "Next", "Start again"):
        captions.append(explorer.view.locator(".course-explorer-caption").inner_text())
        assert button.inner_text() == label
        assert captions[-1].split(": ")[1] in explorer.view.locator("img").get_attribute("alt")
        button.click()
    assert captions == ["1 of 3: Step one.", "2 of 3: Step two.", "3 of 3: Step three."]
    assert explorer.output("step") == "1"
    explorer.press("step", "End")
    assert explorer.view.locator(".course-explorer-caption").inner_text() == "3 of 3: Step three."


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


def test_play_runs_to_the_end_and_pauses(show):
    """Nothing moves by itself; once played, the slider moves along."""
    frames = explore_frames(draw_bars, {"height": [1, 2, 3]}, alt="Bars.")
    page = show(frames, reduced_motion="no-preference")
    explorer = Mounted(page)
    button = explorer.view.locator("button")
    assert button.inner_text() == "Play"
    button.click()
    assert button.inner_text() == "Pause"
    button.click()
    assert button.inner_text() == "Play" and explorer.state["frame"] == 1
    page.wait_for_timeout(900)
    assert explorer.state["frame"] == 1
    button.click()
    page.wait_for_function("document.querySelector('.course-explorer-view').explorer.state.frame === 2")
    explorer.view.get_by_text("Play").wait_for()
    assert explorer.output("height") == "3"


def test_play_steps_where_motion_is_unwelcome(show):
    """One press, one frame."""
    explorer = Mounted(show(explore_frames(draw_bars, {"height": [1, 2, 3]}, alt="Bars.")))
    button = explorer.view.locator("button")
    assert button.inner_text() == "Next"
    button.click()
    explorer.page.wait_for_timeout(900)
    assert explorer.state["frame"] == 1


# --- reading it --------------------------------------------------------------------------------


def test_rows_light_up_for_mouse_keyboard_and_finger(show):
    """The weights of the query under the pointer, under focus or under a finger stand there as numbers."""
    scores = torch.randn(1, 5, 6)
    expected = pytorch_weights(scores, 1.0, "none", 6)[0]
    explorer = Mounted(show(explore_attention(scores, tokens="vwxyz", keys="abcdef", alt="Random."), has_touch=True))
    tokens = explorer.view.locator(".course-explorer-queries button")
    canvas = explorer.view.locator("canvas").first
    height = canvas.bounding_box()["height"]

    def row_is(query):
        assert explorer.state["query"] == query
        assert tokens.nth(query).get_attribute("aria-pressed") == "true"
        assert explorer.row() == pytest.approx(expected[query].tolist(), abs=5e-4)

    row_is(0)
    tokens.nth(2).hover()
    row_is(2)
    tokens.nth(2).focus()
    tokens.nth(2).press("ArrowDown")
    row_is(3)
    tokens.nth(3).press("End")
    row_is(4)
    tokens.nth(4).press("Home")
    row_is(0)
    canvas.hover(position={"x": 150, "y": height - 10})
    row_is(4)
    canvas.tap(position={"x": 150, "y": height / 2})
    assert explorer.state["query"] in (1, 2)
    best = "abcdef"[int(expected[explorer.state["query"]].argmax())]
    explorer.page.get_by_text(f"attends to “{best}”").wait_for()


def test_the_first_row_may_be_chosen(show):
    """Its weights are written out, and its word is the one that Tab leads to."""
    scores = torch.randn(1, 5, 6)
    explorer = Mounted(show(explore_attention(scores, tokens="vwxyz", keys="abcdef", query=3, alt="Random.")))
    assert explorer.state["query"] == 3
    assert explorer.row() == pytest.approx(pytorch_weights(scores, 1.0, "none", 6)[0, 3].tolist(), abs=5e-4)
    explorer.control("mask").focus()
    explorer.page.keyboard.press("Tab")
    assert explorer.page.evaluate("document.activeElement.textContent") == "y"


def test_one_tab_stop_for_all_tokens(show):
    """Sixty-four tokens are not sixty-four stops: from the mask to the tokens and out again."""
    explorer = Mounted(show(explore_attention(torch.randn(64, 64), alt="Random.")))
    explorer.control("mask").focus()
    explorer.page.keyboard.press("Tab")
    assert explorer.page.evaluate("document.activeElement.textContent") == "1"
    explorer.page.keyboard.press("Tab")
    assert explorer.page.evaluate("document.activeElement.closest('.course-explorer-queries')") is None


def test_tokens_are_text(show):
    """Markup in a token is shown as it was written, and nothing of it runs."""
    tokens = [token.replace("\u2028", "-") for token in HOSTILE]
    page = show(explore_attention(torch.randn(3, 3), tokens, alt=HOSTILE[1]))
    explorer = Mounted(page)
    assert explorer.view.locator(".course-explorer-queries button").all_inner_texts() == tokens
    assert explorer.view.locator(".course-explorer-row span").all_inner_texts() == tokens
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2  # ours, and the data
    assert page.errors == []


def test_the_page_changing_its_mode_is_followed(show):
    """A map drawn for light is drawn again when the reader turns the page dark."""
    explorer = Mounted(show(explore_attention(torch.randn(4, 4), alt="Random.")))
    light = explorer.pixels()
    explorer.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert explorer.pixels() != light


def test_ramp_is_told_apart_without_colour(show, scheme):
    """From weight 0 to 1 the luminance goes one way only, so the map reads in grey too."""
    explorer = Mounted(
        show(explore_attention([[np.log(w) for w in (0.01, 0.05, 0.14, 0.3, 0.5)]], alt="Growing."), scheme=scheme)
    )
    middles = explorer.view.locator("canvas").first.evaluate(
        """canvas => {
          const pen = canvas.getContext("2d");
          const cell = (canvas.width - 10) / 5;
          return [0, 1, 2, 3, 4].map((i) => {
            const [r, g, b] = pen.getImageData(canvas.width - 2 - (4.75 - i) * cell, canvas.height - 12, 1, 1).data;
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          });
        }"""
    )
    steps = np.diff(middles) * (-1 if scheme == "light" else 1)
    assert (steps > 4).all()


# --- every page --------------------------------------------------------------------------------


def test_nothing_is_refused_under_a_strict_policy(pages, scheme, width):
    """No error, no violation of the policy, no request to anyone else: and all four kinds are there."""
    page = pages(scheme, width)
    assert page.errors == []
    origin = page.url.rsplit("/", 1)[0]
    assert [url for url in page.requests if not url.startswith(origin)] == []
    assert page.locator(".course-explorer-view").count() == 4


def test_accessible(pages, scheme, width):
    """Axe finds no violation."""
    assert run_axe(pages(scheme, width)) == []


def test_no_sideways_scroll(pages, scheme, width):
    """Everything fits, on a phone too."""
    page = pages(scheme, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    wide = page.evaluate(
        """[...document.querySelectorAll(".course-explorer *")]
           .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 100))"""
    )
    assert wide == []


def test_long_tokens_do_not_push_a_phone_sideways(show):
    """They are cut short, and stay readable to a screen reader."""
    tokens = ["short", "a token of a length that no tokenizer would ever make of a word", "ok"]
    page = show(explore_attention(torch.randn(3, 3), tokens, alt="Random."), width="phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]
    assert Mounted(page).view.get_by_role("button", name=tokens[1]).count() == 1


def test_controls_are_large_enough_for_a_finger(pages):
    """At least 24 CSS pixels in each direction, as WCAG 2.2 asks."""
    boxes = pages("light", "phone").locator(".course-explorer :is(select, input[type=range], .course-explorer-play)")
    for box in boxes.all():
        size = box.bounding_box()
        assert size["width"] >= 24 and size["height"] >= 24


def test_works_from_a_folder(show):
    """Opened from disk, with no server at all."""
    page = show(*every_explorer(), from_folder=True)
    assert page.errors == []
    assert page.locator(".course-explorer-view").count() == 4
    explorer = Mounted(page)
    explorer.press("temperature", "End")
    assert explorer.state["temperature"] == 10
    frames = Mounted(page, 2)
    first = shown_picture(frames)
    frames.press("height", "End")
    assert shown_picture(frames) != first


def test_without_scripts_the_first_state_is_there(show, scheme):
    """A map, maps, a picture and a captioned picture; and no control that would do nothing."""
    page = show(*every_explorer(), java_script_enabled=False, scheme=scheme)
    firsts = page.locator(".course-explorer-first")
    assert [first.locator("svg, img").is_visible() for first in firsts.all()] == [True] * 4
    names = [first.locator("svg, img").get_attribute("aria-label") for first in firsts.all()[:2]]
    assert names == ["Four heads on ten words.", "One head and four."]
    assert firsts.nth(3).locator("p").inner_text() == "First."
    assert page.locator("input, select, button").count() == 0


def test_prints_the_state_without_the_buttons(show):
    """On paper a play button is no use, and no explorer is torn in two."""
    page = show(*every_explorer())
    page.emulate_media(media="print")
    assert page.locator(".course-explorer-play:visible").count() == 0
    assert page.locator(".course-explorer-view canvas:visible").count() > 0
    kept = page.locator(".course-explorer").evaluate_all(
        "boxes => boxes.map((box) => getComputedStyle(box).breakInside)"
    )
    assert kept == ["avoid"] * 4


def test_script_and_views_are_small():
    """All that a page with explorers loads for them, uncompressed."""
    assert len(bundle().encode()) + (VIEWS / "explorers.css").stat().st_size < BUDGET


def test_no_eval_and_no_module():
    """What a strict policy or a folder would refuse is not in the script."""
    assert not [
        word for word in ("eval(", "new Function", "import(", "import ", "export ", "innerHTML") if word in bundle()
    ]
