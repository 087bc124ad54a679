"""An explorer that cannot start keeps its first state, and leaves the other explorers of its page alone."""

from explorer_pages import Mounted
from explorer_samples import draw_bars
from playwright.sync_api import expect

from attention_course.explore import explore_frames

WORKING = '{"values": {"data": {}}, "controls": [], "steps": {}}'


class Broken:
    """An explorer whose data, or whose view, is not what it should be."""

    def __init__(self, view, data):
        self.view, self.data = view, data

    def _repr_html_(self):
        return (
            f'<div class="course-explorer" data-view="{self.view}"><p class="course-explorer-first">As it begins.</p>'
            f'<script type="application/json">{self.data}</script></div>'
        )


def test_a_broken_explorer_breaks_no_other(show):
    """Whether its data is cut off or of another kind, or there is no such view."""
    explorer = explore_frames(draw_bars, {"height": [1, 2, 3]}, alt="Bars.")
    kinds = [("frames", '{"values": {'), ("frames", WORKING), ("unknown", WORKING)]
    page = show(explorer, *(Broken(*kind) for kind in kinds), explorer)
    for index in (1, 2, 3):
        broken = page.locator(".course-explorer").nth(index)
        expect(broken.get_by_text("As it begins.")).to_be_visible()
        expect(broken).to_contain_text("could not be started")
        assert broken.locator("input, button, .course-explorer-view").count() == 0
    for index in (0, 4):
        working = Mounted(page, index)
        working.press("height", "ArrowRight")
        assert working.wait_for(frame=1)["height"] == "2"
        assert working.box.locator(".course-explorer-first").count() == 0
