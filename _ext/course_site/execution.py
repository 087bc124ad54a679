"""Has a page read again when its notebook ran again: Sphinx looks at the notebook's file, which is as it was."""

from contextlib import suppress

import nbformat
from jupyter_cache import get_cache


def ran_again(app, env, added, changed, removed):
    """The pages whose outputs in the cache are others than those they were made of."""
    cache = get_cache(env.mystnb_config.execution_cache_path)
    pages = []
    for name, data in getattr(env, "nb_metadata", {}).items():
        if data.get("exec_data") and name in env.found_docs:
            with suppress(KeyError):  # its code is new: Sphinx sees that
                record = cache.match_cache_notebook(nbformat.read(env.doc2path(name), as_version=4))
                if record.created.timestamp() != data["exec_data"]["mtime"]:
                    pages.append(name)
    return pages


def setup(app):
    """Connect to the search for pages that have to be read."""
    app.connect("env-get-outdated", ran_again)
