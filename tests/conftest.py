"""What tests of several folders share."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def chromium_path() -> str:
    """The browser to test with: $CHROMIUM, else the first one on the path."""
    found = [os.environ.get("CHROMIUM"), *map(shutil.which, CHROMIUM_NAMES)]
    path = next(filter(None, found), None)
    if path is None:
        pytest.fail("no Chromium found: install one (Debian: apt install chromium) or set CHROMIUM", pytrace=False)
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """One Chromium for the whole run."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_ARGS)
        yield chromium
        chromium.close()


def pytest_collection_modifyitems(items: list) -> None:
    """Keep what is opened once, a page of the site or a JupyterLab, with one of the workers."""
    for item in items:
        params = getattr(item, "callspec", None) and item.callspec.params
        shared = params and (params.get("page_name") or params.get("page"))
        if shared:
            item.add_marker(pytest.mark.xdist_group(shared))
