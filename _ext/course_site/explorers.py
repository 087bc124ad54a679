"""Explorers on the site: their views in one classic script, on the pages that have one; frames and weights as files."""

import base64
import hashlib
import re
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import minify

# By its path: to import it from the package imports torch, two seconds in the build of every small book of the tests.
BUNDLE = run_path(f"{find_spec('attention_course').submodule_search_locations[0]}/explore/bundle.py")
LIVE, VIEWS, live_script, page_script = (BUNDLE[name] for name in ("LIVE", "VIEWS", "live_script", "page_script"))
SCRIPT = "application/javascript"
CONTAINER = 'class="course-explorer"'
WEIGHTS = re.compile(r'"(weights|checkpoint)":"([A-Za-z0-9+/=]+)"')
STYLES = {"model": ["model.css"], "translator": ["model.css", "translator.css"]}
FRAME = re.compile(r"data:image/(svg\+xml|webp);base64,([A-Za-z0-9+/=]+)")
SUFFIXES = {"svg+xml": "svg", "webp": "webp"}


def bundle():
    """The views and the script that mounts them, minified."""
    return minify.string(SCRIPT, page_script())


def bundle_live(view):
    """A live model's view, minified."""
    return minify.string(SCRIPT, live_script(view))


def find_live(html):
    """The live models' scripts and styles that a page needs."""
    views = [view for view in LIVE if f'data-view="{view}"' in html]
    return [f"{view}.js" for view in views], sorted({style for view in views for style in STYLES[view]})


def write_assets(app):
    """Put scripts and styles where Sphinx finds their checksums."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    scripts = {"explorers.js": bundle()} | {f"{view}.js": bundle_live(view) for view in LIVE}
    for name, script in scripts.items():
        (folder / name).write_text(script, encoding="utf-8")
    for name in ("explorers.css", *sorted({style for styles in STYLES.values() for style in styles})):
        (folder / name).write_text((VIEWS / name).read_text(encoding="utf-8"), encoding="utf-8")


def extract_frames(html, folder, address):
    """Write the frames inside a page to files: a strict content security policy has no images in data.

    Args:
        html: The page's body.
        folder: Where to write them.
        address: The folder's address, from the page.

    Returns:
        The body with addresses in place of the frames.
    """

    def write(match):
        picture = base64.b64decode(match[2])
        name = f"{hashlib.sha256(picture).hexdigest()[:16]}.{SUFFIXES[match[1]]}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(picture)
        return f"{address}/{name}"

    return FRAME.sub(write, html)


def extract_weights(html, folder, address):
    """Write the weights of models inside a page to files of their own, so that the page itself stays small.

    A page opened from a folder may fetch nothing, but load scripts: each file is one, which keeps its weights by name.

    Args:
        html: The page's body.
        folder: Where to write them.
        address: The folder's address, from the page.

    Returns:
        The body with names in place of `weights`, and addresses in place of a `checkpoint`, which its view loads when
        it is seen; and the files of the former, which the page has to load.
    """
    names = []

    def write(match):
        name = hashlib.sha256(match[2].encode()).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        script = f'(globalThis.courseModels ??= {{}})["{name}"] = "{match[2]}";\n'
        (folder / f"{name}.js").write_text(script, encoding="utf-8")
        if match[1] == "checkpoint":
            return f'"checkpoint":"{address}/{name}.js"'
        names.append(f"{name}.js")
        return f'"weights":"{name}"'

    return WEIGHTS.sub(write, html), names


def prepare_page(app, pagename, templatename, context, doctree):
    """Give a page with explorers their scripts, their styles, their frames and their weights."""
    body = context.get("body", "")
    if CONTAINER not in body:
        return
    models = Path(app.outdir, "_static", "models")
    body, names = extract_weights(body, models, context["pathto"]("_static/models", 1))
    for name in names:
        app.add_js_file(f"models/{name}", defer="defer")
    scripts, styles = find_live(body)
    for name in (*scripts, "explorers.js"):
        app.add_js_file(name, defer="defer")
    for name in ("explorers.css", *styles):
        app.add_css_file(name)
    folder = Path(app.outdir, "_static", "frames")
    context["body"] = extract_frames(body, folder, context["pathto"]("_static/frames", 1))


def setup(app):
    """Connect to the start of the build and to the writing of pages."""
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", prepare_page)
