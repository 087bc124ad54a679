"""Lines of code may be broken between names, and lose nothing by it."""

import sys

import pytest
from bs4 import BeautifulSoup
from built_site import ROOT
from pygments import highlight
from pygments.lexers import PythonLexer

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.finishing.code_lines import LinesFormatter  # noqa: E402


@pytest.mark.parametrize(
    "code",
    [
        "model = Model(|width, heads=|4)|.to(|course|.device)",
        "tokens[:, None] = {|'a.b(c': (|1.5, [|2])}",
        "def step(|self, x: int = 3) -> None:",
        "x = y == z  # as in torch.cat(x)",
    ],
)
def test_code_breaks_between_names(code):
    """Behind an opening bracket, behind the sign of an argument, before a dot; not in numbers, texts and comments."""
    html = BeautifulSoup(highlight(code.replace("|", ""), PythonLexer(), LinesFormatter()), "html.parser")
    assert html.get_text().rstrip("\n") == code.replace("|", "")
    for place in html("wbr"):
        place.replace_with("|")
    assert html.get_text().rstrip("\n") == code


def test_a_comment_behind_code_stands_above_it_on_a_phone(browser):
    """In line with the code that it speaks of; beside it where there is room."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    code = "if True:\n    scores = states @ query  # (n,): a dot product each\n"
    lines = highlight(code, PythonLexer(), LinesFormatter())
    style = (ROOT / "_static" / "course.css").read_text()
    page.set_content(f"<style>{style}</style><main class='bd-article'>{lines}</main>")
    corner = """element => {
      const letters = document.createRange();
      letters.selectNodeContents(element);
      const {x, y} = letters.getClientRects()[0];
      return [x, y];
    }"""
    word = page.locator(".commented .n").first
    (code_x, code_y), (x, y) = word.evaluate(corner), page.locator(".c1").evaluate(corner)
    assert y < code_y and abs(x - code_x) < 2
    page.set_viewport_size({"width": 1280, "height": 844})
    (code_x, code_y), (x, y) = word.evaluate(corner), page.locator(".c1").evaluate(corner)
    assert abs(y - code_y) < 2 and x > code_x
    page.close()
