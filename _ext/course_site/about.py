"""The foot of the front page: the licence of the course, how to cite it, and where to get it as one file."""

import shutil
from pathlib import Path

FILES = {"LICENSE": "LICENSE.txt", "CITATION.cff": "CITATION.cff"}  # as a server knows them for text
FOOT = """\
<p class="course-about">The words, the pictures and the code of this course may be used, changed and passed on under the
<a href="LICENSE.txt">MIT licence</a>. <a href="CITATION.cff">CITATION.cff</a> says how to cite it.{offline}</p>
"""
# `tools/offline.py` packs this file whenever a published site is made, and leaves the link out of it.
OFFLINE = """\
 <span class="course-offline">To read it without a network, take the
<a href="attention-course.zip" download>whole site as one file</a>.</span>"""


def add_foot(app, pagename, templatename, context, doctree):
    """Put the files beside the front page, and the line that leads to them under it."""
    if pagename == app.config.root_doc and all(Path(app.srcdir, name).exists() for name in FILES):
        for name, name_there in FILES.items():
            shutil.copy(Path(app.srcdir, name), Path(app.outdir, name_there))
        context["body"] += FOOT.format(offline=OFFLINE if app.config.html_baseurl else "")


def setup(app):
    """Connect to the writing of pages."""
    app.connect("html-page-context", add_foot)
