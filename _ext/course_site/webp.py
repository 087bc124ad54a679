"""Pictures of notebooks travel as WebP, in which they lose nothing and take less than half of a PNG's bytes."""

from pathlib import Path

from docutils import nodes
from PIL import Image

EFFORT = 4  # of 6: the last two save another 3% and take twice as long


def convert(file):
    """Write a picture's WebP beside it, unless it is there: its name is a checksum of what is seen."""
    written, part = file.with_suffix(".webp"), file.with_suffix(".part")
    if not written.exists():
        # Under another name until it is whole: a build that is interrupted would leave it empty for good.
        with Image.open(file) as picture:
            picture.save(part, format="WEBP", lossless=True, exact=True, method=EFFORT)
        part.replace(written)
    return written


def use_webp(app, doctree):
    """Have a page show the WebP of each PNG that its notebook made."""
    outputs = Path(app.outdir).parent / "jupyter_execute"
    for image in doctree.findall(nodes.image):
        file = Path(app.env.relfn2path(image["uri"])[1])
        if file.suffix == ".png" and file.is_relative_to(outputs):
            image["uri"] = Path(image["uri"]).with_suffix(convert(file).suffix).as_posix()


def setup(app):
    """Connect to the reading of pages, before Sphinx collects their images."""
    app.connect("doctree-read", use_webp, priority=300)
