"""A page without the theme around it: what is tested or timed, and the styles and scripts of its own."""

import sys
from pathlib import Path

from built_site import ROOT

from attention_course.explore.explorer import VIEWS

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.explorers import LIVE, bundle, bundle_live, extract_frames, extract_weights, find_live  # noqa: E402

PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
{styles}
<link rel="icon" href="{static}favicon.svg">
<script src="{static}{part}.js" defer></script>
</head>
<body><main class="bd-article">{article}</main></body>
</html>
"""


def bare_page(title: str, part: str, article: str, theme: str = "light", static: str = "") -> str:
    """A page with the course's style and the style and script of one part, from the folder `static`."""
    styles = "\n".join(f'<link rel="stylesheet" href="{static}{name}.css">' for name in ("course", part))
    return PAGE.format(theme=theme, title=title, styles=styles, static=static, part=part, article=article)


def write_pages(folder: Path, explorers: list) -> None:
    """Write `light.html` and `dark.html` with what the extension gives a page of the book."""
    (folder / "explorers.js").write_text(bundle())
    for view in LIVE:
        (folder / f"{view}.js").write_text(bundle_live(view))
    for style in VIEWS.glob("*.css"):
        (folder / style.name).write_text(style.read_text())
    for name in ("course.css", "favicon.svg"):
        (folder / name).write_text((ROOT / "_static" / name).read_text())
    outputs = (f'<div class="cell_output">{explorer._repr_html_()}</div>' for explorer in explorers)
    html = extract_frames("\n".join(outputs), folder / "frames", "frames")
    html, names = extract_weights(html, folder / "models", "models")
    head = [f'<script src="models/{name}" defer></script>' for name in names]
    scripts, styles = find_live(html)
    head += [f'<link rel="stylesheet" href="{style}">' for style in styles]
    head += [f'<script src="{script}" defer></script>' for script in scripts]
    for theme in ("light", "dark"):
        page = bare_page("Explorers", "explorers", f"<h1>Explorers</h1>\n{html}", theme)
        # Before the script that mounts: it looks for what these have left.
        (folder / f"{theme}.html").write_text(page.replace("<script", "\n".join([*head, "<script"]), 1))
