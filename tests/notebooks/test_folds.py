"""A cell that is folded in one place is folded in all, and says what it does."""

import pytest
from folds import is_folded, missing_marks, title
from small_notebooks import FOLD, code

TITLED = "# @title Draw one layer\nlayer"


def test_folded_cells_are_folded_everywhere(name, notebook):
    assert [(missing, title(cell)) for cell in notebook["cells"] for missing in missing_marks(cell)] == []


def test_folded_cells_say_what_they_do(name, notebook):
    titles = [title(cell) for cell in notebook["cells"] if is_folded(cell)]
    assert [words for words in titles if len(words.split()) < 3] == []


def test_a_cell_with_all_marks_or_none_lacks_nothing():
    assert missing_marks(code(TITLED, **FOLD)) == []
    assert title(code(TITLED, **FOLD)) == "Draw one layer"
    assert missing_marks(code("layer")) == []
    assert missing_marks(code("")) == []


@pytest.mark.parametrize("mark", FOLD)
def test_a_mark_that_is_missing_is_found(mark):
    others = {name: value for name, value in FOLD.items() if name != mark}
    assert len(missing_marks(code(TITLED, **others))) == 1
    assert len(missing_marks(code("layer", **{mark: FOLD[mark]}))) == 3


def test_a_title_that_is_missing_or_alone_is_found():
    assert len(missing_marks(code("layer", **FOLD))) == 1
    assert len(missing_marks(code(TITLED))) == 3
