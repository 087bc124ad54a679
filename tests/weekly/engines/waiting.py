"""Waiting for what a page comes to show; WebKit's driver loses an answer or a click now and then."""

import time

from selenium.common.exceptions import WebDriverException

PATIENCE = 20  # seconds
LOST = 5  # seconds after which a click that did nothing is taken for one that never reached the page


def wait_for(engine, expression: str) -> None:
    """Until an expression is true in the page."""
    assert comes_true(engine, expression, PATIENCE), f"never {expression}"


def click_until(engine, selector: str, index: int, expression: str) -> None:
    """Click one of the elements that a selector finds, once more if nothing came of it: for what a click leaves so."""
    engine.click(selector, index)
    if not comes_true(engine, expression, LOST):
        engine.click(selector, index)
        wait_for(engine, expression)


def comes_true(engine, expression: str, patience: float) -> bool:
    """Whether an expression is true in the page before patience, in seconds, ends."""
    end = time.monotonic() + patience
    while not holds(engine, expression):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def holds(engine, expression: str) -> bool:
    """Whether an expression is true in the page, as far as is known."""
    try:
        return engine.evaluate(expression)
    except WebDriverException as error:
        if "Could not parse script result" not in str(error):
            raise
        return False
