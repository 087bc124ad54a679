"""The live model: its numbers beside PyTorch's, and what a reader can do with it."""

import json
import math
import re
from urllib.parse import urlencode

import numpy as np
import pytest
import torch
from explorer_pages import Mounted, assert_follows_the_page, bundle_live, save_picture, write_pages
from playwright.sync_api import expect
from serving import serving
from visits import run_axe

from attention_course.attention import DotProductAttention
from attention_course.checkpoints import load_character_model
from attention_course.explore import explore_model
from attention_course.explore.bundle import join
from attention_course.explore.explorer import VIEWS

BUDGET = 40_000  # bytes of script, uncompressed
TEXT = "Return the item of *d* with key "
LIMIT = 64
SCALE = "(0: it was sure of each; 1: each was a coin toss)"
INTACT = {"heads": [[], [], []], "blocks": [], "positions": True, "masked": True}


@pytest.fixture(scope="module")
def trained():
    """The recorded model in float64, and its vocabulary."""
    model, vocabulary = load_character_model()
    return model.double(), vocabulary


@pytest.fixture
def open_model(show, trained):
    """A function that opens a page with the live model, once it has run."""

    def open_model(**options):
        model, vocabulary = trained
        explorer = explore_model(model, vocabulary, TEXT, alt="A model.", examples=["for x in range"], limit=LIMIT)
        page = show(explorer, **options)
        return page, Live(page)

    return open_model


class Live(Mounted):
    """The live model of a page."""

    def __init__(self, page):
        super().__init__(page)
        self.text = page.get_by_label("Your text")
        self.cost = page.locator(".course-live-cost")
        self.view.locator(".course-live-cost:not(:empty)").wait_for()
        self.page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")

    def wait_for(self, **state):
        """The state, once it holds what is asked for."""
        for _ in range(200):
            seen = self.state
            if all(seen[name] == value for name, value in state.items()):
                return seen
            self.page.wait_for_timeout(25)
        raise AssertionError(f"never {state}: {self.state}")

    def check(self, name, index=0):
        """Switch a part of the model, and wait for what it makes of the text."""
        before = self.state["changes"]
        self.page.get_by_role("checkbox", name=name, exact=True).nth(index).click()
        for _ in range(200):
            if self.state["changes"] != before:
                return
            self.page.wait_for_timeout(25)
        raise AssertionError(f"{name} changed nothing")

    def logits(self, n):
        """Those on show, `(n_tokens, n_symbols)`."""
        lens = self.view.evaluate("view => Array.from(view.explorer.sight.lenses.at(-1))")
        return np.reshape(lens, (n, -1))


def encode(text, vocabulary):
    return torch.tensor([[vocabulary.index(character) for character in text]])


@torch.no_grad()
def bits(model, symbols, mask=None):
    """Mean cost of each symbol but the first."""
    logits, _ = model(symbols, mask)
    return torch.nn.functional.cross_entropy(logits[0, :-1], symbols[0, 1:]).item() / math.log(2)


def switch_off(model, off):
    """Hooks that silence heads, pairs (block, head)."""

    def hook(head):
        def silence(_, inputs):
            parts = inputs[0].unflatten(-1, (4, -1)).clone()
            parts[:, :, head] = 0
            return parts.flatten(-2)

        return silence

    return [model.blocks[b].attention.out_proj.register_forward_pre_hook(hook(h)) for b, h in off]


@pytest.mark.parametrize("from_folder", [False, True])
def test_what_is_shown_is_pytorchs(open_model, trained, from_folder):
    """Logits and the weights on show, from the worker on a server and from the page itself in a folder."""
    model, vocabulary = trained
    page, live = open_model(from_folder=from_folder)
    for text in (TEXT, "x", "The for statement\n  is used"):
        live.text.fill(text)
        live.wait_for(text=text, selected=len(text) - 1)
        with torch.no_grad():
            logits, weights = model(encode(text, vocabulary), need_weights=True)
        largest = logits.abs().max().item()
        np.testing.assert_allclose(live.logits(len(text)), logits[0].numpy(), rtol=0, atol=1e-4 * largest)
        np.testing.assert_allclose(live.weights, weights[-1][0].numpy(), rtol=0, atol=1e-4)
    page.get_by_role("combobox", name="block", exact=True).select_option(label="all")
    np.testing.assert_allclose(live.weights, torch.cat(weights)[:].flatten(0, 1).numpy(), rtol=0, atol=1e-4)
    assert len(page.workers) == (0 if from_folder else 1)
    assert page.errors == []
    assert all(url.startswith(("file:", "http://127.0.0.1", "data:")) for url in page.requests)


def test_where_workers_are_forbidden_the_page_computes(browser, trained, tmp_path):
    """A stricter policy than ours costs the worker, and nothing else."""
    model, vocabulary = trained
    write_pages(tmp_path, [explore_model(model, vocabulary, TEXT, alt="A model.")])
    with serving(tmp_path, "default-src 'self'; worker-src 'none'") as origin:
        page = browser.new_page()
        page.goto(f"{origin}/light.html")
        live = Live(page)
        assert f"Average surprise: {bits(model, encode(TEXT, vocabulary)):.2f} bits" in live.cost.inner_text()
        assert not page.workers
        page.close()


def test_unknown_characters_and_long_texts_are_said(open_model):
    """They change nothing, and the text is left as it was typed."""
    page, live = open_model()
    for wrong, said in (
        ("naïve é", "“\u2068ï\u2069”, “\u2068é\u2069”"),
        ("a" * (LIMIT + 1), "too long"),
        ("", "at least one"),
    ):
        live.text.fill(wrong)
        assert said in page.locator(".course-live-text [role=status]").inner_text()
        assert live.text.get_attribute("aria-invalid") == "true"
        assert live.text.input_value() == wrong
        live.wait_for(text=TEXT)
        assert page.get_by_role("button", name="One character").is_disabled()  # it would write over what was typed
    live.text.fill("".join(map(chr, range(0x4E00, 0x4E00 + 2000))) + "\u202e")
    told = page.locator(".course-live-text [role=status]")
    assert told.inner_text().endswith("and 1,996 others: nothing below has changed.")
    assert told.bounding_box()["height"] < 100
    live.text.fill("\u202e\u200b")
    assert "“\u2068U+202E\u2069”, “\u2068U+200B\u2069”" in told.inner_text()
    assert live.text.get_attribute("aria-describedby") == told.get_attribute("id")
    live.text.fill("a" * LIMIT)
    live.wait_for(text="a" * LIMIT)
    assert "The box is full" in told.inner_text()
    assert live.text.get_attribute("aria-invalid") == "false"
    example = page.get_by_label("or try")
    for _ in range(2):  # the same one twice
        example.select_option(label="for x in range")
        live.wait_for(text="for x in range")
        live.text.fill("x")
        live.wait_for(text="x")
        assert example.evaluate("menu => menu.selectedOptions[0].label") == "your own text"


def test_the_distribution_is_that_of_the_token_that_is_followed(open_model, trained):
    """By a click and by keys; with the sliders; and the symbols that are cut have none of it."""
    model, vocabulary = trained
    page, live = open_model()
    tokens = page.locator(".course-live-tokens button")
    tokens.nth(7).click()
    page.keyboard.press("ArrowLeft")
    assert live.wait_for(selected=6)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert live.wait_for(selected=6)
    live.press("temperature", *["ArrowRight"] * 8)
    live.press("top-k", "Home", *["ArrowRight"] * 9)
    live.press("top-p", *["ArrowLeft"] * 5)
    state = live.state
    assert state["topK"] == 10 and state["topP"] == 0.7 and state["temperature"] == pytest.approx(10 ** (8 / 93))
    with torch.no_grad():
        logits = model(encode(TEXT, vocabulary))[0][0, 6]
    shares, order = (logits / state["temperature"]).softmax(-1).sort(descending=True)
    kept = min(10, int((shares.cumsum(0) < 0.7).sum()) + 1)
    assert 1 < kept < 10  # both cuts could be seen
    rows = page.locator(".course-live-next li")
    assert rows.count() == len(vocabulary)
    for place in (0, kept - 1):
        shown = float(rows.nth(place).locator("b").inner_text().rstrip("%"))
        assert shown == pytest.approx(100 * (shares[place] / shares[:kept].sum()).item(), abs=0.051)
        assert rows.nth(place).locator("span").inner_text()[0] == vocabulary[order[place]].replace(" ", "␣")
    nexts = [text for text in rows.locator("span").all_inner_texts() if text.endswith(" ←")]
    assert nexts == [f"{TEXT[7].replace(' ', '␣')} ←"]
    assert "← stands in your text" in page.locator(".course-live-next p").inner_text()
    assert rows.nth(kept).locator("b").inner_text().startswith("cut")
    assert f"{kept} of {len(vocabulary)} characters" in page.locator(".course-live-next p").inner_text()


def test_writing_is_greedy_where_one_symbol_is_left(open_model, trained):
    """As `generate` at temperature 0; one symbol, then up to the limit; and back."""
    model, vocabulary = trained
    page, live = open_model()
    greedy = model.generate(encode(TEXT, vocabulary), LIMIT - len(TEXT), temperature=0.0)[0]
    expected = "".join(vocabulary[symbol] for symbol in greedy)
    live.press("top-k", "Home")
    page.get_by_role("button", name="One character").focus()
    for count in (1, 2):  # by the keyboard, which stays where it is
        page.keyboard.press("Enter")
        live.wait_for(text=expected[: len(TEXT) + count], writing=False)
    page.get_by_role("button", name="Let it write").click()
    live.wait_for(text=expected, writing=False)
    assert page.get_by_role("button", name="One character").is_disabled()
    page.get_by_role("button", name="Undo").click()
    live.wait_for(text=expected[:-1], writing=False)
    assert page.errors == []


def test_what_is_drawn_can_be_repeated(open_model):
    """The same seed writes the same, another does not; what was typed is not taken back."""
    page, live = open_model()
    seen = []
    for seed in ("1", "2", "1"):
        page.get_by_label("seed").fill(seed)
        page.get_by_role("button", name="Let it write").click()
        state = live.wait_for(written=LIMIT - len(TEXT), writing=False)
        seen.append(state["text"])
        for left in range(LIMIT - len(TEXT) - 1, -1, -1):
            page.get_by_role("button", name="Undo").click()
            live.wait_for(written=left)
        assert page.get_by_role("button", name="Undo").is_disabled()
    assert seen[0] == seen[2] != seen[1]


def test_writing_stops(open_model):
    """By the button that began it, which keeps its place and the focus; and by the choice of a character."""
    page, live = open_model(width="phone")
    live.text.fill("a\n\t"[:2])
    live.wait_for(text="a\n")
    names = page.locator(".course-live-tokens button").evaluate_all("all => all.map((one) => one.ariaLabel)")
    assert names[1].startswith("new line, character 2,")
    said = page.locator(".course-live-said")
    page.wait_for_timeout(900)
    before = said.inner_text()
    page.evaluate(
        """() => {
          window.heard = [];
          const hear = () => window.heard.push(document.querySelector(".course-live-text [role=status]").textContent);
          new MutationObserver(hear).observe(document.querySelector(".course-live-text"),
            { subtree: true, childList: true, characterData: true, attributes: false });
          const button = [...document.querySelectorAll("button")].find((one) => one.textContent === "Let it write");
          button.focus();
          const top = () => button.getBoundingClientRect().top;
          const at = top();
          button.click();
          setTimeout(() => {
            window.moved = Math.abs(top() - at);
            window.named = button.textContent;
            button.click();
          }, 250);
        }"""
    )
    until(page, "window.named !== undefined")
    written = live.wait_for(writing=False)["written"]
    assert 0 < written < LIMIT - 2
    assert page.evaluate("[window.named, document.activeElement.textContent]") == ["Stop", "Let it write"]
    assert page.evaluate("window.moved") < 1
    assert set(page.evaluate("window.heard")) <= {""}  # no count for every character
    page.wait_for_timeout(1000)
    assert said.inner_text() != before and said.inner_text().startswith("It wrote “")
    undo = page.get_by_role("button", name="Undo")
    for left in range(written - 1, -1, -1):
        undo.press("Enter")
        live.wait_for(written=left)
    assert undo.is_disabled() and undo.evaluate("one => one === document.activeElement")
    page.get_by_role("button", name="Let it write").click()
    page.evaluate("setTimeout(() => document.querySelector('.course-live-tokens button').click(), 150)")
    page.wait_for_timeout(600)
    assert 0 < live.wait_for(writing=False, selected=0)["written"] < LIMIT - 2
    live.text.fill("\n" * (LIMIT - 9))
    live.wait_for(text="\n" * (LIMIT - 9))
    page.get_by_role("button", name="Let it write").press("Enter")  # to the limit
    live.wait_for(written=9, writing=False)
    assert page.evaluate("document.activeElement.textContent") == "Let it write"
    assert live.text.evaluate("area => area.scrollTop + area.clientHeight >= area.scrollHeight - 1")
    # A finger that scrolls the page begins on a map, and chooses nothing; one that taps does.
    row = live.state["selected"]
    first = page.locator(".course-live canvas").first
    first.scroll_into_view_if_needed()
    first.dispatch_event("pointerdown", {"clientY": first.bounding_box()["y"] + 5})
    assert live.state["selected"] == row > 9
    first.click(position={"x": 20, "y": 5})
    assert live.state["selected"] < 9
    assert page.errors == []


def test_what_is_taken_out_costs_what_it_costs_in_pytorch(open_model, trained):
    """Heads, a block, the positions, the mask, each beside the intact model; then all back."""
    model, vocabulary = trained
    page, live = open_model()
    symbols = encode(TEXT, vocabulary)
    intact = bits(model, symbols)
    everything = torch.ones(len(TEXT), len(TEXT), dtype=torch.bool)

    def said(cost):
        return f"Average surprise: {cost:.2f} bits a character; as the model was trained, {intact:.2f}."

    unchanged = f"Average surprise: {intact:.2f} bits a character {SCALE}."
    assert live.cost.inner_text() == unchanged
    live.check("head 2", 0)
    live.check("head 4", 2)
    hooks = switch_off(model, [(0, 1), (2, 3)])
    assert live.cost.inner_text() == said(bits(model, symbols))
    live.check("mask: hide the future")
    assert live.cost.inner_text() == said(bits(model, symbols, everything))
    beside = page.locator("details:has(> summary:text('Take something out')) .course-live-note")
    assert beside.inner_text() == live.cost.inner_text()  # on a phone the switches stand far below the text
    for hook in hooks:
        hook.remove()
    page.get_by_role("button", name="As it was trained").click()
    live.wait_for(changes=INTACT)
    live.check("block 2")
    live.check("positions")
    layers = [block.attention for block in model.blocks]
    rotary = [layer.attention for layer in layers]
    for layer in layers:
        layer.attention = DotProductAttention()
    out = [
        part.register_forward_hook(lambda _, inputs, output: torch.zeros_like(output))
        for part in (layers[1].out_proj, model.blocks[1].feed_forward[2])
    ]
    try:
        assert live.cost.inner_text() == said(bits(model, symbols))
    finally:
        for hook in out:
            hook.remove()
        for layer, mechanism in zip(layers, rotary, strict=True):
            layer.attention = mechanism
    page.get_by_role("button", name="As it was trained").click()
    live.wait_for(changes=INTACT)
    assert live.cost.inner_text() == unchanged


def test_the_other_model_reads_the_same_text(show, trained):
    """The one that was trained without the mask: nothing hidden, until the reader hides it."""
    model, vocabulary = trained
    cheat, _ = load_character_model("unmasked")
    page = show(explore_model(model, vocabulary, TEXT, alt="Two models.", limit=LIMIT, unmasked=cheat))
    live = Live(page)
    live.text.fill("another text")
    live.wait_for(text="another text")
    intact = live.state["changes"]
    page.locator(".course-live-choice select").select_option(label="trained without the mask")
    for _ in range(200):
        if live.state["changes"] != intact:
            break
        page.wait_for_timeout(25)
    symbols = encode("another text", vocabulary)
    everything = torch.ones(12, 12, dtype=torch.bool)
    cost, honest = bits(cheat.double(), symbols, everything), bits(cheat, symbols)
    assert live.state["text"] == "another text" and len(live.state["changes"]["heads"]) == 2
    assert live.cost.inner_text() == f"Average surprise: {cost:.2f} bits a character {SCALE}."
    live.check("mask: hide the future")
    assert live.cost.inner_text().startswith(f"Average surprise: {honest:.2f} bits")
    assert len(page.workers) == 1 and page.locator(".course-live-tokens").count() == 1
    assert page.errors == []


def test_a_token_is_followed_through_the_blocks(open_model, trained):
    """What the model would say after each block, and the lengths of what is added."""
    model, vocabulary = trained
    page, live = open_model()
    page.locator(".course-live-tokens button").nth(9).click()
    streams = []

    def keep(_, inputs, output):
        streams.append(output[0][0, 9])

    hooks = [block.register_forward_hook(keep) for block in model.blocks]
    symbols = encode(TEXT, vocabulary)
    with torch.no_grad():
        model(symbols)
        streams.insert(0, model.embedding(symbols)[0, 9])
        rows = page.locator(".course-live-follow tbody tr")
        for row, stream in zip(rows.all(), streams, strict=True):
            share, symbol = model.logits(model.norm(stream)).softmax(-1).max(-1)
            told = vocabulary[symbol].replace(" ", "␣").replace("\n", "⏎")
            assert row.locator("td").nth(0).inner_text().startswith(f"“{told}”\u00a0{round(100 * share.item())}%")
            assert float(row.locator("td").nth(2).inner_text()) == pytest.approx(stream.norm().item(), abs=0.051)
    for hook in hooks:
        hook.remove()


def test_weights_are_loaded_when_the_reader_comes(show, trained):
    """Not before; until then, and without JavaScript, the first state is shown."""
    model, vocabulary = trained
    explorer = explore_model(model, vocabulary, TEXT, alt="A model.", limit=LIMIT)
    page = show(HighExplorer(), explorer)
    page.wait_for_timeout(300)
    assert not any("/models/" in url for url in page.requests)
    assert page.locator(".course-explorer-first").is_visible()
    page.locator(".course-live").scroll_into_view_if_needed()
    page.locator(".course-live-cost:not(:empty)").wait_for()
    assert [url.rsplit("/", 2)[-2] for url in page.requests].count("models") == 1
    assert page.locator(".course-explorer-first").count() == 0
    page = show(explorer, java_script_enabled=False)
    assert "the likeliest next characters are" in page.locator(".course-explorer-first").inner_text()
    assert page.locator(".course-explorer-first svg").is_visible()


class HighExplorer:
    """Something that stands above: more than a screen of it."""

    def _repr_html_(self):
        return '<svg width="10" height="2000" aria-hidden="true"></svg>'


def test_maps_follow_the_page(open_model):
    assert_follows_the_page(open_model(width="desktop")[1])


def test_accessible_and_within_the_page(open_model, scheme, width):
    """Axe finds nothing; nothing is wider than the screen, whatever is shown."""
    page, live = open_model(scheme=scheme, width=width)
    page.get_by_role("combobox", name="block", exact=True).select_option(label="all")
    assert run_axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 320, "height": 700})
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []


@pytest.mark.parametrize(("view", "most_style"), [("model", 7_000), ("translator", 5_000)])
def test_the_script_is_small_and_strict(view, most_style):
    """Under 40 kB, and nothing in it that a strict policy or a folder would refuse."""
    script = bundle_live(view)
    assert len(script.encode()) < BUDGET
    words = ("eval(", "new Function", "import(", "import ", "export ", "innerHTML")
    assert not [word for word in words if word in script]
    assert (VIEWS / f"{view}.css").stat().st_size < most_style


def test_what_the_reader_chose_outlives_another_model(show, trained):
    """Folds, sliders, seed and the switches that the other model has as well."""
    model, vocabulary = trained
    cheat, _ = load_character_model("unmasked")
    page = show(explore_model(model, vocabulary, TEXT, alt="Two models.", limit=LIMIT, unmasked=cheat))
    live = Live(page)
    page.locator("summary", has_text="Follow one character").click()  # closes it
    live.press("temperature", *["ArrowRight"] * 8)
    live.press("top-p", *["ArrowLeft"] * 5)
    page.get_by_label("seed").fill("7")
    live.check("head 2", 0)
    live.check("block 3")
    page.get_by_role("combobox", name="block", exact=True).select_option(label="block 1")
    page.locator(".course-live-choice select").select_option(label="trained without the mask")
    state = live.wait_for(model=1)
    assert (state["temperature"], state["topP"], state["seed"]) == (pytest.approx(10 ** (8 / 93)), 0.7, 7)
    assert state["changes"] == {"heads": [[1], []], "blocks": [], "positions": True, "masked": False}
    assert state["block"] == 1 and live.weights.shape[0] == 4
    assert live.output("temperature") == "1.22" and page.get_by_label("seed").input_value() == "7"
    assert not page.get_by_role("checkbox", name="head 2", exact=True).first.is_checked()
    folds = page.locator("details").evaluate_all("boxes => boxes.map((box) => box.open)")
    assert folds == [True, True, True, False, True]
    assert page.errors == []


def until(page, expression):
    """Wait, by questions from outside: the policy lets a page evaluate nothing."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"never {expression}")


# Answers requests for weights when it is told to, the newest first.
HOLD = """() => {
  const { append } = Element.prototype;
  window.held = [];
  document.head.append = (element) => window.held.push(element);
  window.release = () => window.held.splice(0).reverse().forEach((element) => append.call(document.head, element));
}"""


def test_only_the_model_that_was_chosen_last_starts(show, trained):
    """However long the others take to load."""
    model, vocabulary = trained
    cheat, _ = load_character_model("unmasked")
    page = show(HighExplorer(), explore_model(model, vocabulary, TEXT, alt="Two.", limit=LIMIT, unmasked=cheat))
    page.evaluate(HOLD)
    page.locator(".course-live").scroll_into_view_if_needed()
    until(page, "window.held.length === 1")
    page.locator(".course-live-choice select").select_option(label="trained without the mask")
    until(page, "window.held.length === 2")
    page.evaluate("window.release()")
    live = Live(page)
    live.wait_for(model=1)
    page.wait_for_timeout(500)
    assert live.state["model"] == 1 and page.locator(".course-live-tokens").count() == 1
    assert page.locator(".course-live > .course-live-note").all_inner_texts() == ["", ""]
    assert page.errors == []


NOTEBOOK = """<!doctype html><html lang="en"><title>A notebook</title><body><div id="here"></div>
<script type="module" src="start.mjs"></script></body></html>"""
START = """import view from "./view.mjs";
const data = await (await fetch("data.json")).json();
const el = document.getElementById("here");
window.leave = view.render({ model: { get: () => data }, el });
"""


@pytest.fixture
def notebook(browser, trained, tmp_path):
    """The view as a module, as notebooks load it."""
    model, vocabulary = trained
    explorer = explore_model(model, vocabulary, TEXT, alt="A model.", limit=LIMIT)
    files = {
        "index.html": NOTEBOOK,
        "start.mjs": START,
        "view.mjs": join(VIEWS / "model.js"),
        "data.json": json.dumps(explorer.values["data"]),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with serving(tmp_path) as origin:
        page = browser.new_page()
        page.goto(f"{origin}/index.html")
        yield page
        page.close()


def test_a_notebook_offers_no_link(notebook):
    """Its page is not the model's own."""
    notebook.locator(".course-live-cost:not(:empty)").wait_for()
    assert notebook.locator(".course-live-share button").all_inner_texts() == ["Save as picture"]


def test_a_view_that_is_taken_away_starts_nothing(notebook):
    """A model that has loaded by then is not started."""
    notebook.locator(".course-live-cost:not(:empty)").wait_for()
    notebook.evaluate(
        """() => {
          document.querySelector(".course-live-choice select").dispatchEvent(new Event("change")); // loads it again
          window.leave();
        }"""
    )
    notebook.wait_for_timeout(500)
    assert notebook.locator(".course-live-tokens").count() == 0


def test_writing_goes_on_with_a_changed_model(open_model):
    """A switch does not stop it."""
    page, live = open_model()
    live.text.fill("a")
    live.wait_for(text="a")
    page.evaluate(
        """() => {
          [...document.querySelectorAll("button")].find((one) => one.textContent === "Let it write").click();
          const box = document.querySelector(".course-live-check input");
          let clicks = 0; // an odd number of them, while questions wait
          const timer = setInterval(() => (clicks++ < 31 ? box.click() : clearInterval(timer)), 7);
        }"""
    )
    state = live.wait_for(written=LIMIT - 1, writing=False)
    assert state["changes"]["blocks"] == [0]
    assert page.errors == []


def test_a_late_picture_does_not_move_what_is_followed(open_model):
    """Between a longer text and its answer the old picture may be drawn again."""
    page, live = open_model(from_folder=True)
    live.text.fill("abc")
    live.wait_for(text="abc", selected=2)
    page.evaluate(
        """() => {
          const area = document.querySelector("textarea");
          area.value = "abcdefgh";
          area.dispatchEvent(new Event("input"));
          document.querySelector("[data-control=top-k]").dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    live.wait_for(text="abcdefgh", selected=7)


def test_at_temperature_0_the_likeliest_is_written(open_model, trained):
    """As `generate` does."""
    model, vocabulary = trained
    page, live = open_model()
    live.press("temperature", "Home")
    assert live.output("temperature") == "0: the likeliest"
    assert live.state["temperature"] == 0
    page.get_by_role("button", name="Let it write").click()
    greedy = model.generate(encode(TEXT, vocabulary), LIMIT - len(TEXT), temperature=0.0)[0]
    live.wait_for(text="".join(vocabulary[symbol] for symbol in greedy), writing=False)


def test_symbols_are_told_in_quotes(open_model):
    """A comma among others could not be read."""
    page, live = open_model()
    live.text.fill("class Point")
    live.wait_for(text="class Point")
    told = page.locator(".course-live-says").last.inner_text()
    assert re.fullmatch(r"(“.”\u00a0\d+%(, )?){3}", told)


# --- links and pictures ------------------------------------------------------------------------


def copied(page):
    """The link that the button hands out."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link to this").click()
    page.locator(".course-live-status", has_text="Link copied.").wait_for()
    return page.evaluate("navigator.clipboard.readText()")


def test_a_link_restores_what_was_seen(show, trained):
    """In a fresh page: text, token, changes, sampling, model, maps and folds."""
    model, vocabulary = trained
    cheat, _ = load_character_model("unmasked")
    page = show(explore_model(model, vocabulary, TEXT, alt="Two models.", limit=LIMIT, unmasked=cheat))
    live = Live(page)
    live.wait_for(open=[0, 1, 2, 3, 4])
    assert copied(page) == f"{page.url}#{urlencode({'live': TEXT, 'open': '1 2 3 4 5', 'token': len(TEXT)}, safe='*')}"
    page.locator(".course-live-choice select").select_option(label="trained without the mask")
    live.wait_for(model=1)
    page.get_by_label("seed").fill("4294967303")
    page.get_by_label("seed").blur()
    assert page.get_by_label("seed").input_value() == "4294967295"  # the largest, and what it draws with
    text = "a, b & c = 100% #\n+ é"[:-1]
    live.text.fill(text)
    live.wait_for(text=text)
    live.check("head 2", 0)
    live.check("block 2")
    live.check("positions")
    live.check("mask: hide the future")
    live.press("temperature", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    live.press("top-k", "ArrowLeft")
    live.press("top-p", "ArrowLeft")
    page.get_by_label("seed").fill("4000000000")  # more than 31 bits
    page.get_by_role("combobox", name="block", exact=True).select_option(label="block 1")
    page.get_by_role("combobox", name="head", exact=True).select_option(label="head 3")
    page.locator("summary", has_text="Follow one character").click()
    page.locator(".course-live-tokens button").nth(4).click()
    seen, weights = live.wait_for(selected=4, open=[0, 1, 2, 4]), live.weights
    link = copied(page)
    fresh = page.context.new_page()
    fresh.goto(link)
    fresh.locator(".course-live-cost:not(:empty)").wait_for()
    live = Mounted(fresh)
    assert live.state == seen
    np.testing.assert_array_equal(live.weights, weights)
    assert fresh.get_by_label("Your text").input_value() == text
    assert fresh.locator("details").evaluate_all("boxes => boxes.map((box) => box.open)") == [True] * 3 + [False, True]
    fresh.evaluate("location.hash = '#live=another'")  # an address that is typed in the same page
    Live(fresh).wait_for(text="another", model=0, changes=INTACT)
    assert page.errors == []


DAMAGED = ["live", "live=%E9", "live=" + "a" * (LIMIT + 1), "live=a&token=2", "live=a&off=9.1", "live=a&model=2",
           "live=a&temperature=hot", "live=a&temperature=", "live=a&temperature=1e400", "live=a&temperature=Infinity",
           "live=a&top-p=2", "live=a&mask=perhaps", "live=a&seed=-1", "live=a&seed=4294967296"]  # fmt: skip


def test_a_damaged_or_foreign_fragment_is_ignored(show, trained):
    """The page is as without it, and says so of a link; what others add to a link does no harm."""
    model, vocabulary = trained
    page = show(explore_model(model, vocabulary, TEXT, alt="A model.", limit=LIMIT))
    first = Live(page).state
    said = page.locator(".course-live > [role=status]")
    fresh = page.context.new_page()
    fresh.goto(f"{page.url}#live=%E9")
    assert Live(fresh).state == first
    assert fresh.locator(".course-live > [role=status]").inner_text() == "This link could not be read."
    fresh.close()
    page.evaluate("location.hash = 'top'")
    assert said.inner_text() == ""
    for fragment in DAMAGED:
        page.evaluate("fragment => { location.hash = fragment; }", fragment)
        until(page, "document.querySelector('.course-live > [role=status]').textContent !== ''")
        page.locator(".course-live-legend").click()  # the reader goes on
        assert said.inner_text() == "" and page.evaluate("location.hash") == ""
    page.wait_for_timeout(300)
    assert Live(page).state["text"] == TEXT
    page.evaluate("location.hash = 'live=a&open=2+1&utm_source=x&__proto__=1'")
    Live(page).wait_for(text="a")
    assert page.errors == []


def test_a_link_leads_to_its_model(show, trained):
    """When the page opens, though all above it grows, and when it is open; until the reader changes something."""
    model, vocabulary = trained
    cheat, _ = load_character_model("unmasked")
    two = explore_model(model, vocabulary, TEXT, alt="Two.", limit=LIMIT, unmasked=cheat)
    page = show(HighExplorer(), two, HighExplorer())
    top = "document.querySelector('.course-live').getBoundingClientRect().top"
    page.evaluate("location.hash = 'live=hello+world&model=2'")  # it has never been seen
    live = Live(page)
    live.wait_for(text="hello world", model=1)
    until(page, f"Math.abs({top}) < 100")
    page.wait_for_timeout(300)
    assert live.state["model"] == 1 and page.locator(".course-live-tokens").count() == 1
    fresh = page.context.new_page()
    fresh.add_init_script(  # something above that grows when all has loaded
        "addEventListener('load', () => { document.querySelector('h1').style.height = '900px'; })"
    )
    fresh.goto(page.url)
    live = Live(fresh)
    assert fresh.evaluate(f"Math.abs({top}) < 100")
    live.text.fill("é invalid")
    assert fresh.evaluate("location.hash") == ""  # the page as it is now is another
    fresh.locator(".course-live-choice select").select_option(label="trained with the mask")
    live.wait_for(model=0, text="hello world")
    assert live.text.input_value() == "é invalid" and live.text.get_attribute("aria-invalid") == "true"
    assert fresh.locator(".course-live-text [role=status]").inner_text().startswith("The model does not know")
    fresh.context.grant_permissions(["clipboard-read", "clipboard-write"])
    fresh.get_by_role("button", name="Copy link to this").click()
    fresh.locator(".course-live-status", has_text="with the text that the model has read last").wait_for()
    fresh.close()
    assert page.errors == []


def test_without_a_clipboard_the_link_is_shown(open_model):
    """In a field, selected, to be copied by hand."""
    page, live = open_model(from_folder=True)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy link to this").click()
    field = page.get_by_label("link to what you see")
    assert field.input_value().startswith(f"{page.url}#live=Return+the+item")
    selected = field.evaluate("field => [field === document.activeElement, field.selectionEnd - field.selectionStart]")
    assert selected == [True, len(field.input_value())]
    assert "copy the link yourself" in page.locator(".course-live-status[role=status]").inner_text()


# Keeps what is drawn: its words or "map", where it ends at the right, and how opaque it is.
DRAWN = """() => {
  const { fillText, drawImage } = CanvasRenderingContext2D.prototype;
  window.drawn = [];
  Object.assign(CanvasRenderingContext2D.prototype, {
    fillText(text, x, ...rest) {
      if (this.canvas.style.width === "680px" || !this.canvas.style.width) {
        window.drawn.push([text, this.textAlign === "start" ? x + this.measureText(text).width : 0, this.globalAlpha]);
      }
      fillText.call(this, text, x, ...rest);
    },
    drawImage(image, x, y, width, ...rest) {
      if (image.isConnected) window.drawn.push(["map", x + width, this.globalAlpha]);
      drawImage.call(this, image, x, y, width, ...rest);
    },
  });
}"""


@pytest.mark.parametrize("from_folder", [False, True])
def test_a_picture_is_saved(open_model, from_folder, scheme, tmp_path):
    """Its size, its ground, its ink, and more below when maps are on show."""
    page, live = open_model(from_folder=from_folder, scheme=scheme)
    heights = []
    for opened in (True, False):
        page.evaluate(f"document.querySelector('.course-live details').open = {str(opened).lower()}")
        name, height = save_picture(page, scheme, tmp_path)
        assert name == "live-model-return-the-item-of-d-with-key.png"
        heights.append(height)
    assert heights[0] > heights[1] + 100 and 300 < heights[1] < 600
    page.evaluate(DRAWN)
    page.evaluate("document.querySelector('.course-live details').open = true")
    live.check("head 2", 0)
    live.check("head 3", 2)
    live.check("positions")
    with page.expect_download():
        page.get_by_role("button", name="Save as picture").click()
    drawn = page.evaluate("window.drawn")
    assert [words for words, _, _ in drawn if words.startswith("Off: ")] == [
        "Off: block 1 head 2, block 3 head 3, positions."
    ] * 2
    assert all(right <= 660 for _, right, _ in drawn)  # no line is cut off
    assert [alpha for words, _, alpha in drawn if words == "map"][-4:] == pytest.approx([1, 1, 0.35, 1])
    assert "Picture saved." in page.locator(".course-live-status").inner_text()
    assert page.errors == []


def test_weights_wait_until_the_page_has_loaded(show, trained):
    """A model at the top of a page does not delay what the page loads of itself."""
    model, vocabulary = trained
    page = show(HighExplorer(), explore_model(model, vocabulary, TEXT, alt="A model.", limit=LIMIT))
    page.evaluate("Object.defineProperty(document, 'readyState', { value: 'interactive' })")
    page.locator(".course-live").scroll_into_view_if_needed()
    page.locator(".course-live-note", has_text="Loading the model").wait_for()
    page.wait_for_timeout(300)
    assert not any("/models/" in url for url in page.requests)
    page.evaluate("dispatchEvent(new Event('load'))")
    Live(page)


def test_the_arrows_move_between_rows_of_characters(open_model):
    """To the nearest in the row below and back, as in the translator's lists; one of them is a stop of the keyboard."""
    page, live = open_model(width="phone")
    tokens = page.locator(".course-live-tokens button")
    columns = tokens.evaluate_all("all => all.filter((one) => one.offsetTop === all[0].offsetTop).length")
    tokens.nth(3).click()
    for key, token in (("ArrowDown", columns + 3), ("ArrowUp", 3), ("End", len(TEXT) - 1), ("Home", 0)):
        page.keyboard.press(key)
        assert live.state["selected"] == token
        assert tokens.nth(token).evaluate("one => one === document.activeElement")
        assert page.locator(".course-live-tokens button[tabindex='0']").count() == 1


def test_a_button_that_is_pressed_again_leaves_what_was_typed(open_model):
    """Before the model has answered: nothing more is taken back than it wrote, and nothing is written over a fault."""
    page, live = open_model()
    page.get_by_role("button", name="One character").click()
    live.wait_for(written=1, writing=False)
    press = "[...document.querySelectorAll('button')].find((one) => one.textContent === '{}').click();"
    page.evaluate(press.format("Undo") * 3)
    assert live.wait_for(written=0)["text"] == live.text.input_value() == TEXT
    page.evaluate(
        f"""() => {{
          const area = document.querySelector(".course-live textarea");
          area.value = "é";
          area.dispatchEvent(new Event("input"));
          {press.format("One character")}
        }}"""
    )
    page.wait_for_timeout(300)
    assert live.text.input_value() == "é" and live.state["text"] == TEXT


def test_a_link_leads_to_one_of_two_models(show, trained):  # noqa: F811
    """The other stays as the page begins, and an address says which only where it is not the first."""
    model, vocabulary = trained
    one = explore_model(model, vocabulary, TEXT, alt="A model.", limit=LIMIT)
    page = show(one, one)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for index, told in enumerate(("#live=", "#at=2&live=")):
        page.get_by_label("Your text").nth(index).fill("another")
        live = Mounted(page, index)
        live.view.locator(".course-live-cost:not(:empty)").wait_for()
        expect(live.view.locator(".course-live-tokens button")).to_have_count(7)
        live.view.get_by_role("button", name="Copy link to this").click()
        expect(live.view.locator(".course-live-status")).to_have_text("Link copied.")
        link = page.evaluate("navigator.clipboard.readText()")
        assert link.startswith(page.url + told)
        fresh = page.context.new_page()
        fresh.goto(link)
        for place in range(2):
            box = fresh.get_by_label("Your text").nth(place)
            expect(box).to_have_value("another" if place == index else TEXT)
        fresh.close()
    assert page.errors == []
