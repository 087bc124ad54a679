"""Pages to look something up in, on a phone: the index is short, and an answer is seen almost at once."""

import pytest
from lessons import LOOK_UP
from visits import HEIGHTS

MOST_OF_THE_INDEX, MOST_OF_A_RECIPE = 2, 1.5  # screens
PLACES = """() => ({
  index: document.querySelector("article h2").getBoundingClientRect().top,
  recipes: Object.fromEntries(
    [...document.querySelectorAll("article section section section")].map((recipe) => [
      recipe.id, recipe.getBoundingClientRect().height,
    ])),
})"""


@pytest.mark.parametrize("name", LOOK_UP)
def test_the_index_and_each_recipe_fit(open_page, origin, name):
    place = open_page(f"{origin}/chapters/{name}.html", "dark", "phone").page.evaluate(PLACES)
    assert place["index"] <= MOST_OF_THE_INDEX * HEIGHTS["phone"]
    assert place["recipes"]
    long = {name: height for name, height in place["recipes"].items() if height > MOST_OF_A_RECIPE * HEIGHTS["phone"]}
    assert long == {}
