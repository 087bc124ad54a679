"""What moves on the site moves in Firefox and in WebKit, the engine of every browser on an iPhone, too."""


def test_a_page_is_alive(visit, page_name):
    """Checks answer, folds and words open, sliders and buttons move what they should; nothing is thrown or missing."""
    assert visit(page_name) == {}
