"""What a stylesheet could take from a live model: on a phone, and in the reader's own colours."""

from test_explorers import show  # noqa: F401
from test_live_model import Live, open_model, trained  # noqa: F401

BARS = ".course-live-tokens button, .course-live-legend i, .course-live-next li"


def test_bars_stay_in_forced_colours(open_model):  # noqa: F811
    """They are all that shows the surprise; a button that does nothing looks so."""
    page, live = open_model(forced_colors="active")
    seen = page.locator(BARS).evaluate_all(
        "all => all.map((one) => getComputedStyle(one)).map((style) => [style.backgroundImage, style.color])"
    )
    ink = page.evaluate("getComputedStyle(document.querySelector('textarea')).color")
    assert len(seen) > 100
    assert all(image.startswith("linear-gradient") and color == ink for image, color in seen)
    one, undo = (page.get_by_role("button", name=name) for name in ("One character", "Undo"))
    colour = "one => getComputedStyle(one).color"
    assert one.evaluate(colour) != undo.evaluate(colour)


def test_the_names_of_folds_stay_within_them(open_model):  # noqa: F811
    """On a phone too, where the folds are padded less."""
    for width in ("phone", "desktop"):
        page, live = open_model(width=width)
        over = page.locator(".course-live summary").evaluate_all(
            """all => all.map((name) => {
              const [inner, outer] = [name, name.parentElement].map((one) => one.getBoundingClientRect());
              return Math.max(outer.left - inner.left, inner.right - outer.right);
            })"""
        )
        assert len(over) == 5 and max(over) <= 0
