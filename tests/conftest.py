"""What tests of several folders share."""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("tools", "experiments")]

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The first two are pages of Chromium's own, for the address bar: it makes both for each page that is opened, and they
# take longer than a page of the course. This list takes the place of Playwright's own, which the others are.
WITHOUT = [
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "TcpPortRandomizationWin"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
]
CHROMIUM_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
CHROMIUM_ARGS.append(f"--disable-features={','.join(WITHOUT)}")


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


@pytest.fixture
def close_figures() -> Iterator[None]:
    """Leave no figure open."""
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """With `--dist=loadgroup`, tests of one engine, page or JupyterLab, which is opened once, stay with one worker.

    So do the other tests of a file, whose small book is built once.

    (pytest-xdist 3.8 does this by marks that it writes where pytest 9 no longer reads.)
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class TogetherScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            shared = re.search(r"Firefox|WebKit|[\w./]+\.html|JupyterLab \d", nodeid.partition("[")[2])
            return shared[0] if shared else nodeid.partition("::")[0]

    return TogetherScheduling(config, log)
