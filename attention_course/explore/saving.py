"""Explorers as files: a page that works from a folder with no network, or the picture that one starts with."""

import base64
import hashlib
import re
from html import escape

from attention_course.explore.bundle import LIVE, live_script, page_script, theme_script

SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
SVG_DATA = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)")
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
# Characters that HTML shows somehow, and for which XML, and so an SVG file, is refused as a whole.
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# The page loads nothing, and says so itself: what its pictures are made of is in it. Those that Python has drawn are
# dark on light, and are turned round in the dark.
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>:root {{ color-scheme: light dark; }}
[data-theme="dark"] img {{ filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen; }}
{style}</style>
</head>
<body>
{body}
{scripts}
</body>
</html>
"""


def make_page(view: str, body: str, style: str, alt: str) -> str:
    """One HTML file with an explorer, its style and its scripts.

    Args:
        view: The name of its view.
        body: Its HTML, data and first state.
        style: The view's stylesheet.
        alt: What it shows, in words: the page's title.
    """
    scripts = [theme_script(), *([live_script(view)] if view in LIVE else []), page_script()]
    hashes = " ".join(map(_hash, scripts))
    return PAGE.format(
        policy=f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:",
        title=escape(alt),
        style=style,
        body=body,
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def _hash(script: str) -> str:
    """How a policy names a script that it allows."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def find_svg(first_state: str) -> str:
    """The picture that an explorer starts with, as an SVG file.

    Control characters of tokens or of its description are shown as replaced.

    Raises:
        ValueError: If it is made of pixels.
    """
    drawn, data = SVG.search(first_state), SVG_DATA.search(first_state)
    if drawn is None and data is None:
        raise ValueError("this explorer starts with a picture made of pixels, not with an SVG: save it as .html")
    picture = base64.b64decode(data[1]).decode() if drawn is None else drawn[0]
    if drawn is not None and NAMESPACE not in picture:
        picture = picture.replace("<svg", f'<svg {NAMESPACE} font-family="sans-serif"', 1)
    return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", picture)
