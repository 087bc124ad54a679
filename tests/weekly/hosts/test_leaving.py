"""A notebook that has run asks before it is left; the second try to open it must not be stopped by that."""

import lab

ASKS = "data:text/html,<input><script>addEventListener('beforeunload', event => event.preventDefault())</script>"


def test_a_page_with_unsaved_changes_is_left_without_an_alarm(browser):
    page = browser.new_page()
    lab.watch(page)
    page.goto(ASKS)
    page.locator("input").press("x")  # a page that nobody touched may not ask
    page.goto("about:blank")
    assert page.url == "about:blank" and page.alarms == []
    page.close()


def test_another_dialog_is_an_alarm(browser):
    page = browser.new_page()
    lab.watch(page)
    page.evaluate("alert('seen')")
    assert page.alarms == ["dialog: seen"]
    page.close()
