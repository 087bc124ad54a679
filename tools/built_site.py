"""The built site: its pages, and the screens on which tests and measurements look at them."""

from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
SITE = ROOT / "_build" / "html"
MOVED = yaml.safe_load((ROOT / "_moved.yml").read_text(encoding="utf-8"))

WIDTHS = {"desktop": 1280, "phone": 390}
HEIGHTS = {"desktop": 900, "phone": 844}


@cache
def page_names() -> list[str]:
    """Every page of the built site, relative to its root; `no site` where it is not built.

    The front door, index.html, only leads to the first page, and an old address to the new one. 404.html is for a host.
    """
    no_pages = {"index.html", "404.html", *(f"{old}.html" for old in MOVED)}
    names = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
    return [name for name in names if not name.startswith("_") and name not in no_pages] or ["no site"]
