"""What moves on the site moves in Firefox and in WebKit, the engine of every browser on an iPhone, too."""


def test_no_errors(visit, page_name):
    """Nothing is thrown, logged as an error, refused by the policy, or missing."""
    assert visit(page_name).errors == []


def test_sliders_are_alive(visit, page_name):
    """Every explorer is mounted, and a key on each of its sliders changes what it says and what it shows."""
    seen = visit(page_name)
    assert seen.explorers[0] == seen.explorers[1]
    assert seen.dead_sliders == []


def test_play_buttons_are_alive(visit, page_name):
    """A click shows the next picture."""
    assert visit(page_name).dead_buttons == []


def test_folds_open(visit, page_name):
    """The first by a click, then all by the button over the page."""
    assert visit(page_name).dead_folds == []


def test_quick_checks_answer(visit, page_name):
    """A wrong option is called wrong, and the right one right."""
    assert visit(page_name).dead_checks == []


def test_words_open(visit, page_name):
    """A word of the glossary opens its entry, and closes it, by a click and by a key."""
    assert visit(page_name).dead_words == []


def test_formulas_are_drawn(visit, page_name):
    """Every formula has a size, in KaTeX's own fonts."""
    seen = visit(page_name)
    assert seen.unread_formulas == []
