"""The attention explorer on weights that were computed elsewhere, of layers and heads, in a real browser."""

import numpy as np
import pytest
import torch
from built_site import WIDTHS
from explorer_pages import Mounted, pass_frames
from own_models import WORDS
from visits import run_axe

from attention_course.explore import explore_attention

PRECISION = 1 / 8190 + 1e-9


def random_weights(*shape):
    return (torch.randn(*shape, generator=torch.Generator().manual_seed(0)) * 3).softmax(-1)


def explore(weights, tokens=None, **options):
    return explore_attention(weights=weights, tokens=tokens, **{"alt": "A model's attention.", **options})


def maps_of(mounted):
    return mounted.view.locator(".course-explorer-maps canvas")


def test_what_is_shown_is_what_is_handed_over(show):
    """All maps at once, then each layer and each head by itself, and a row as numbers; tokens are text."""
    given = random_weights(3, 2, 8, 8)
    mounted = Mounted(show(explore(given, WORDS)))

    def assert_shows(expected):
        np.testing.assert_allclose(mounted.weights, expected, rtol=0, atol=PRECISION)

    assert_shows(given.flatten(0, 1))
    assert maps_of(mounted).count() == 3 * 2
    for layer in range(3):
        mounted.control("layer").select_option(label=str(layer + 1))
        assert_shows(given[layer])
    mounted.control("head").select_option(label="head 2")
    assert_shows(given[2, 1:])
    mounted.view.locator(".course-explorer-queries button").nth(2).focus()
    assert mounted.row() == pytest.approx(given[2, 1, 2].tolist(), abs=5e-4 + PRECISION)
    assert mounted.view.locator(".course-explorer-row span").all_inner_texts() == WORDS
    mounted.control("layer").select_option(label="all")
    assert_shows(given[:, 1])
    assert mounted.state["layer"] == "all" and mounted.state["head"] == 2
    assert mounted.page.errors == []


def test_scores_have_layers_too(show):
    """Under a temperature and a mask, which reach all maps."""
    scores = torch.randn(2, 3, 4, 4, generator=torch.Generator().manual_seed(1))
    mounted = Mounted(show(explore_attention(scores, alt="Random.")))
    mounted.press("temperature", "End")
    mounted.control("mask").select_option(label="causal")
    expected = (scores.double() / 10).masked_fill(~torch.ones(4, 4).tril().bool(), -torch.inf).softmax(-1)
    np.testing.assert_allclose(mounted.weights, expected.flatten(0, 1), rtol=0, atol=1e-6)


def test_a_click_opens_a_map_and_a_button_leads_back(show):
    """The controls go along; in the grid there is no row to choose, and layers and heads are numbered beside it."""
    mounted = Mounted(show(explore(random_weights(2, 3, 5, 5))))
    lines = mounted.view.locator(".course-explorer-lines")
    back = mounted.view.get_by_role("button", name="All layers and heads")
    assert (lines.is_visible(), back.is_visible()) == (False, False)
    assert mounted.view.locator(".course-explorer-axis").all_inner_texts() == ["", "1", "2", "3", "1", "2"]
    mounted.page.get_by_text("2 layers, from top to bottom, with 3 heads each.").wait_for()
    assert "Choose a map, or a layer and a head" in mounted.view.locator(".course-explorer-said").inner_text()
    maps_of(mounted).nth(5).click()
    assert (mounted.state["layer"], mounted.state["head"]) == (2, 3)
    assert (mounted.control("layer").input_value(), mounted.control("head").input_value()) == ("2", "3")
    assert mounted.view.locator("figcaption").all_inner_texts() == ["layer 2, head 3"]
    assert lines.is_visible()
    back.click()
    assert (mounted.state["layer"], mounted.state["head"]) == ("all", "all")
    assert maps_of(mounted).count() == 6


def test_faint_weights_are_shown_at_will(show):
    """A weight has then the colour that its square root has else: 0.01 that of 0.1. (Names do not fit on such maps.)"""
    mounted = Mounted(show(explore(torch.tensor([[[0.01, 0.1, 0.3, *[0.59 / 57] * 57]] * 60] * 2))))

    def colour(key):
        return np.array(
            maps_of(mounted).first.evaluate(
                """(canvas, key) => {
                  const [size, ratio] = [(canvas.width / devicePixelRatio - 3) / 60, devicePixelRatio];
                  const [x, y] = [(1 + (key + 0.5) * size) * ratio, (1 + 30.5 * size) * ratio];
                  return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3)];
                }""",
                key,
            )
        )

    weak, strong = colour(0), colour(1)
    assert abs(weak - strong).max() > 15
    mounted.control("faint").check()
    np.testing.assert_allclose(colour(0), strong, atol=1)
    assert "middle: 0.25" in mounted.view.locator(".course-explorer-legend").inner_text()
    mounted.control("faint").uncheck()
    np.testing.assert_array_equal(colour(0), weak)


def test_what_was_cut_is_said(show):
    mounted = Mounted(show(explore(random_weights(2, 130, 130))))
    assert "only the first 128 of 130 tokens" in mounted.view.locator(".course-explorer-legend").inner_text()
    assert mounted.weights.shape == (2, 128, 128)


def read_colours(page, data: bytes, points: list[tuple[float, float]]) -> list[list[int]]:
    """The colours of a PNG at some points, given as shares of its width and height."""
    return page.evaluate(
        """async ([bytes, points]) => {
          const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
          const canvas = new OffscreenCanvas(image.width, image.height);
          const pen = canvas.getContext("2d", { willReadFrequently: true });
          pen.drawImage(image, 0, 0);
          return [[image.width, image.height], ...points.map(([x, y]) =>
            [...pen.getImageData(x * image.width, y * image.height, 1, 1).data])];
        }""",
        [list(data), points],
    )


def test_the_picture_is_saved_with_its_labels(show):
    """A file with a telling name, large enough for print: dark on the diagonal, and nowhere else. (It starts so.)"""
    weights = torch.eye(12).expand(2, 2, 12, 12)
    mounted = Mounted(show(explore(weights, [f"token{i}" for i in range(12)], layer=1, head=2), width="phone"))
    assert (mounted.state["layer"], mounted.state["head"], maps_of(mounted).count()) == (1, 2, 1)
    with mounted.page.expect_download() as download:
        mounted.view.get_by_role("button", name="Save as PNG").click()
    assert download.value.suggested_filename == "attention-layer-1-head-2.png"
    data = download.value.path().read_bytes()
    size, *corners = read_colours(mounted.page, data, [(0.95, 0.95), (0.25, 0.95), (0.02, 0.5)])
    assert max(size) >= 1600
    assert max(corners[0][:3]) < 100 and min(*corners[1], *corners[2]) > 240
    assert mounted.page.errors == []


def test_the_grid_is_saved_whole(show):
    """All maps are on it: each one's diagonal is as dark as the page draws it."""
    mounted = Mounted(show(explore(torch.eye(4).expand(3, 2, 4, 4))))
    dark = mounted.view.evaluate(
        """view => {
          const canvas = view.explorer.picture();
          const pen = canvas.getContext("2d");
          const box = view.querySelector(".course-explorer-maps").getBoundingClientRect();
          const scale = canvas.width / (box.width + 24);
          return [...view.querySelectorAll(".course-explorer-maps canvas")].map((map) => {
            const place = map.getBoundingClientRect();
            const at = (x, y) => pen.getImageData(scale * (place.left - box.left + 12 + x * place.width),
              scale * (place.top - box.top + 12 + y * place.height), 1, 1).data.slice(0, 3).reduce((a, b) => a + b);
            return [at(0.13, 0.13) < 200, at(0.87, 0.13) > 700];
          });
        }"""
    )
    assert dark == [[True, True]] * 6


def test_a_large_model_fits_and_is_accessible(show, width, scheme):
    """Twelve layers of twelve heads, in the grid and one by one."""
    page = show(explore(random_weights(12, 12, 20, 20), [f"[t{i}]" for i in range(20)]), width=width, scheme=scheme)
    mounted = Mounted(page)
    for layer in ("all", "3"):
        mounted.control("layer").select_option(label=layer)
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
        assert run_axe(page) == []
    assert page.errors == []


def test_a_map_stays_in_its_figure_whatever_the_theme_pads_figures_with(show):
    page = show(explore(random_weights(2, 3, 30, 30)))
    page.evaluate(
        """() => {
          const theme = new CSSStyleSheet();
          theme.replaceSync("figure { padding: 0.5rem; }");
          document.adoptedStyleSheets = [theme];
        }"""
    )
    page.set_viewport_size({"width": 600, "height": 900})  # laid out again
    pass_frames(page)
    out = page.evaluate(
        """[...document.querySelectorAll("figure")].filter((figure) => {
             const [inner, outer] = [figure.firstElementChild, figure].map((one) => one.getBoundingClientRect());
             return inner.right > outer.right + 1;
           }).length"""
    )
    assert out == 0
