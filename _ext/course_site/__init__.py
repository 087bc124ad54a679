"""What the site needs beyond Jupyter Book: one idea a file."""

import gc
import zlib
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
PARTS = (
    "finishing.parallel",
    "finishing.icons",
    "published",
    "maths",
    "buttons",
    "callouts",
    "quick_checks",
    "wrong_lines",
    "progress",
    "claims",
    "finishing.code_lines",
    "execution",
    "widgets",
    "explorers",
    "webp",
    "image_sizes",
    "folds",
    "opening",
    "finishing.punctuation",
    "front_page",
    "path",
    "sidebar",
    "moved",
    "everywhere",
    "pictures",
    "objectives",
    "terms",
    "accessibility",
    "api",
    "search",
    "loading",
    "cards",
    "front_door",
    "sitemap",
    "not_found",
    "about",
    "leftovers",
    "finishing.unused_rules",
    "finishing.one_sheet",
)


def setup(app):
    """Connect every part of the site to Sphinx."""
    # Documents in memory are millions of objects: looking for garbage among them as often as Python does by itself
    # takes a quarter of a build or more. So seldom, it needs 1 GB. Nor need it look through them all once more to end.
    gc.set_threshold(1_000_000, 5, 5)
    app.connect("build-finished", lambda app, exception: gc.freeze(), priority=999)
    # First, so that a template of ours wins over the theme's of the same name.
    templates = str(HERE / "templates")
    app.connect("config-inited", lambda app, config: config.templates_path.insert(0, templates))
    app.connect("builder-inited", lambda app: app.config.html_static_path.append(str(HERE / "static")))
    app.add_config_value("course_finishing", True, "env")
    for part in PARTS:
        if part.startswith("finishing.") and not app.config.course_finishing:
            continue
        import_module(f".{part}", __name__).setup(app)
    # Sphinx reads every page again when this number changes: when a line of this extension does.
    sources = b"".join(path.read_bytes() for path in sorted([*HERE.glob("*.[jp][sy]"), *HERE.glob("finishing/*.py")]))
    return {"env_version": zlib.crc32(sources), "parallel_read_safe": True, "parallel_write_safe": True}
