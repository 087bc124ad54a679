"""Lines of code may be broken between names, and lose nothing by it."""

import sys

import pytest
from bs4 import BeautifulSoup
from pygments import highlight
from pygments.lexers import PythonLexer
from visits import ROOT

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
