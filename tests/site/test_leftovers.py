"""What earlier builds left is taken away, and nothing that the site needs: on pages that are written by hand."""

import sys
from types import SimpleNamespace

import pytest
from built_site import ROOT
from PIL import Image

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.leftovers import tidy  # noqa: E402
from course_site.webp import convert  # noqa: E402


def plant(site, *addresses):
    for address in addresses:
        (site / address).parent.mkdir(parents=True, exist_ok=True)
        (site / address).write_text("left")


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("_static/models/a.js", '<script src="_static/models/a.js?v=1" defer></script>'),
        ("_static/models/a.js", '{"checkpoint":"_static/models/a.js"}'),
        ("_static/frames/a.svg", "{&quot;frames&quot;:[&quot;_static/frames/a.svg&quot;]}"),
        ("_static/cards/chapters/a.png", '<meta content="https://example.org/_static/cards/chapters/a.png" />'),
        ("_images/a b.png", '<img src="_images/a%20b.png">'),
    ],
)
def test_what_a_page_names_anywhere_stays(tmp_path, address, page):
    """Also from another folder, and where it is loaded later."""
    app = SimpleNamespace(outdir=tmp_path, srcdir=tmp_path, env=SimpleNamespace(found_docs={"chapters/page"}))
    plant(tmp_path, address, "chapters/page.html")
    for text, stays in ((page, True), (page.replace("_static", "../_static"), True), ("nothing", False)):
        (tmp_path / "chapters" / "page.html").write_text(text)
        tidy(app, None)
        assert (tmp_path / address).exists() == stays


def test_a_build_that_failed_takes_nothing_away(tmp_path):
    app = SimpleNamespace(outdir=tmp_path, srcdir=tmp_path, env=SimpleNamespace(found_docs=set()))
    plant(tmp_path, "gone.html", "_images/gone.webp")
    tidy(app, ValueError())
    assert (tmp_path / "gone.html").exists() and (tmp_path / "_images" / "gone.webp").exists()


def test_an_interrupted_conversion_leaves_no_picture(tmp_path, monkeypatch):
    """The next build would take it for the picture."""
    drawn = tmp_path / "drawn.png"
    Image.new("RGB", (4, 2), "red").save(drawn)

    def interrupt(picture, path, **options):
        path.write_bytes(b"")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Image.Image, "save", interrupt)
        with pytest.raises(KeyboardInterrupt):
            convert(drawn)
    with Image.open(convert(drawn)) as picture:
        assert (picture.format, picture.size) == ("WEBP", (4, 2))
    assert {path.name for path in tmp_path.iterdir()} == {"drawn.png", "drawn.webp"}
