"""Explorers on the site: their views in one classic script, on the pages that have one; frames and weights as files."""

import base64
import hashlib
import re
from pathlib import Path

from attention_course.explore.explorer import VIEWS

MOUNT = Path(__file__).with_name("mount_explorers.js")
TYPES = re.compile(r"/\*\*.*?\*/\s*", re.DOTALL)  # said to the type checker, and to no browser
CONTAINER = 'class="course-explorer"'
WEIGHTS = re.compile(r'(?<="weights":")[A-Za-z0-9+/=]+(?=")')
FRAME = re.compile(r"data:image/(svg\+xml|webp);base64,([A-Za-z0-9+/=]+)")
SUFFIXES = {"svg+xml": "svg", "webp": "webp"}


def bundle():
    """The views and the script that mounts them as one classic script, without their types.

    A page opened from a folder may load scripts, but not modules.
    """
    modules = (
        f"{path.stem}: (() => {{\n{path.read_text(encoding='utf-8').replace('export default', 'return')}}})(),"
        for path in sorted(VIEWS.glob("*.js"))
    )
    mount = MOUNT.read_text(encoding="utf-8")
    script = "\n".join(["(() => {", '"use strict";', "const views = {", *modules, "};", mount, "})();", ""])
    return TYPES.sub("", script)


def write_assets(app):
    """Put script and style where Sphinx finds their checksums."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "explorers.js").write_text(bundle(), encoding="utf-8")
    (folder / "explorers.css").write_text((VIEWS / "explorers.css").read_text(encoding="utf-8"), encoding="utf-8")


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


def extract_weights(html, folder):
    """Write the weights of models inside a page to files of their own, so that the page itself stays small.

    A page opened from a folder may fetch nothing, but load scripts: each file is one, which keeps its weights by name.

    Args:
        html: The page's body.
        folder: Where to write them.

    Returns:
        The body with names in place of the weights, and the files' names.
    """
    names = []

    def write(match):
        name = hashlib.sha256(match[0].encode()).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        script = f'(globalThis.courseModels ??= {{}})["{name}"] = "{match[0]}";\n'
        (folder / f"{name}.js").write_text(script, encoding="utf-8")
        names.append(f"{name}.js")
        return name

    return WEIGHTS.sub(write, html), names


def prepare_page(app, pagename, templatename, context, doctree):
    """Give a page with explorers their script, their style, their frames and their weights."""
    body = context.get("body", "")
    if CONTAINER not in body:
        return
    body, models = extract_weights(body, Path(app.outdir, "_static", "models"))
    for name in models:
        app.add_js_file(f"models/{name}", defer="defer")
    app.add_js_file("explorers.js", defer="defer")
    app.add_css_file("explorers.css")
    folder = Path(app.outdir, "_static", "frames")
    context["body"] = extract_frames(body, folder, context["pathto"]("_static/frames", 1))


def setup(app):
    """Connect to the start of the build and to the writing of pages."""
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", prepare_page)
