"""What a reader has answered: remembered by the reader's own browser, and marked in lists of pages.

A question is known by a hash of its words: one that was rewritten counts as new, one that was moved does not.
"""

from hashlib import sha256

from .scripts import load_script, write_script


def name_question(words):
    """A short name for a question, from its words."""
    return sha256(words.encode()).hexdigest()[:8]


def prepare_page(app, pagename, templatename, context, doctree):
    """Give every page the script: each has the list of pages in its side bar."""
    load_script(app, "progress")


def setup(app):
    """Connect to the start of the build, and to the writing of pages."""
    app.connect("builder-inited", lambda app: write_script(app, "progress"))
    app.connect("html-page-context", prepare_page)
