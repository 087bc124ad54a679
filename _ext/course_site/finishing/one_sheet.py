"""A page asks for one style sheet in the place of sixteen: over a phone's network each request takes its time.

The sheets that pages share become one file, in the order in which pages name them, so that a reader's second page has
it already. What a few pages need alone, as a live model, stays a sheet of its own, behind it.
"""

import re
from pathlib import Path
from zlib import crc32

SHEET = "site.css"
SHARED = (
    "basic.css",
    "styles/bootstrap.css",
    "styles/pydata-sphinx-theme.css",
    "icons.css",
    "pygments.css",
    "styles/sphinx-book-theme.css",
    "mystnb.*.css",
    "copybutton.css",
    "katex/katex.min.css",
    "katex-math.css",
    "quick_checks.css",
    "wrong_lines.css",
    "progress.css",
    "explorers.css",
    "terms.css",
    "course.css",
)
LINK = re.compile(r'[ \t]*<link rel="stylesheet"[^>]* href="([^"?]*_static/)([^"?]+)[^>]*>\n?')
RELATIVE = re.compile(r"""url\((["']?)(?!["']?(?:data:|/|#|[a-z]+:))""")
CHARSET = re.compile(r"@charset [^;]+;")


def files_of(static):
    """The shared sheets that this build has."""
    return [file for pattern in SHARED for file in static.glob(pattern)]


def together(static):
    """The text of the shared sheets, with addresses as they are from the one file."""
    texts = []
    for file in files_of(static):
        folder = file.parent.relative_to(static).as_posix()
        text = CHARSET.sub("", file.read_text(encoding="utf-8"))
        texts.append(text if folder == "." else RELATIVE.sub(rf"url(\g<1>{folder}/", text))
    return "\n".join(texts)


def link(page, version, shared):
    """A page's text with one link in the place of those to shared sheets; a page of an earlier build has it already."""
    first = None

    def replace(found):
        nonlocal first
        folder, name = found.groups()
        if name not in shared:
            return found[0]
        if first is not None:
            return ""
        first = f'<link rel="stylesheet" href="{folder}{SHEET}?v={version}">\n'
        return first

    return LINK.sub(replace, page)


def join(app, exception):
    """Write the sheet, and have every page ask for it."""
    if exception:
        return
    static = Path(app.outdir, "_static")
    text = together(static)
    (static / SHEET).write_text(text, encoding="utf-8")
    version = f"{crc32(text.encode()):08x}"
    shared = {file.relative_to(static).as_posix() for file in files_of(static)} | {SHEET}
    for page in Path(app.outdir).rglob("*.html"):
        before = page.read_text(encoding="utf-8")
        after = link(before, version, shared)
        if after != before:
            page.write_text(after, encoding="utf-8")


def setup(app):
    """Connect to the end of a build, when the sheets have lost their unused rules."""
    app.connect("build-finished", join, priority=960)
