"""What a link to a page shows where it is shared: the page's title, its question, and a card with its first picture."""

import base64
import re
from html import escape
from pathlib import Path
from textwrap import wrap

from docutils import nodes

WIDTH, HEIGHT, MARGIN = 1200, 630, 50  # pixels, the shape that is shown whole
PICTURE = 500  # where a picture begins
COVER = "chapters/multi_head"  # its picture stands for the course
INK, QUIET = "#1d2329", "#59616a"  # the page's own, in light
TITLE, TEXT, FOOT = 46, 36, 24  # sizes of letters
SENTENCE = re.compile(r".*?(?<! al)[.?!](?=\s|$)")  # it does not end behind "et al."
SIZE = re.compile(r' width="[^"]*" height="[^"]*"')


def describe(doctree):
    """What a page says first: its question, which stands in italics, or else its first sentence."""
    first = next(doctree.findall(nodes.paragraph), nodes.paragraph())
    text = " ".join(first.astext().replace(r"\infty", "∞").split())
    is_question = any(isinstance(part, nodes.emphasis) and part.astext() == first.astext() for part in first)
    sentence = SENTENCE.match(text)
    return text if is_question or not sentence else sentence[0]


def note_figure(app, doctree):
    """Note down where a page's first figure is, a PNG, before the page shows its WebP."""
    figures = (image["uri"] for image in doctree.findall(nodes.image) if image["uri"].endswith(".png"))
    first = next(figures, None)
    app.env.metadata[app.env.docname]["figure"] = first and app.env.relfn2path(first)[0]


def picture_of(app, page):
    """A page's first diagram or else its first figure, as SVG; `None` where it has neither."""
    noted = app.env.metadata.get(page, {})
    if noted.get("picture") or not noted.get("figure"):
        return noted.get("picture")
    data = base64.b64encode(Path(app.srcdir, noted["figure"]).read_bytes()).decode()
    return f'<image href="data:image/png;base64,{data}" width="0" height="0"/>'


def lines_of_text(lines, y, size, **look):
    """Lines of text from a height on."""
    look = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in look.items())
    return "".join(
        f'<text x="{MARGIN}" y="{y + 1.2 * size * number:g}" font-size="{size}"{look}>{escape(line)}</text>'
        for number, line in enumerate(lines, 1)
    )


def draw(title, question, course, picture):
    """A card in SVG: a title, over the course's name, beside a picture; or over a question where there is none."""
    lines = wrap(title, 14 if picture else 32)
    if picture:
        place = f' x="{PICTURE}" y="{MARGIN}" width="{WIDTH - MARGIN - PICTURE}" height="{HEIGHT - 2 * MARGIN}"'
        beside = SIZE.sub(f'{place} color="{INK}"', picture, count=1)
    else:
        beside = lines_of_text(wrap(question, 48), MARGIN + 1.2 * TITLE * len(lines), TEXT)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" fill="{INK}" '
        f'font-family="sans-serif">{lines_of_text(lines, MARGIN / 2, TITLE, font_weight="bold")}{beside}'
        f"{lines_of_text([course], HEIGHT - MARGIN - FOOT, FOOT, fill=QUIET)}</svg>"
    )


def write_card(file, svg):
    """Write a card as a PNG, since no SVG is shown where links are shared, in letters that every machine has."""
    import matplotlib  # only where there are cards: a book that is not published is built without them
    import resvg_py

    fonts = Path(matplotlib.get_data_path(), "fonts", "ttf")
    png = resvg_py.svg_to_bytes(
        svg,
        background="white",
        skip_system_fonts=True,
        font_files=[str(fonts / "DejaVuSans.ttf"), str(fonts / "DejaVuSans-Bold.ttf")],
        sans_serif_family="DejaVu Sans",
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(png)


def card_of(app, page):
    """The name of a page's card: lessons have their own, all other pages that of the front page."""
    return page if page.startswith("chapters/") else app.config.root_doc


def tags_of(app, page, title, question):
    """A page's tags. Those that take a whole address are left out while the site has none."""
    base = app.config.html_baseurl
    tags = {"og:type": "article", "og:site_name": app.config.html_title, "og:title": title}
    if question:
        tags |= {"description": question, "og:description": question}
    if base:
        tags |= {
            "og:url": f"{base}{app.builder.get_target_uri(page)}",
            "og:image": f"{base}_static/cards/{card_of(app, page)}.png",
            "og:image:width": WIDTH,
            "og:image:height": HEIGHT,
            "twitter:card": "summary_large_image",
        }
    return tags


def write_tags(tags):
    """Tags in HTML, each on a line."""
    kinds = {name: "property" if name.startswith("og:") else "name" for name in tags}
    return "".join(f'\n    <meta {kinds[name]}="{name}" content="{escape(str(tags[name]))}" />' for name in tags)


def add_card(app, pagename, templatename, context, doctree):
    """Give a page its tags and, where it has one of its own, its card."""
    if doctree is None:
        return
    title, question = app.env.titles[pagename].astext(), describe(doctree)
    context["metatags"] += write_tags(tags_of(app, pagename, title, question))
    if app.config.html_baseurl and card_of(app, pagename) == pagename:
        picture = picture_of(app, COVER if pagename == app.config.root_doc else pagename)
        svg = draw(title, question, app.config.html_title, picture)
        write_card(Path(app.outdir, "_static", "cards", f"{pagename}.png"), svg)


def setup(app):
    """Connect to the reading and the writing of pages."""
    app.connect("doctree-read", note_figure, priority=200)
    app.connect("html-page-context", add_card)
