"""What a page loads before anything is pressed. `benchmarks/first_load.py` times it."""

import gzip
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from visits import SITE, modes_of

MOST = 500_000  # bytes
PICTURE = re.compile(r'<img\b[^>]*>|<svg\b[^>]*\b(?:class="course-diagram"|role="img")')
COMPRESSED = {".html", ".css", ".js", ".svg"}  # by a web server, as it sends them


@cache
def sent(path: Path) -> int:
    """The bytes of a file on its way."""
    content = path.read_bytes()
    return len(gzip.compress(content, compresslevel=6)) if path.suffix in COMPRESSED else len(content)


def weigh(addresses: list[str]) -> dict[str, int]:
    """The bytes of each file, heaviest first."""
    paths = {unquote(urlsplit(address).path).lstrip("/") for address in addresses if address.startswith("http")}
    return dict(sorted(((path, sent(SITE / path)) for path in paths), key=lambda item: -item[1]))


def test_a_page_is_light(visit, page_name):
    """On a slow network, 500 kB take two and a half seconds."""
    weights = weigh(visit(page_name, *modes_of(page_name)[-1]).asked_for)
    assert page_name in weights
    assert sum(weights.values()) <= MOST, weights


def test_an_image_is_asked_for_first_where_it_is_the_first_picture():
    leads = []
    for file in (SITE / "chapters").glob("*.html"):
        _, _, article = file.read_text(encoding="utf-8").partition("<article")
        for place, picture in enumerate(PICTURE.findall(article)):
            if picture.startswith("<img"):
                high, lazy = 'fetchpriority="high"' in picture, 'loading="lazy"' in picture
                assert (high, lazy) == ((False, True) if place else (True, False)), file
                leads.append(place == 0)
    assert any(leads) and not all(leads)
