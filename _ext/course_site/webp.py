"""Pictures of notebooks travel as WebP, which takes a quarter of a PNG's bytes: no eye tells one from the other.

The colours of areas stay as they are. Those that few pixels have are where an edge blends into what is beside it: they
are half the bytes, and are rounded.
"""

from pathlib import Path

import numpy as np
from docutils import nodes
from PIL import Image

EFFORT = 4  # of 6: the last two save another 3% and take twice as long
FEW = 0.001  # of a picture's pixels
STEP = 8  # of 255: none of the three channels moves by more than half of it


def with_fewer_colors(picture):
    """A picture whose rare colours are rounded."""
    pixels = np.array(picture.convert("RGBA"))
    colors = pixels[..., :3]
    number = colors @ np.array([2**16, 2**8, 1])  # of each pixel's colour
    rare = np.bincount(number.ravel())[number] < FEW * number.size
    colors[rare] = np.minimum(255, np.round(colors[rare] / STEP) * STEP)
    return Image.fromarray(pixels)


def convert(file):
    """Write a picture's WebP beside it, unless it is there: its name is a checksum of what is seen."""
    written, part = file.with_suffix(".webp"), file.with_suffix(".part")
    if not written.exists():
        # Under another name until it is whole: a build that is interrupted would leave it empty for good.
        with Image.open(file) as picture:
            with_fewer_colors(picture).save(part, format="WEBP", lossless=True, exact=True, method=EFFORT)
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
