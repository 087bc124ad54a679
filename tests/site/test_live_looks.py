"""What a stylesheet could take from a live model: on a phone, and in the reader's own colours."""

from explorer_pages import pass_frames

BARS = ".course-live-tokens button, .course-live-surprise span, .course-live-legend i, .course-live-next li"


def test_bars_stay_in_forced_colours(open_model):
    """They are all that shows the surprise; a button that does nothing looks so, and one that is chosen."""
    page, live = open_model(width="phone", forced_colors="active")
    seen = page.locator(BARS).evaluate_all(
        "all => all.map((one) => getComputedStyle(one)).map((style) => [style.backgroundImage, style.color])"
    )
    ink = page.evaluate("getComputedStyle(document.querySelector('textarea')).color")
    assert len(seen) > 100
    assert all(image.startswith("linear-gradient") and color == ink for image, color in seen)
    one, undo = (page.get_by_role("button", name=name) for name in ("One character", "Undo"))
    colour = "one => getComputedStyle(one).color"
    assert one.evaluate(colour) != undo.evaluate(colour)
    heads = page.locator(".course-live-chooser input")
    chosen = page.locator(".course-live-chooser input:checked + span")
    weights = "all => all.map((one) => getComputedStyle(one).fontWeight)"
    assert chosen.evaluate_all(weights) == ["700", "700"]
    boxes = [head.bounding_box() for head in heads.all()]
    sides = [min(box["width"], box["height"]) for box in boxes]
    assert len(sides) == 9 and min(sides) >= 24  # as a finger needs


def test_a_theme_changes_no_name_of_a_map(open_model):
    """The book's would print it pale, and beside the left edge of its map."""
    page, live = open_model()
    page.evaluate(
        """() => {
          const theme = new CSSStyleSheet();
          theme.replaceSync("figcaption { font-weight: 300; padding: 0.3rem; }");
          document.adoptedStyleSheets.push(theme);
        }"""
    )
    name = page.locator(".course-live figcaption").first
    style = name.evaluate("name => [getComputedStyle(name).fontWeight, getComputedStyle(name).padding]")
    assert style == ["400", "0px"]


def test_the_list_of_next_characters_begins_at_the_likeliest(open_model):
    """For another character; it stays where it is while a slider moves, and says at which temperature it is."""
    page, live = open_model()
    listed, heading = page.locator(".course-live-next ol"), page.locator(".course-live-next p")
    assert "expects next (" in heading.inner_text()
    listed.evaluate("list => list.scrollTop = 400")
    live.press("temperature", "Home")
    assert "expects next, at temperature 0: the likeliest (" in heading.inner_text()
    assert listed.evaluate("list => list.scrollTop") == 400
    page.locator(".course-live-tokens button").nth(4).click()
    assert listed.evaluate("list => list.scrollTop") == 0


def test_buttons_are_whole_before_the_model_has_answered(open_model):
    """The one that writes has its name, and nothing can be taken back that the model did not write."""
    page, live = open_model()
    seen = page.evaluate(
        """() => {
          const menu = document.querySelector(".course-live-choice select");
          menu.dispatchEvent(new Event("change")); // starts the model anew
          return new Promise((done) => new MutationObserver(() => {
            const buttons = [...document.querySelectorAll(".course-live-text button")];
            if (!document.querySelector(".course-live-cost").textContent) {
              buttons.at(-1)?.click();
              done(buttons.map((one) => [one.textContent, one.getAttribute("aria-disabled")]));
            }
          }).observe(document.querySelector(".course-live"), { childList: true }));
        }"""
    )
    assert seen == [["Let it write", "false"], ["One character", "false"], ["Undo", "true"]]
    live.wait_for(written=0)
    assert live.text.input_value() == live.state["text"]


def test_maps_are_drawn_again_for_other_colours_and_a_narrow_page_only(open_model):
    """The book's theme marks the body when the reader begins to scroll: nothing is drawn for that."""
    page, live = open_model()
    page.evaluate(
        """() => {
          const { strokeRect } = CanvasRenderingContext2D.prototype;
          window.drawn = 0;
          CanvasRenderingContext2D.prototype.strokeRect = function (...place) {
            window.drawn++;
            strokeRect.apply(this, place);
          };
          document.body.classList.add("scrolled");
        }"""
    )
    pass_frames(page)
    assert page.evaluate("window.drawn") == 0
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    pass_frames(page)
    assert page.evaluate("window.drawn") == 4  # the heads of the last block
    wide = page.locator("canvas").first.evaluate("canvas => canvas.width")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("wide => document.querySelector('canvas').width < wide", arg=wide)
