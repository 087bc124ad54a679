"""The icon font holds the icons that the site shows, cut out of the theme's: Font Awesome's has 1,800 more.

Its licence, the SIL Open Font License, is copied beside it, and asks that a changed font bears another name.
"""

import re
import shutil
from io import BytesIO
from pathlib import Path

import pydata_sphinx_theme
from fontTools.subset import Subsetter
from fontTools.ttLib import TTFont

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
VENDOR = THEME / "vendor" / "fontawesome" / "6.5.2"
NAME = "Course icons"
FAMILY_NAMES = (1, 3, 4, 6, 16)  # the entries of a font's table of names that say what it is called
PRIVATE = range(0xE000, 0xF900)  # the code points of icons: some glyphs have one of a letter beside it
# What the theme's style sheet draws by itself: beside a note, beside a link that leads elsewhere.
DRAWN_BY_THE_THEME = re.compile(r'--pst-icon-[a-z-]+:"([^"]+)"')
# The icons by the font they come from: those of the theme's templates, of ours and of our scripts.
ICONS = {
    "fa-solid-900": (
        "angle-left",
        "angle-right",
        "arrow-up",
        "bars",
        "chevron-down",
        "circle-half-stroke",
        "code",
        "code-branch",
        "download",
        "list",
        "magnifying-glass",
        "moon",
        "rocket",
        "sun",
    ),
    "fa-brands-400": ("github",),
}
RULES = f"""\
:root {{
  --fa-font-solid: normal 900 1em/1 "{NAME}";
}}
:is(.fa-solid, .fa-brands) {{
  -webkit-font-smoothing: antialiased;
  display: inline-block;
  font-family: "{NAME}";
  font-style: normal;
  font-variant: normal;
  line-height: 1;
  text-rendering: auto;
}}
.fa-lg {{
  font-size: 1.25em;
  line-height: .05em;
  vertical-align: -.075em;
}}
"""


def code_points(font):
    """The icons of a font: the code point of each by its name."""
    return {glyph: point for point, glyph in font.getBestCmap().items() if point in PRIVATE}


def cut(font, points):
    """Take out of a font all that is not at some code points, and give it another name.

    Returns:
        The font, as WOFF.
    """
    subsetter = Subsetter()
    subsetter.populate(unicodes=points)
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in FAMILY_NAMES:
            record.string = NAME
    font.flavor = "woff"
    content = BytesIO()
    font.save(content)
    return content.getvalue()


def face(name, points):
    """The rule that loads a font when one of its icons is on a page."""
    ranges = ", ".join(f"U+{point:X}" for point in points)
    return (
        f'@font-face {{\n  font-family: "{NAME}";\n  font-weight: 400 900;\n  font-display: block;\n'
        f'  src: url("icons/{name}.woff") format("woff");\n  unicode-range: {ranges};\n}}\n'
    )


def write_icons(app):
    """Write the fonts and the style sheet that names their icons as Font Awesome does."""
    folder = Path(app.outdir, "_static", "icons")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(VENDOR / "LICENSE.txt", folder)
    style = (THEME / "styles" / "pydata-sphinx-theme.css").read_text(encoding="utf-8")
    drawn = {ord(icon) for icon in DRAWN_BY_THE_THEME.findall(style)}
    rules = [RULES]
    for name, icons in ICONS.items():
        font = TTFont(VENDOR / "webfonts" / f"{name}.ttf")
        points = code_points(font)
        kept = sorted({points[icon] for icon in icons} | drawn & {*points.values()})
        (folder / f"{name}.woff").write_bytes(cut(font, kept))
        rules.append(face(name, kept))
        rules += [f'.fa-{icon}::before {{ content: "\\{points[icon]:x}"; }}\n' for icon in icons]
    (folder.parent / "icons.css").write_text("".join(rules), encoding="utf-8")


def setup(app):
    """Connect to the start of the build, and have every page load the style sheet before all others of Sphinx's."""
    app.connect("builder-inited", write_icons)
    app.add_css_file("icons.css", priority=0)
