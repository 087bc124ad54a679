"""The live translator: its numbers beside PyTorch's, and what a reader can do with it."""

from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import pytest
import torch
from explorer_pages import Mounted, assert_follows_the_page, save_picture, write_pages
from playwright.sync_api import expect
from serving import serving
from visits import run_axe

from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore import explore_model
from attention_course.tasks.translation import ENGLISH, VOCABULARY

TEXT, OTHER, LIMIT = "the black cat does not love a small bee.", "these white geese never see my house.", 13
INTACT = {"heads": [[], []], "encoder": [], "decoder": []}


@pytest.fixture(scope="module")
def model():
    """Not trained, but as unequal as if it were; it never ends a sentence of itself."""
    torch.manual_seed(0)
    model = EncoderDecoder(len(VOCABULARY), 32, 4, 2, pad=0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.15 * torch.randn_like(parameter))
        model.logits.bias[1] = -100
    return model.half().double().eval()


@pytest.fixture
def open_translator(show, model):
    """A function that opens a page with the translator, once it has written."""

    def open_translator(**options):
        page = show(make(model), **options)
        return page, Live(page)

    return open_translator


def make(model, text=TEXT):
    options = {"alt": "A translator.", "limit": LIMIT, "source_words": [*ENGLISH, "."]}
    return explore_model(model, VOCABULARY, text, examples=[OTHER], **options)


class Live(Mounted):
    """The translator of a page."""

    def __init__(self, page):
        super().__init__(page)
        self.text = page.get_by_label("Your sentence")
        self.written = page.locator(".course-live-written button")
        self.cost = page.locator(".course-live-cost")
        self.fault = page.locator(".course-live-fault")
        self.said = page.locator(".course-live-said")
        self.block = page.locator(".course-live-section select").first
        self.view.locator(".course-live-cost:not(:empty)").wait_for()
        self.page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
        self.wait_for(writing=False)

    def wait_for(self, **state):
        """The state, once it holds what is asked for."""
        for _ in range(200):
            seen = self.state
            if all(seen[name] == value for name, value in state.items()):
                return seen
            self.page.wait_for_timeout(25)
        raise AssertionError(f"never {state}: {self.state}")

    def logits(self):
        """Those on show, a row for each word."""
        lens = self.view.evaluate("view => Array.from(view.explorer.sight.logits)")
        return np.reshape(lens, (-1, len(VOCABULARY)))


def encode(text):
    return [VOCABULARY.index(word) for word in text.replace(".", " .").split()]


@torch.no_grad()
def run(model, source, written):
    """Logits and cross-attention weights `(blocks, heads, words, source)`."""
    logits, weights = model(torch.tensor([source]), torch.tensor([written]), need_weights=True)
    return logits[0], torch.stack(weights)[:, 0]


def probability(model, source, written):
    shares = run(model, source, written)[0].softmax(-1)
    return shares[torch.arange(len(written)), written].prod().item()


def tell(share):
    """As the page writes a probability that is not tiny."""
    assert share > 1e-8
    return f"{float(f'{100 * share:.3g}'):.12f}".rstrip("0").rstrip(".") + "%"


def is_focused(button):
    return button.evaluate("button => button === document.activeElement")


@pytest.mark.parametrize("from_folder", [False, True])
def test_what_is_shown_is_pytorchs(open_translator, model, from_folder):
    """Greedy words, logits and weights, from the worker on a server and from the page itself in a folder."""
    page, live = open_translator(from_folder=from_folder)
    for text in (TEXT, "cat", OTHER):
        source = encode(text)
        live.text.fill(text)
        written = model.generate(torch.tensor([source]), LIMIT)[0].tolist()
        live.wait_for(source=source, written=written, writing=False)
        logits, weights = run(model, source, written)
        np.testing.assert_allclose(live.logits(), logits, rtol=0, atol=1e-4 * logits.abs().max().item())
        np.testing.assert_allclose(live.weights, weights[-1], rtol=0, atol=1e-4)
    looks = live.view.evaluate("view => view.explorer.looks")
    np.testing.assert_allclose(looks, weights[-1].mean(0), rtol=0, atol=1e-4)
    live.block.select_option(label="all")
    np.testing.assert_allclose(live.weights, weights.flatten(0, 1), rtol=0, atol=1e-4)
    assert len(page.workers) == (0 if from_folder else 1)
    assert page.errors == []
    assert all(url.startswith(("file:", "http://127.0.0.1", "data:")) for url in page.requests)


def test_where_workers_are_forbidden_the_page_computes(browser, model, tmp_path):
    """A stricter policy than ours costs the worker, and nothing else."""
    write_pages(tmp_path, [make(model)])
    with serving(tmp_path, "default-src 'self'; worker-src 'none'") as origin:
        page = browser.new_page()
        page.goto(f"{origin}/light.html")
        live = Live(page)
        assert live.state["written"] == model.generate(torch.tensor([encode(TEXT)]), LIMIT)[0].tolist()
        assert not page.workers
        page.close()


def test_unknown_words_and_long_sentences_are_said(open_translator):
    """They change nothing; French words are not read; a capital is; words can be chosen from a list."""
    page, live = open_translator()
    count = page.locator(".course-live-text p").first
    source = encode(TEXT)
    for wrong, said in (("the zebra sees a chat.", "“zebra”, “chat”:"), ("cat " * 14, "too long"), ("", "one word")):
        live.text.fill(wrong)
        assert said in live.fault.inner_text()
        assert live.text.get_attribute("aria-invalid") == "true"
        assert live.state["source"] == source
    assert live.text.get_attribute("aria-describedby") == live.fault.get_attribute("id")
    live.text.fill("The cat sees " + "cat " * 10)
    assert count.inner_text() == "13 of 13 words. The sentences it has read end with “.”."
    assert live.fault.inner_text() == ""
    live.wait_for(source=encode("the cat sees " + "cat " * 10), writing=False)
    live.text.fill("“The cat, often, sees a dog!”")
    live.wait_for(source=encode("the cat often sees a dog"), writing=False)
    page.get_by_role("button", name="clear the sentence").click()
    for word in ("a", "bee", "."):
        page.locator(".course-live-words").get_by_role("button", name=word, exact=True).click()
    assert count.inner_text() == f"3 of {LIMIT} words."
    live.wait_for(source=encode("a bee ."), writing=False)
    page.locator(".course-live-words").get_by_role("button", name="often", exact=True).click()
    assert live.text.input_value() == "a bee often."
    menu = page.get_by_label("or try")
    for text in (OTHER, TEXT, OTHER):
        menu.select_option(label=text)
        live.wait_for(source=encode(text), writing=False)
        live.text.fill("a bee.")
        assert menu.evaluate("menu => menu.selectedIndex") == 0


def test_faults_are_short_and_can_be_seen(open_translator):
    """However many words are unknown, however long, and where they have no shape or turn the direction of writing."""
    page, live = open_translator(width="phone")
    live.text.fill(" ".join(f"w{number}" for number in range(2000)))
    named = "“w0”, “w1”, “w2”, “w3”, “w4” and 1,995 others"
    assert live.fault.inner_text() == f"The model does not know {named}: nothing below has changed."
    live.text.fill("W" * 10_000)
    assert live.fault.inner_text() == f"The model does not know “{'W' * 30}…”: nothing below has changed."
    assert live.fault.evaluate("box => box.scrollWidth <= box.clientWidth")
    live.text.fill("c\u202ea \u200b")
    assert live.fault.locator("bdi").all_inner_texts() == ["cU+202Ea", "U+200B"]


def test_what_is_said(open_translator):
    """Nothing unasked; a fault alone, and once; then only what has changed."""
    page, live = open_translator()
    page.wait_for_timeout(1000)
    assert live.said.inner_text() == ""
    written = " ".join(VOCABULARY[symbol] for symbol in live.state["written"])
    live.text.fill("zebra")
    expect(live.said).to_have_text("The model does not know “zebra”: nothing below has changed.")
    live.written.nth(4).click()
    expect(live.said).to_contain_text(f"For “{VOCABULARY[live.state['written'][4]]}” the model looked at")
    assert "zebra" not in live.said.inner_text() and written not in live.said.inner_text()
    live.text.fill(OTHER)
    live.wait_for(source=encode(OTHER), writing=False)
    other = " ".join(VOCABULARY[symbol] for symbol in live.state["written"])
    expect(live.said).to_contain_text(f"The translation is “{other}”.")
    assert page.locator("[role=status]:not(:empty)").count() == 0


def test_a_chosen_word_shows_where_the_model_looked(open_translator, model):
    """By a click and by keys: three lines from the word, to the largest weights; one from each other in one row."""
    page, live = open_translator()
    source, written = encode(TEXT), live.state["written"]
    weights = run(model, source, written)[1]
    live.written.nth(5).click()
    page.keyboard.press("ArrowRight")
    live.wait_for(selected=6)
    lines = page.locator(".course-live-rows line")
    assert lines.count() == 3  # both sentences take two rows: others would run behind words
    for block, head, row in (("block 1", "head 3", weights[0, 2, 6]), ("block 2", "all", weights[1, :, 6].mean(0))):
        live.block.select_option(label=block)
        page.locator(".course-live-section select").nth(1).select_option(label=head)
        page.wait_for_timeout(100)
        best = row.topk(3)
        words = page.locator(".course-live-row span")
        for line, place, weight in zip(lines.all()[-3:], best.indices.tolist(), best.values.tolist(), strict=True):
            middle = words.nth(place).evaluate("word => word.offsetLeft + word.offsetWidth / 2")
            assert float(line.get_attribute("x1")) == pytest.approx(middle, abs=1)
            assert float(line.get_attribute("stroke-width")) == pytest.approx(1 + 5 * weight, abs=0.01)
    middle = live.written.nth(6).evaluate("word => word.offsetLeft + word.offsetWidth / 2")
    assert float(lines.last.get_attribute("x2")) == pytest.approx(middle, abs=1)
    assert "computed from the word before" in page.locator(".course-live-section").nth(1).inner_text()
    live.text.fill("a cat")
    live.wait_for(source=encode("a cat"), writing=False)
    page.get_by_role("button", name="Take all back").click()
    for count in (1, 2, 3):
        page.get_by_role("button", name="Write one word").click()
        live.wait_for(writing=False, selected=count - 1)
    assert lines.count() == 2 + 2  # the chosen word's, to each of two words, and one from each other


def test_writing_and_taking_back(open_translator, model):
    """One word, all of them, one less, none; by the keyboard too."""
    page, live = open_translator()
    full = live.state["written"]
    button = {name: page.get_by_role("button", name=name, exact=True) for name in ("Write all", "Take all back")}
    assert button["Write all"].is_disabled()
    page.get_by_role("button", name="Take back", exact=True).click()
    live.wait_for(written=full[:-1])
    button["Take all back"].focus()
    page.keyboard.press("Enter")
    live.wait_for(written=[], selected=0)
    assert is_focused(button["Take all back"])
    assert live.cost.inner_text() == "Nothing is written yet."
    assert live.written.all_inner_texts() == ["…"] and button["Take all back"].is_disabled()
    page.get_by_role("button", name="Write one word").focus()
    for count in (1, 2):
        page.keyboard.press("Enter")
        live.wait_for(written=full[:count], writing=False, selected=count - 1)
    logits = run(model, encode(TEXT), full[:3])[0]
    np.testing.assert_allclose(live.logits(), logits, rtol=0, atol=1e-4 * logits.abs().max().item())
    button["Write all"].focus()
    page.keyboard.press("Enter")
    live.wait_for(written=full, writing=False)
    assert is_focused(button["Write all"])


def test_a_sentence_ends_where_the_model_ends_it(show, model):
    """At the period, as `cut_after` does, and never behind it."""
    ending = EncoderDecoder(len(VOCABULARY), 32, 4, 2, pad=0)
    ending.load_state_dict(model.state_dict())
    written = model.generate(torch.tensor([encode(TEXT)]), LIMIT)[0].tolist()
    with torch.no_grad():
        logits = run(model, encode(TEXT), written)[0]
        gap = logits.max(-1).values - logits[:, 1]
        ending.logits.bias[1] += gap.sort().values[3].item() + 0.01
    expected = ending.double().half().double().generate(torch.tensor([encode(TEXT)]), LIMIT)[0].tolist()
    assert 1 in expected[:-1]
    live = Live(show(make(ending)))
    assert live.state["written"] == expected[: expected.index(1) + 1]
    assert live.page.get_by_role("button", name="Write one word").is_disabled()


def test_another_word_changes_what_follows(open_translator, model):
    """It stands where the reader puts it, and the model goes on greedily from there."""
    page, live = open_translator()
    source, full = encode(TEXT), live.state["written"]
    live.written.nth(2).click()
    items = page.locator(".course-live-instead button")
    assert items.count() == len(VOCABULARY)
    shares, order = run(model, source, full)[0][2].softmax(-1).sort(descending=True)
    for place in (0, 7, 160):
        assert items.nth(place).locator("span").inner_text() == VOCABULARY[order[place]]
        told = "<0.1%" if shares[place] < 0.0005 else f"{100 * shares[place].item():.1f}%"
        assert items.nth(place).locator("b").inner_text() == told
    assert items.first.get_attribute("aria-pressed") == "true"
    items.nth(7).click()
    expected = full[:2] + [order[7].item()]
    while len(expected) < LIMIT:
        expected.append(run(model, source, [*expected, 0])[0][-1].argmax().item())
    live.wait_for(written=expected, forced=[2], selected=2, writing=False)
    assert "chosen by you" in live.written.nth(2).get_attribute("aria-label")
    page.get_by_role("button", name="Take all back").click()
    page.get_by_role("button", name="Write all").click()
    live.wait_for(written=full, forced=[], writing=False)


def test_a_word_can_be_found(open_translator):
    """By a part of it; by arrows in both directions, from one tab stop; another place begins at its likeliest."""
    page, live = open_translator()
    items = page.locator(".course-live-instead button:visible")
    find = page.get_by_label("find a word")
    find.fill("vach")
    assert sorted(items.locator("span").all_inner_texts()) == ["vache", "vaches"]
    items.first.click()
    chosen = live.wait_for(writing=False, forced=[live.state["selected"]])
    assert VOCABULARY[chosen["written"][chosen["selected"]]].startswith("vache")
    live.written.nth(5).click()
    assert find.input_value() == "" and items.count() == len(VOCABULARY)
    stops = page.locator(".course-live-instead button[tabindex='0']")
    columns = items.evaluate_all("all => all.filter((one) => one.offsetTop === all[0].offsetTop).length")
    assert columns > 1
    items.first.focus()
    for key, place in (("ArrowDown", columns), ("ArrowRight", columns + 1), ("ArrowUp", 1), ("End", -1)):
        page.keyboard.press(key)
        assert is_focused(items.nth(place))
        assert stops.count() == 1 and is_focused(stops)
    page.keyboard.press("Home")
    page.locator(".course-live-instead").evaluate("list => list.scrollTop = 100")
    live.written.nth(2).click()
    assert page.locator(".course-live-instead").evaluate("list => list.scrollTop") == 0
    assert page.locator(".course-live-words button[tabindex='0']").all_inner_texts() == ["clear the sentence"]


def test_what_is_taken_out_costs_what_it_costs_in_pytorch(open_translator, model):
    """Heads of the cross-attention, an encoder and a decoder block; what is written stays, and its cost is told."""
    page, live = open_translator()
    source, written = encode(TEXT), live.state["written"][:3]
    for count in range(LIMIT - 1, 2, -1):
        page.get_by_role("button", name="Take back", exact=True).click()
        live.wait_for(written=live.state["written"][:count])
    live.wait_for(written=written)
    intact = probability(model, source, written)
    assert live.cost.inner_text() == f"The model gives these words, together, a probability of {tell(intact)}."

    def silence(_, inputs):
        parts = inputs[0].unflatten(-1, (4, -1)).clone()
        parts[:, :, [0, 2]] = 0
        return parts.flatten(-2)

    def empty(_, inputs, output):
        return torch.zeros_like(output)

    def check(group, name):
        page.get_by_role("group", name=group).get_by_role("checkbox", name=name, exact=True).click()

    encoder, decoder = model.encoder.blocks[1], model.decoder.blocks[0]
    steps = [
        ([("decoder block 2", "head 1"), ("decoder block 2", "head 3")], {"heads": [[], [0, 2]]}),
        ([("encoder", "encoder block 2")], {"encoder": [1]}),
        ([("decoder block 1", "decoder block 1")], {"decoder": [0]}),
    ]
    hooks = [
        lambda: [model.decoder.blocks[1].cross_attention.out_proj.register_forward_pre_hook(silence)],
        lambda: [part.register_forward_hook(empty) for part in (encoder.attention.out_proj, encoder.feed_forward[2])],
        lambda: [
            part.register_forward_hook(empty)
            for part in (decoder.attention.out_proj, decoder.cross_attention.out_proj, decoder.feed_forward[2])
        ],
    ]
    expected, made = dict(INTACT), []
    try:
        for (clicks, what), make_hooks in zip(steps, hooks, strict=True):
            for click in clicks:
                check(*click)
            expected |= what
            live.wait_for(changes=expected, written=written)
            made += make_hooks()
            told = f"{tell(probability(model, source, written))}; as it was trained, {tell(intact)}."
            assert live.cost.inner_text() == f"The model gives these words, together, a probability of {told}"
    finally:
        for hook in made:
            hook.remove()
    page.get_by_role("button", name="As it was trained").click()
    live.wait_for(changes=INTACT)


def copied(page):
    """The link that the button hands out."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link to this").click()
    page.locator(".course-live-status", has_text="Link copied.").wait_for()
    return page.evaluate("navigator.clipboard.readText()")


def damage(link):
    """Fragments that no page would write, made of one that a page wrote."""
    told = dict(parse_qsl(urlsplit(link).fragment))
    wrong = {
        "translate": ["", "the zebra", "cat " * 14],
        "written": [told["written"] + " le le", "zebra", ". le"],
        "forced": ["14", "x"],
        "word": ["0", "99", "two"],
        "off": ["9.1", "1"],
        "encoder": ["3"],
        "head": ["5"],
    }
    changed = [{**told, name: value} for name, values in wrong.items() for value in values]
    return [urlencode(one) for one in [*changed, {"translate": TEXT}]]


def test_a_link_restores_what_was_seen(open_translator):
    """In a fresh page: sentence, words, choices and what is off; a damaged one is said, and changes nothing."""
    page, live = open_translator()
    text = "“The cat, often, sees a dog.”"
    live.text.fill(text)
    live.wait_for(source=encode("the cat often sees a dog."), writing=False)
    live.written.nth(2).click()
    page.locator(".course-live-instead button").nth(7).click()
    live.wait_for(forced=[2], selected=2, writing=False)
    for name in ("encoder block 2", "decoder block 1"):
        page.get_by_role("checkbox", name=name, exact=True).click()
    off = page.get_by_role("group", name="decoder block 2").get_by_role("checkbox", name="head 3", exact=True)
    off.click()
    page.get_by_role("button", name="Take back", exact=True).click()
    live.written.nth(4).click()
    live.block.select_option(label="all")
    page.locator(".course-live-section select").nth(1).select_option(label="head 3")
    seen = live.wait_for(
        changes={"heads": [[], [2]], "encoder": [1], "decoder": [0]}, selected=4, block=0, head=3, forced=[2]
    )
    assert len(seen["written"]) == LIMIT - 1
    weights, logits, link = live.weights, live.logits(), copied(page)
    assert link.startswith(f"{page.url}#translate=") and link.endswith("&word=5")

    fresh = page.context.new_page()
    fresh.add_init_script(  # something above that grows when all has loaded
        "addEventListener('load', () => { document.querySelector('h1').style.height = '900px'; })"
    )
    fresh.goto(link)
    again = Live(fresh)
    assert again.state == seen
    np.testing.assert_array_equal(again.weights, weights)
    np.testing.assert_array_equal(again.logits(), logits)
    assert again.text.input_value() == text
    assert [box.is_checked() for box in fresh.get_by_role("checkbox").all()].count(False) == 3
    assert not fresh.get_by_role("checkbox", name="encoder block 2").is_checked()
    assert fresh.evaluate("Math.abs(document.querySelector('.course-live').getBoundingClientRect().top) < 100")

    said = fresh.locator(".course-live > [role=status]")
    for fragment in damage(link):
        fresh.evaluate("fragment => { location.hash = fragment; }", fragment)
        expect(said).to_have_text("This link could not be read.")
        fresh.locator(".course-live-cost").click()  # the reader goes on
        assert said.inner_text() == "" and fresh.evaluate("location.hash") == ""
    for foreign in ("top", "live=cat", "transl%E9"):
        fresh.evaluate("fragment => { location.hash = fragment; }", foreign)
        fresh.locator(".course-live-cost").click()
        assert said.inner_text() == "" and fresh.evaluate("location.hash") == f"#{foreign}"
    assert again.state == seen
    other = link.split("#")[1].replace("&word=5", "&utm_source=x&__proto__=1&word=1")
    fresh.evaluate("fragment => { location.hash = fragment; }", other)  # an address that is typed in the same page
    again.wait_for(selected=0, written=seen["written"])
    again.text.fill("zebra")
    fresh.get_by_role("button", name="Copy link to this").click()
    expect(fresh.locator(".course-live-status")).to_contain_text("with the text that the model has read last")
    fresh.close()
    assert page.errors == []


def test_a_picture_is_saved(open_translator, scheme, tmp_path):
    """Its size, its ground, its ink and its words; more below when maps are on show; nothing is cut off."""
    page, live = open_translator(scheme=scheme)
    page.evaluate(DRAWN)
    live.written.nth(2).click()
    page.locator(".course-live-instead button").nth(7).click()
    live.wait_for(forced=[2], writing=False)
    page.get_by_role("checkbox", name="encoder block 2").click()
    live.wait_for(changes=INTACT | {"encoder": [1]})
    heights = []
    for opened in (True, False):
        page.evaluate("open => { document.querySelectorAll('.course-live-section')[1].open = open; }", opened)
        name, height = save_picture(page, scheme, tmp_path)
        assert name == "translation-the-black-cat-does-not-love-a-small-bee.png"
        heights.append(height)
    assert heights[0] > heights[1] + 100 and 400 < heights[1] < 700
    drawn = page.evaluate("window.drawn")
    words = [word for word, _ in drawn]
    for symbol in (*encode(TEXT), *live.state["written"]):
        assert VOCABULARY[symbol] in words
    assert {"Off: encoder block 2.", "Dashed: chosen by the reader.", "The likeliest words at place 3:"} < set(words)
    assert words.count("map") == 2 * 4  # each picture is drawn twice, and the second has no maps
    assert all(right <= 660 for _, right in drawn)
    assert page.errors == []


# Keeps what is drawn: its words or "map", and where it ends at the right.
DRAWN = """() => {
  const { fillText, drawImage } = CanvasRenderingContext2D.prototype;
  window.drawn = [];
  Object.assign(CanvasRenderingContext2D.prototype, {
    fillText(text, x, ...rest) {
      if (!this.canvas.isConnected) window.drawn.push([text, x + this.measureText(text).width]);
      fillText.call(this, text, x, ...rest);
    },
    drawImage(image, x, y, width, ...rest) {
      if (image.isConnected) window.drawn.push(["map", x + width]);
      drawImage.call(this, image, x, y, width, ...rest);
    },
  });
}"""


def test_weights_are_loaded_when_the_reader_comes(show, model):
    """Once, from a file under a megabyte; without JavaScript, the first state is shown."""
    explorer = make(model)
    page = show(explorer)
    Live(page)
    assert [url.rsplit("/", 2)[-2] for url in page.requests].count("models") == 1
    assert page.locator(".course-explorer-first").count() == 0
    page = show(explorer, java_script_enabled=False)
    assert "is translated as" in page.locator(".course-explorer-first").inner_text()
    assert page.locator(".course-explorer-first svg").is_visible()


def test_maps_follow_the_page(open_translator):
    live = open_translator(width="desktop")[1]
    live.wait_for(writing=False)
    assert_follows_the_page(live)


def test_accessible_and_within_the_page(open_translator, scheme, width):
    """Axe finds nothing; nothing is wider than the screen, whatever is shown."""
    page, live = open_translator(scheme=scheme, width=width)
    live.block.select_option(label="all")
    assert run_axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []
