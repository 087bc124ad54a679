"""Draws README's picture: the front page's live model as a browser shows it, in the light and in the dark.

make picture    after `make site`
"""

import io
import os
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

PAGE = Path("_build/html/intro.html")
MARGIN = 16  # of the page around it
PICTURE = "docs/live_model_{}.webp"


def draw(browser, scheme):
    """The live model, once it has read its text, down to its average surprise."""
    page = browser.new_page(color_scheme=scheme, viewport={"width": 720, "height": 1200}, device_scale_factor=2)
    page.goto(PAGE.resolve().as_uri())
    view = page.locator(".course-live").first
    cost = view.locator(".course-live-cost:not(:empty)").first
    page.mouse.move(100, 100)  # the model loads once a reader moves something
    cost.wait_for()
    above, below = view.bounding_box(), cost.bounding_box()
    size = {"width": above["width"] + 2 * MARGIN, "height": below["y"] + below["height"] - above["y"] + 2 * MARGIN}
    clip = {"x": above["x"] - MARGIN, "y": above["y"] - MARGIN, **size}
    taken = Image.open(io.BytesIO(page.screenshot(clip=clip, full_page=True)))
    taken.save(PICTURE.format(scheme), quality=80, method=6)
    page.close()


if __name__ == "__main__":
    if not PAGE.exists():
        raise SystemExit(f"{PAGE} is not there: run `make site` first")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"])
        for scheme in ("light", "dark"):
            draw(browser, scheme)
        browser.close()
    print("drawn:", PICTURE.format("*"))
