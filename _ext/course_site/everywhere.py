"""Has all pages written again when what each of them says of the others is new.

Each page lists all pages by their titles, and names scripts and styles with their checksums. Sphinx writes a page again
for what is in its own document.
"""

import zlib
from pathlib import Path

from .explorers import VIEWS
from .scripts import HERE

LOADED = {".css", ".js"}


def checksum_of_files(app):
    """A number that changes with the scripts and styles that pages load."""
    folders = [HERE, VIEWS, *(Path(app.confdir, folder) for folder in app.config.html_static_path)]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.suffix in LOADED]
    return zlib.crc32(b"".join(file.read_bytes() for file in files))


def with_other_neighbours(app, env):
    """All pages, when the contents, a title or a file that pages load is another than in the last build."""
    titles = [(page, env.titles[page].astext()) for page in env.collect_relations()]
    now = titles, app.config.external_site_map.as_json(), checksum_of_files(app)
    last = getattr(env, "course_everywhere", None)
    env.course_everywhere = now
    return [] if now == last else env.found_docs


def setup(app):
    """Connect to the search for pages that have to be written."""
    app.connect("env-updated", with_other_neighbours)
