"""What goes through other people's HTML and styles can be turned off, when a pin moves and breaks it."""

import pytest
from small_book import build, make_book, read_page

PAGE = "# A page\n\n$a$, and\n\n```python\nprint('code')\n```\n"


@pytest.mark.weekly
@pytest.mark.parametrize("finishing", [True, False])
def test_the_site_builds_with_and_without_it(tmp_path, finishing):
    book = make_book(tmp_path, {"_toc.yml": "format: jb-book\nroot: page\n", "page.md": PAGE})
    config = (book / "_config.yml").read_text()
    switched = config.replace("  config:\n", f"  config:\n    course_finishing: {finishing}\n", 1)
    (book / "_config.yml").write_text(switched)
    result = build(book)
    assert result.returncode == 0, result.stdout + result.stderr
    page = read_page(book / "_build" / "html", "page")
    assert page.select_one(".highlight").get_text().strip() == "print('code')"
    styles = [link["href"] for link in page.select('link[rel="stylesheet"]')]
    assert any("site.css" in style for style in styles) == finishing
