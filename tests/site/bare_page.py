"""A page without the theme around it: what is tested, and the styles and scripts of its own."""

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
