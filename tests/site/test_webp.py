"""Pictures of notebooks lose nothing that is seen when they are made into WebP."""

import sys

from built_site import ROOT
from PIL import Image, ImageChops

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.webp import with_fewer_colors  # noqa: E402


def test_no_channel_of_any_pixel_moves_by_more_than_four_of_255(site):
    pictures = sorted((site / "_images").glob("*.webp"))
    drawn = [site.parent / "jupyter_execute" / f"{picture.stem}.png" for picture in pictures]
    assert len(pictures) > 50
    for picture, original in zip(pictures[::5], drawn[::5], strict=True):
        with Image.open(picture) as sent, Image.open(original) as expected:
            moved = ImageChops.difference(sent, expected.convert(sent.mode))
            assert max(most for _, most in moved.getextrema()) <= 4


def test_areas_keep_their_colors_and_rare_ones_are_rounded():
    picture = Image.new("RGBA", (100, 100), (201, 33, 77, 255))
    picture.paste((3, 5, 250, 255), (0, 0, 10, 1))  # an area, if a small one
    picture.paste((4, 5, 255, 130), (0, 1, 9, 2))
    made = with_fewer_colors(picture)
    assert made.getpixel((50, 50)) == (201, 33, 77, 255)
    assert made.getpixel((0, 0)) == (3, 5, 250, 255)
    assert made.getpixel((0, 1)) == (0, 8, 255, 130)
