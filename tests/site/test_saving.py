"""Explorers saved as files: each works from a folder with the network off, and the picture it starts with is an SVG."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from explorer_pages import Mounted, watch
from live_models import until

from attention_course.course import checkpoints
from attention_course.diagrams import Diagram
from attention_course.explore import explore_attention, explore_frames, explore_heads, explore_model, explore_steps

pytestmark = pytest.mark.usefixtures("close_figures")
HOSTILE = "</script><script>alert(1)</script> & <b>"
LIVE = "!!document.querySelector('.course-live')?.explorer?.sight"
SCORES = torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(0))


def draw_wave(height: float):
    """A picture that is smaller as SVG than as pixels: one smooth line on a large page."""
    figure, axes = plt.subplots(figsize=(8, 8))
    axes.plot(height * np.sin(np.linspace(0, 6, 100)))
    axes.set(ylim=(-4, 4))
    axes.axis("off")
    return figure


def draw_number(number: int):
    picture = Diagram(f"A number. It is {number}.", height=60)
    picture.text(10, 20, str(number))
    return picture


MAKE = {
    "attention": lambda: explore_attention(SCORES, list("abcd") + [HOSTILE], alt=HOSTILE),
    "heads": lambda: explore_heads({1: SCORES[:1], 2: SCORES}, accuracy={1: 0.5, 2: 1}, alt="Two models."),
    "frames": lambda: explore_frames(draw_wave, {"height": [1, 2, 3]}, alt="Waves."),
    "steps": lambda: explore_steps([("One.", draw_number(1)), ("Two.", draw_number(2))], alt="Two numbers."),
    "model": lambda: explore_model(*checkpoints.load_character_model(), "The for ", alt="A model."),
}


@pytest.fixture
def opened(browser, tmp_path):
    """A function that saves an explorer and opens the file, with the network off; `page.errors` fills as it lives."""
    context = browser.new_context(viewport={"width": 900, "height": 900}, reduced_motion="reduce", offline=True)

    def opened(explorer):
        folder = tmp_path / "nothing else"
        folder.mkdir()
        explorer.save(folder / "saved.html")
        page = context.new_page()
        page.set_default_timeout(10_000)
        watch(page)
        page.goto((folder / "saved.html").as_uri(), wait_until="load")
        page.mouse.move(1, 1)
        return page

    yield opened
    context.close()


def shown(mounted: Mounted) -> str:
    """What the view says and draws."""
    return mounted.view.evaluate(
        """view => JSON.stringify(view.explorer.state) + view.innerHTML
           + [...view.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL()).join()"""
    )


@pytest.mark.parametrize("kind", MAKE)
def test_a_saved_explorer_works_from_a_folder_without_a_network(opened, kind):
    """It is mounted, asks for nothing, and what is moved changes what is shown."""
    page = opened(MAKE[kind]())
    mounted = Mounted(page)
    mounted.view.wait_for()
    if kind == "model":
        until(page, LIVE)
        page.locator(".course-live textarea").fill("class Point:")
        until(page, "document.querySelector('.course-live').explorer.sight.symbols.length === 12")
    else:
        before = shown(mounted)
        page.locator("input[type=range]").first.press("End")
        assert shown(mounted) != before
    assert page.locator(".course-explorer-first").count() == 0
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert page.errors == []


def test_a_saved_page_is_as_dark_as_the_readers_system(opened):
    """Its ground and its maps are; on paper it is light."""
    page = opened(MAKE["attention"]())
    mounted = Mounted(page)

    def ground():
        return page.evaluate("getComputedStyle(document.querySelector('.course-explorer')).backgroundColor")

    light, white = mounted.pixels(), ground()
    page.emulate_media(color_scheme="dark")
    until(page, "document.documentElement.dataset.theme === 'dark'")
    assert (white, ground()) == ("rgb(255, 255, 255)", "rgb(20, 24, 28)")
    assert mounted.pixels() != light
    page.emulate_media(media="print", color_scheme="dark")
    until(page, "document.documentElement.dataset.theme === 'light'")
    assert (mounted.pixels(), ground()) == (light, white)


@pytest.mark.parametrize("kind", MAKE)
def test_the_picture_it_starts_with_is_drawn_by_a_browser(browser, tmp_path, kind):
    """As a picture of its own, which an image element takes: it has a size, and something on it."""
    MAKE[kind]().save(tmp_path / "first.svg")
    (tmp_path / "page.html").write_text('<!doctype html><img src="first.svg" alt="">')
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.locator("img").evaluate("image => image.decode()")
    assert page.locator("img").evaluate("image => image.naturalWidth * image.naturalHeight") > 1000
    colours = page.screenshot()
    page.goto("about:blank")
    assert colours != page.screenshot()
    page.close()


LONG = ["a", "uninterruptible", "electroencephalography", "an://address.that/is/too/long", "日本語の単語", "MOUNTAINS"]


@pytest.mark.parametrize("shape", [(6, 6), (4, 6, 6), (2, 2, 2, 2), (12, 12, 3, 3)])
def test_no_words_of_a_saved_picture_are_clipped(browser, tmp_path, shape):
    """Labels, names of layers and heads and the legend lie inside, and of a label too long the first letters stand."""
    explore_attention(torch.zeros(shape), LONG[: shape[-1]], alt="Maps.").save(tmp_path / "first.svg")
    page = browser.new_page()
    page.goto((tmp_path / "first.svg").as_uri())
    texts, clipped = page.evaluate(
        """() => {
          const whole = document.documentElement.getBoundingClientRect();
          const texts = [...document.querySelectorAll("text")];
          const clipped = texts.filter((text) => {
            const { left, top, right, bottom } = text.getBoundingClientRect();
            return left < whole.left || top < whole.top || right > whole.right || bottom > whole.bottom;
          });
          return [texts, clipped].map((some) => some.map((text) => text.textContent));
        }"""
    )
    assert clipped == []
    assert ("an://address.that/is/to…" in texts) == (len(shape) == 2)
    assert {"rows are queries, columns are keys", "weight 0"} < set(texts)
    page.close()


def test_a_picture_of_pixels_is_no_svg(tmp_path):
    def draw_noise(seed):
        figure, axes = plt.subplots(figsize=(2, 2))
        axes.scatter(*np.random.default_rng(seed).normal(size=(2, 10_000)))
        return figure

    noise = explore_frames(draw_noise, {"seed": [0, 1]}, alt="Noise.")
    with pytest.raises(ValueError, match="made of pixels, not with an SVG: save it as .html"):
        noise.save(tmp_path / "noise.svg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["attention.png", ".html"])
def test_another_kind_of_file_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"path must end in \.html or \.svg, got .*" + name.replace(".", r"\.")):
        MAKE["attention"]().save(tmp_path / name)
    assert not list(tmp_path.iterdir())
