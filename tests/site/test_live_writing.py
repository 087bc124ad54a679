"""How the live model writes: greedily, by chance, on and on, and until it is stopped."""

import pytest
from explorer_pages import keep_seen, kept, pass_frames
from live_models import LIMIT, TEXT, encode, until


def test_writing_is_greedy_where_one_symbol_is_left_and_at_temperature_0(open_model, trained):
    """As `generate` does; one symbol, then up to the limit; and back, a press at a time. The slider ends at 2.5."""
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
    for left in (2, 1, 0):
        page.get_by_role("button", name="Undo").click()
        live.wait_for(text=expected[: len(TEXT) + left], written=left)
    live.press("top-k", "End")
    live.press("temperature", "Home")
    assert (live.output("temperature"), live.state["temperature"]) == ("0: the likeliest", 0)
    page.get_by_role("button", name="Let it write").click()
    live.wait_for(text=expected, writing=False)
    live.press("temperature", "End")
    assert live.output("temperature") == "2.5"
    live.press("temperature", "ArrowLeft")
    page.evaluate("location.hash = '#live=a&temperature=10'")  # of when the slider went further
    live.wait_for(text="a")
    assert live.state["temperature"] == pytest.approx(2.5, abs=0.001)
    assert page.errors == []


def test_what_is_drawn_can_be_repeated(open_model):
    """The same seed writes the same, another does not; what was typed is not taken back."""
    page, live = open_model()
    text, seen = f"{TEXT}a value ", []
    live.text.fill(text)
    for seed in ("1", "2", "1"):
        page.get_by_label("seed").fill(seed)
        page.get_by_role("button", name="Let it write").click()
        state = live.wait_for(written=LIMIT - len(text), writing=False)
        seen.append(state["text"])
        page.get_by_role("button", name="Undo").click()
        live.wait_for(written=0, text=text)
        assert page.get_by_role("button", name="Undo").is_disabled()
    assert seen[0] == seen[2] != seen[1]


# Acts as soon as the model has written so many characters.
ONCE_WRITTEN = """() => {
  window.onceWritten = (count, act) => {
    const view = document.querySelector(".course-live");
    const observer = new MutationObserver(() => {
      if (!view.explorer.state.writing || view.explorer.state.written < count) return;
      observer.disconnect();
      setTimeout(act); // when all of the character is shown
    });
    observer.observe(view, { subtree: true, childList: true, characterData: true });
  };
}"""


def test_writing_stops(open_model):
    """By the button that began it, which keeps its place and the focus; and by the choice of a character."""
    page, live = open_model(width="phone", clock=True)
    live.text.fill("a\n")
    live.wait_for(text="a\n")
    names = page.locator(".course-live-tokens button").evaluate_all("all => all.map((one) => one.ariaLabel)")
    assert names[1].startswith("new line, character 2,")
    said = page.locator(".course-live-said")
    page.clock.run_for(900)
    before = said.inner_text()
    page.evaluate(ONCE_WRITTEN)
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
          onceWritten(2, () => {
            window.moved = Math.abs(top() - at);
            window.named = button.textContent;
            button.click();
          });
        }"""
    )
    until(page, "window.named !== undefined")
    written = live.wait_for(writing=False)["written"]
    assert 0 < written < LIMIT - 2
    assert page.evaluate("[window.named, document.activeElement.textContent]") == ["Stop", "Let it write"]
    assert page.evaluate("window.moved") < 1
    assert set(page.evaluate("window.heard")) <= {""}  # no count for every character
    page.clock.run_for(1000)
    assert said.inner_text() != before and said.inner_text().startswith("It wrote “")
    undo = page.get_by_role("button", name="Undo")
    page.get_by_role("button", name="Let it write").click()
    page.evaluate(f"onceWritten({written + 1}, () => document.querySelector('.course-live-tokens button').click())")
    live.wait_for(writing=False, selected=0)
    page.clock.run_for(1000)
    undo.press("Enter")
    live.wait_for(written=written)
    page.clock.run_for(1000)
    assert not said.inner_text().startswith("It wrote “")  # what was taken back is no news
    undo.press("Enter")
    live.wait_for(written=0, text="a\n")
    assert undo.is_disabled() and undo.evaluate("one => one === document.activeElement")
    page.get_by_role("button", name="Let it write").click()
    page.evaluate("onceWritten(2, () => document.querySelector('.course-live-tokens button').click())")
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


def test_writing_goes_on_with_a_changed_model(open_model):
    """A switch does not stop it."""
    page, live = open_model()
    live.text.fill("a" * 40)
    live.wait_for(text="a" * 40)
    page.evaluate(
        """() => {
          [...document.querySelectorAll("button")].find((one) => one.textContent === "Let it write").click();
          const box = document.querySelector(".course-live-check input");
          let clicks = 0; // an odd number of them, while questions wait
          const timer = setInterval(() => (clicks++ < 31 ? box.click() : clearInterval(timer)), 7);
        }"""
    )
    state = live.wait_for(written=LIMIT - 40, writing=False)
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


def test_every_press_counts_however_quick_and_leaves_what_was_typed(open_model):
    """Before the model has answered, too: each writes a character, and takes one back that the model wrote.

    Nothing is written over a fault.
    """
    page, live = open_model()
    press = "[...document.querySelectorAll('button')].find((one) => one.textContent === '{}').click();"
    page.evaluate(press.format("One character") * 10)
    written = live.wait_for(written=10, writing=False)["text"]
    assert len(written) == len(TEXT) + 10 and live.text.input_value() == written
    page.get_by_role("button", name="Undo").click()
    assert live.wait_for(written=9)["text"] == written[:-1]
    page.evaluate(press.format("Undo") * 12)
    assert live.wait_for(written=0)["text"] == live.text.input_value() == TEXT
    keep_seen(page, "document.querySelector('.course-live').explorer.state.text")
    page.evaluate(
        f"""() => {{
          const area = document.querySelector(".course-live textarea");
          area.value = "é";
          area.dispatchEvent(new Event("input"));
          {press.format("One character")}
        }}"""
    )
    pass_frames(page)
    assert live.text.input_value() == "é"
    live.text.fill("read after all that was asked before")
    live.wait_for(text="read after all that was asked before")
    assert kept(page) == [TEXT, "read after all that was asked before"]


TYPE = """async ([text, keys]) => {
  const [view, area] = [document.querySelector(".course-live"), document.querySelector(".course-live textarea")];
  for (let key = 0; key < keys; key++) {
    const before = view.explorer;
    area.value = text.slice(0, -1) + "ab"[key % 2];
    area.dispatchEvent(new Event("input", { bubbles: true }));
    while (view.explorer === before) await new Promise((done) => setTimeout(done));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
}"""


def test_a_character_lays_the_page_out_once_for_each_frame(open_model):
    """Typed, for the box and for the answer, not for each part that is drawn; written once more, for the scroll."""
    page, live = open_model()
    counter = page.context.new_cdp_session(page)
    counter.send("Performance.enable")

    def count():
        metrics = counter.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "LayoutCount")

    page.evaluate(TYPE, [TEXT, 4])
    before = count()
    page.evaluate(TYPE, [TEXT, 20])
    typed = (count() - before) / 20
    live.text.fill(TEXT[:20])
    live.wait_for(text=TEXT[:20])
    before = count()
    for _ in range(10):
        page.get_by_role("button", name="One character").click()
    live.wait_for(written=10, writing=False)
    written = (count() - before) / 10
    assert typed < 2.5 and written < 3.5, (typed, written)
