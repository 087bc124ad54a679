"""Explorers on pages of their own, as a reader moves them."""

from pathlib import Path

import numpy as np
import pytest
from bare_page import write_pages
from built_site import WIDTHS
from PIL import Image
from serving import STRICT, serving


def pass_frames(page, count: int = 3) -> None:
    """Until the page has drawn some frames: what it does at the next one is done."""
    page.evaluate("async (count) => { while (count--) await new Promise(requestAnimationFrame); }", count)


def keep_seen(page, expression: str) -> None:
    """Have the page look at an expression in every frame, for `kept`."""
    page.evaluate(f"""() => {{
      globalThis.seenInFrames = new Set();
      const look = () => {{ seenInFrames.add({expression}); requestAnimationFrame(look); }};
      look();
    }}""")


def kept(page) -> list:
    """Every value that the expression has had since, in their order."""
    return page.evaluate("[...seenInFrames]")


def watch(page) -> None:
    """Have `page.errors` and `page.requests` fill as the page lives."""
    page.errors, page.requests = [], []
    page.on("console", lambda message: message.type in ("error", "warning") and page.errors.append(message.text))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("dialog", lambda dialog: (page.errors.append("a dialog"), dialog.dismiss()))
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("requestfailed", lambda request: page.errors.append(f"failed: {request.url}"))


@pytest.fixture(scope="module")
def show(browser, tmp_path_factory):
    """A function that opens a page of the given explorers; `page.errors` and `page.requests` fill as it lives.

    Its reader moves the mouse once, unless `moved` is false. With `clock` its timers go off at once in
    `page.clock.run_for`, and otherwise in their time.
    """
    contexts = []

    def show(
        *explorers, scheme="light", width="desktop", policy=STRICT, from_folder=False, moved=True, clock=False, **others
    ):
        folder = tmp_path_factory.mktemp("explorers")
        write_pages(folder, explorers)
        options = {"reduced_motion": "reduce", "viewport": {"width": WIDTHS[width], "height": 900}, **others}
        context = browser.new_context(color_scheme=scheme, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        watch(page)
        if clock:
            page.clock.install()
        if from_folder:
            address = (folder / f"{scheme}.html").as_uri()
        else:
            server = serving(folder, policy)
            address = f"{server.__enter__()}/{scheme}.html"
            page.on("close", lambda: server.__exit__(None, None, None))
        page.goto(address, wait_until="load")
        if moved:
            page.mouse.move(1, 1)
        return page

    yield show
    for context in contexts:
        context.close()


def save_picture(page, scheme: str, folder: Path) -> tuple[str, int]:
    """Save the picture of the page's live model, in the page's colours and with words in it: its name and height."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as picture").click()
    download.value.save_as(folder / "picture.png")
    picture = np.asarray(Image.open(folder / "picture.png").convert("RGB")).astype(int)
    assert picture.shape[1] == 680
    ground = picture[2, 2]
    assert (ground.mean() > 200) == (scheme == "light")
    assert ((abs(picture - ground).max(-1) > 100).mean(0) > 0)[20:300].mean() > 0.5  # words stand there
    return download.value.suggested_filename, picture.shape[0]


class Mounted:
    """One explorer of a page, moved as a reader does."""

    def __init__(self, page, index: int = 0):
        self.page = page
        self.box = page.locator(".course-explorer").nth(index)
        self.view = self.box.locator(".course-explorer-view")

    @property
    def state(self) -> dict:
        """What the view says it shows."""
        return self.view.evaluate("view => view.explorer.state")

    def wait_for(self, **state):
        """The state, once it holds what is asked for."""
        for _ in range(200):
            seen = self.state
            if all(seen[name] == value for name, value in state.items()):
                return seen
            self.page.wait_for_timeout(25)
        raise AssertionError(f"never {state}: {self.state}")

    @property
    def weights(self) -> np.ndarray:
        """The weights on show: `(heads, n_queries, n_keys)`."""
        return np.array(self.view.evaluate("view => view.explorer.weights"))

    def control(self, name: str):
        return self.box.locator(f'[data-control="{name}"]')

    def press(self, name: str, *keys: str) -> None:
        for key in keys:
            self.control(name).press(key)

    def output(self, name: str) -> str:
        """The value that is written beside a slider."""
        control = self.box.locator(f'.course-explorer-control:has([data-control="{name}"])')
        return control.locator("output").inner_text()

    def row(self) -> list[float]:
        """The weights of the selected query as a reader sees them."""
        return [float(text.split()[-1]) for text in self.view.locator(".course-explorer-row li b").all_inner_texts()]

    def pixels(self, index: int = 0) -> int:
        """A checksum of what one of the canvases shows."""
        return (
            self.view.locator("canvas")
            .nth(index)
            .evaluate(
                """canvas => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
               .reduce((sum, value) => (sum * 31 + value) % 1000000007, 7)"""
            )
        )
