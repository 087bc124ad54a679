"""What is wrong with a page: told from what a browser saw on it (`visit` in conftest.py), each fault under its name."""

import gzip
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from built_site import HEIGHTS, SITE
from lessons import FURTHER, LESSON_NAMES

MAX_DARK, MIN_LIGHT = 0.05, 0.8  # how light the ground of a page is
MOST_BYTES = 500_000  # before anything is pressed: on a slow network they take two and a half seconds
COMPRESSED = {".html", ".css", ".js", ".svg"}  # by a web server, as it sends them

# How far a reader with a phone scrolls until the exercises begin and until the first picture ends, in screens.
MOST_SCREENS = dict.fromkeys(LESSON_NAMES, 20) | dict.fromkeys(FURTHER, 30)
FIRST_PICTURE = 1.5


def find_faults(seen: dict, page_name: str, scheme: str, width: str, origin: str) -> dict:
    """Everything that is wrong, by name; nothing where all is well."""
    faults = {
        "logged, thrown or not arrived": seen["errors"],
        "asked of another host": [url for url in seen["requests"] if not url.startswith((origin, "data:"))],
        "found by axe": seen["violations"],
        "wider than the page": seen["overflow"],
        "ground of the other scheme": [] if is_lit(seen["background"], scheme) else [seen["background"]],
        "figures that do not suit the scheme": [one for one in seen["figures"] if not is_drawn_for(scheme, *one)],
        "squashed figures": seen["squashed"],
        "formulas that KaTeX did not draw": seen["unrendered_formulas"],
        "formulas without KaTeX's font": missing_font(seen),
        "explorers that are not mounted": seen["explorers"] - seen["mounted_explorers"],
        "diagrams that cannot be read": seen["diagram_faults"],
        "too heavy": too_heavy(seen["asked_for"], page_name),
    }
    # A formula named here is too long for a phone at 12 px: write it in `aligned` lines.
    faults |= {f"off the screen, {kind}": what for kind, what in seen["off_screen"].items()}
    if width == "phone" and page_name.startswith("chapters/"):
        faults |= wrong_on_a_phone(seen, page_name)
    return {name: what for name, what in faults.items() if what}


def is_lit(background: float, scheme: str) -> bool:
    """Whether a page is dark where the reader's system is, and light where it is not."""
    return background > MIN_LIGHT if scheme == "light" else background < MAX_DARK


def is_drawn_for(scheme: str, ground: float, contrast: float) -> bool:
    """Whether a figure's ground is that of the scheme, and its lines stand out from it."""
    return (ground > 0.5 if scheme == "light" else ground < 0.2) and contrast > 0.4


def missing_font(seen: dict) -> list[str]:
    """The fonts that were loaded, where there are formulas and none of the fonts is KaTeX's."""
    return seen["fonts"] if seen["formulas"] and not {"KaTeX_Main", "KaTeX_Math"} & set(seen["fonts"]) else []


@cache
def sent(path: Path) -> int:
    """The bytes of a file on its way."""
    content = path.read_bytes()
    return len(gzip.compress(content, compresslevel=6)) if path.suffix in COMPRESSED else len(content)


def too_heavy(addresses: list[str], page_name: str) -> dict[str, int]:
    """The bytes of each file, heaviest first, if it is too much (`experiments/first_load.py` times it)."""
    paths = {unquote(urlsplit(address).path).lstrip("/") for address in addresses if address.startswith("http")}
    assert page_name in paths
    weights = {path: sent(SITE / path) for path in sorted(paths, key=lambda path: -sent(SITE / path))}
    return weights if sum(weights.values()) > MOST_BYTES else {}


def wrong_on_a_phone(seen: dict, page_name: str) -> dict:
    """How a chapter's code wraps, and how far down the first picture and the exercises are."""
    name = Path(page_name).stem
    exercises, picture = (place and place / HEIGHTS["phone"] for place in seen["as_opened"].values())
    far = {
        "exercises": exercises is not None and exercises > MOST_SCREENS.get(name, float("inf")),
        "picture": name in LESSON_NAMES and (picture is None or picture > FIRST_PICTURE),
    }
    # A wrapped line goes on further in than it started.
    crooked = [line for line in seen["wrapped"] if abs(line[1]) > 1 or (line[0] <= 16 and line[2] <= line[0] * 7)]
    return {
        "too far down, in pixels": {what: seen["as_opened"][what] for what, is_far in far.items() if is_far},
        "boxes of code that scroll": seen["wide_code"],
        "lines that wrap badly": crooked if seen["wrapped"] else ["no line of this page is long enough to wrap"],
    }
