"""Search: what readers type, as they type it, and the heading that answers."""

import re

import pytest
from bs4 import BeautifulSoup
from built_site import SITE, WIDTHS
from choosing import weekly
from serving import STRICT, serving
from visits import run_axe

# The first result, or one of the first where the number says so.
ANSWERS = [
    ("how does RoPE work in code", "chapters/positions.html#rope-turn-queries-and-keys", 2),
    ("what does GQA save", "chapters/smaller_caches.html#what-does-gqa-save", 1),
    ("why is my causal mask wrong with a KV cache", "chapters/mask_numbers.html#which-corner", 1),
    ("which efficient attention for 32k tokens on CPU", "chapters/efficient.html#which-one-then", 1),
    ("why divide by sqrt(d)", "chapters/scaled_dot_product.html#why-divide", 1),
    ("temperature", "glossary.html#term-temperature", 1),
    ("fully masked row NaN", "chapters/mask_numbers.html#a-query-with-nothing-to-see", 2),
    ("rotate_half", "chapters/recipes.html#rotate-half-weights-into-interleaved-rope", 1),
    ("is_causal", "chapters/mask_numbers.html#which-corner", 1),
    ("beam search", "glossary.html#term-beam-search", 1),
    ("is attention permutation invariant", "glossary.html#term-permutation-equivariant", 1),
    ("Linformer causal", "chapters/approximations.html#linformer-slots", 5),
    ("what is a logit", "glossary.html#term-logit", 1),
    ("MLA", "glossary.html#term-latent-attention", 1),
    ("grouped query atention", "glossary.html#term-grouped-query-attention", 1),
    ("mask when keys outnumber queries", "chapters/mask_numbers.html#which-corner", 1),
    ("padding and causal together", "chapters/recipes.html#padding-mask-and-causal-mask-together", 1),
    ("padding and causal together", "chapters/mask_numbers.html#combine-them", 2),
    ("is attention an explanation", "chapters/interpretability.html", 1),
    ("softmax temperature", "chapters/scaled_dot_product.html#see-it-the-temperature", 3),
    ("kv cache memory", "chapters/cache.html#what-it-costs-memory", 3),
    ("debug my attention", "chapters/diagnose.html", 3),
    ("perfor", "chapters/approximations.html#performer-the-softmax-estimated", 1),
]
LINKS = ".course-search-results a"
COUNT = ".course-search-count"


def type_words(page, words):
    """Type into the field and wait until what is shown is about these words."""
    page.evaluate(f"document.querySelector('{COUNT}').textContent = 'waiting'")
    page.get_by_role("searchbox", name="A question").fill(words)
    page.locator(COUNT).filter(has_not_text=re.compile("waiting|Searching")).wait_for(state="attached")


def results(page):
    return page.locator(LINKS).evaluate_all("links => links.map((link) => link.getAttribute('href'))")


def test_questions_as_typed_have_the_answering_heading_first(open_sample, origin):
    page = open_sample(f"{origin}/search.html")
    misses = []
    for words, answer, rank in ANSWERS:
        type_words(page, words)
        if answer not in results(page)[:rank]:
            misses.append((words, results(page)[:3]))
    assert misses == []


@pytest.mark.parametrize("step", [4, weekly(1)], ids=["every fourth", "all"])
def test_a_recipes_title_as_typed_has_the_recipe_first(open_sample, site, origin, step):
    text = (site / "chapters" / "recipes.html").read_text(encoding="utf-8")
    found = BeautifulSoup(text, "html.parser").select("article section section section")
    titles = {recipe["id"]: recipe.h3.get_text().rstrip("#") for recipe in found}
    assert len(titles) >= 20
    page = open_sample(f"{origin}/search.html")
    for place, title in list(titles.items())[::step]:
        type_words(page, title)
        assert results(page)[:1] == [f"chapters/recipes.html#{place}"], title


def test_every_place_is_there(site):
    """Each result would lead to an id of its page."""
    listed = (SITE / "_static" / "search-index.js").read_text(encoding="utf-8")
    ids = {}
    for name, anchor in re.findall(r'"address":"([^"#]+)#([^"]+)"', listed):
        if name not in ids:
            ids[name] = set(re.findall(r' id="([^"]+)"', (SITE / name).read_text(encoding="utf-8")))
        assert anchor in ids[name], f"{name}#{anchor}"


@pytest.fixture
def show(open_sample):
    return lambda asked="", **options: open_sample(f"search.html{asked}", **options)


LEADS = {
    "GQA": "turning.html#turning-and-sharing",
    "what is a logit": "glossary.html#term-logit",
    "zebra": "turning.html#turning-and-sharing",  # what explains comes before what asks
    "opened_name": "turning.html#a-puzzle",
    "OpenedName": "turning.html#a-puzzle",
    "printed_name": "turning.html#a-puzzle",
    "giraffes unheard": "turning.html#turning-and-sharing",  # any word will do
    "gyraffe": "turning.html#turning-and-sharing",
    "concealed": None,  # it is folded away
    "PyTorch": None,  # with what a page ran is said on every page
}


def test_what_leads_where(show):
    page = show()
    for words, first in LEADS.items():
        type_words(page, words)
        assert next(iter(results(page)), None) == first, words


def test_a_result_says_where_it_is_and_marks_the_words(show):
    first = show("?q=GQA+giraffe").locator(".course-search-results li").first
    assert first.get_by_role("heading").inner_text() == "Turning and sharing"
    assert first.locator(".course-search-above").inner_text() == "A page"
    assert first.locator("mark").all_inner_texts()[-1:] in (["giraffe"], ["Grouped-query attention"])
    assert len(first.locator(".course-search-excerpt").inner_text()) < 300


def test_the_count_is_spoken_and_the_address_follows(show):
    page = show()
    assert page.evaluate("document.activeElement.id") == "course-search-words"
    page.keyboard.type("giraffe")
    page.get_by_role("status").filter(has_text="One place in the course").wait_for()
    page.wait_for_url("**/search.html?q=giraffe")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/turning.html#turning-and-sharing")
    page.go_back()
    page.get_by_role("status").filter(has_text="One place").wait_for()
    type_words(page, "qqqqqq")
    assert page.get_by_role("status").inner_text() == "Nothing in the course has these words."
    type_words(page, "")
    assert page.get_by_role("status").inner_text() == "" and results(page) == []


def test_the_field_of_every_page_leads_here(open_sample):
    page = open_sample("turning.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("giraffe")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=giraffe")
    assert results(page) == ["turning.html#turning-and-sharing"]


def test_needs_no_script_inside_the_page(browser, sample):
    """The theme has some, which the strict policy stops; search works all the same, without Sphinx's own list."""
    assert not (sample / "searchindex.js").exists()
    page = browser.new_page()
    with serving(sample, STRICT) as origin:
        page.goto(f"{origin}/search.html?q=giraffe")
        page.locator(LINKS).first.wait_for()
        page.close()


def test_without_scripts_the_glossary_is_offered(show):
    page = show(java_script_enabled=False)
    said = page.locator(".course-search noscript p")
    assert said.is_visible()
    assert said.inner_text().startswith("Search needs JavaScript")
    assert said.locator("a").get_attribute("href") == "glossary.html"
    assert not page.get_by_role("searchbox", name="A question").is_visible()


def test_accessible_with_results(show, scheme, width):
    page = show("?q=zebra+GQA", scheme=scheme, width=width)
    assert len(results(page)) > 1
    assert run_axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]


def test_a_list_that_did_not_arrive_is_asked_for_again(browser, sample_host):
    """Until it is there the page says what it does, and that it failed."""
    page = browser.new_page()
    held = []
    page.route("**/search-index.js*", lambda route: held.append(route))
    page.goto(f"{sample_host}/search.html")
    status = page.get_by_role("status")
    page.get_by_role("searchbox", name="A question").fill("zebra")
    status.filter(has_text="Searching …").wait_for()
    held[0].abort()
    status.filter(has_text="The list did not arrive: type again.").wait_for()
    page.unroute("**/search-index.js*")
    type_words(page, "giraffe")
    assert results(page) == ["turning.html#turning-and-sharing"]
    page.close()


# Of the page's timer, between the last script's arrival and the first result.
COUNT_TURNS = """document.addEventListener("load", ({ target }) => {
  if (target.localName === "script") window.turns = 0;
}, true);
setInterval(() => document.querySelector(".course-search-results li") || window.turns++, 1);"""


def test_keys_are_taken_while_the_list_is_read(browser, site, origin):
    """The first question does not freeze the page: it has many turns before the answer is there."""
    context = browser.new_context()
    context.add_init_script(COUNT_TURNS)
    page = context.new_page()
    page.goto(f"{origin}/search.html")
    type_words(page, "temperature")
    assert results(page)
    assert page.evaluate("window.turns") > 10
    context.close()
