"""Scripts of the site's own that only some pages load."""

import re
from pathlib import Path

HERE = Path(__file__).parent
TYPES = re.compile(r"/\*\*.*?\*/\s*", re.DOTALL)  # said to the type checker, and to no browser


def browser_script(path):
    """A script as browsers get it: a classic one, which a page opened from a folder may load, without its types."""
    body = TYPES.sub("", path.read_text(encoding="utf-8"))
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def write_script(app, name):
    """Put `name.js` and `name.css` where Sphinx finds their checksums."""
    folder = Path(app.outdir, "_static")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.js").write_text(browser_script(HERE / f"{name}.js"), encoding="utf-8")
    (folder / f"{name}.css").write_text((HERE / f"{name}.css").read_text(encoding="utf-8"), encoding="utf-8")


def load_script(app, name):
    """Have the page that is being written load `name.js` and `name.css`."""
    app.add_js_file(f"{name}.js", defer="defer")
    app.add_css_file(f"{name}.css")
