"""README's picture of the live model is drawn whole, wherever the model stands on the front page."""

import picture
from PIL import Image


def test_the_picture_reaches_down_to_the_average_surprise(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(picture, "PICTURE", str(tmp_path / "{}.webp"))
    picture.draw(browser, "light")
    width, height = Image.open(tmp_path / "light.webp").size
    assert 0.6 * width < height < 1.2 * width
