"""Explorers as Python makes them: what they refuse, and what they hand to a browser (see tests/site, tests/hosts)."""

import base64
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from matplotlib.figure import Figure
from refusing import refuses

from attention_course.explore import explore_attention, explore_frames, explore_heads, explore_steps

pytestmark = pytest.mark.usefixtures("close_figures")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
TOKENS = ["the", "cat", "sat"]
ONE = torch.randn(1, 3, 3)


def draw_bar(height=1.0):
    plt.figure(figsize=(2, 2))
    plt.bar([0], [height])


def draw_noise(seed):
    """A picture that SVG is bad at: ten thousand points."""
    figure, ax = plt.subplots(figsize=(2, 2))
    ax.scatter(*np.random.default_rng(seed).normal(size=(2, 10_000)))
    return figure


def attention(scores=None, **options):
    return explore_attention(torch.randn(3, 3) if scores is None else scores, **{"alt": "a map", **options})


def heads(**options):
    scores = {1: ONE, 2: torch.randn(2, 3, 3)}
    return explore_heads(**{"scores": scores, "accuracy": {1: 0.5, 2: 0.75}, "alt": "maps", **options})


def frames(grid=None, function=draw_bar, **options):
    return explore_frames(function, {"height": [1.0, 2.0]} if grid is None else grid, **{"alt": "a bar", **options})


def steps(**options):
    pairs = [("First this.", draw_bar), ("Then that.", draw_noise(0))]
    return explore_steps(**{"steps": pairs, "alt": "two steps", **options})


def page(explorer):
    return BeautifulSoup(explorer._repr_html_(), "html.parser")


def payload(explorer):
    """What the site's script is given."""
    return json.loads(page(explorer).script.string)


def unpack(scores):
    return np.frombuffer(base64.b64decode(scores["bytes"]), dtype=scores["dtype"])


test_bad_input_is_named = refuses(
    (r"scores must have shape .* got \(3,\)", lambda: attention(torch.randn(3))),
    (r"scores must have shape .* none of them 0, got \(0, 3\)", lambda: attention(torch.randn(0, 3))),
    (r"scores must be finite, got 2 values", lambda: attention([[float("inf"), float("-inf")]])),
    (r"scores must be real numbers, got bool", lambda: attention(torch.ones(3, 3) > 0)),
    (r"tokens must have 3 labels, got 2", lambda: attention(tokens=["a", "b"])),
    (r"keys must have 4 labels where there are 3 tokens", lambda: attention(torch.randn(3, 4), tokens=TOKENS)),
    (r"gold must be boolean of shape \(3, 3\)", lambda: attention(gold=torch.eye(3))),
    (r"gold must be boolean of shape \(3, 3\)", lambda: attention(gold=torch.ones(3, 2) > 0)),
    (r"mask must be one of none, causal, sliding window, got 'casual'", lambda: attention(mask="casual")),
    (r"got 'padding' \(padding needs a length\)", lambda: attention(mask="padding")),
    (r"length must be a whole number in 0..3 \(n_keys\), got 4", lambda: attention(length=4)),
    (r"length must be a whole number in 0..3 \(n_keys\), got 1.5", lambda: attention(length=1.5)),
    (r"temperature must lie in 0.05..10, got 0", lambda: attention(temperature=0)),
    (r"temperature must lie in 0.05..10, got nan", lambda: attention(temperature=float("nan"))),
    (r"query must be a whole number in 0..2, got 3", lambda: attention(query=3)),
    (r"query must be a whole number in 0..2, got -1", lambda: attention(query=-1)),
    (r"alt must say in words what the explorer shows, got ' '", lambda: attention(alt=" ")),
    (r"scores must hold at least one model", lambda: heads(scores={}, accuracy={})),
    (r"accuracy must be given for the models of scores \[1, 2\], got \[1\]", lambda: heads(accuracy={1: 0.5})),
    (r"accuracy\[2\] must lie in 0..1, got 75", lambda: heads(accuracy={1: 0.5, 2: 75})),
    (r"scores\[2\] must have shape \(2, 3, 3\), got \(1, 3, 3\)", lambda: heads(scores=dict.fromkeys([1, 2], ONE))),
    (r"scores\[1\] must be finite", lambda: heads(scores={1: [[float("nan")]], 2: torch.randn(2, 1, 1)})),
    (r"gold must be boolean of shape \(3, 3\)", lambda: heads(gold={"mentor": torch.eye(3)})),
    (r"gold must name at most two questions", lambda: heads(gold=dict.fromkeys("abc", torch.eye(3) > 0))),
    (r"gold must have different places for a and b", lambda: heads(gold=dict.fromkeys("ab", torch.eye(3) > 0))),
    (r"mask must be one of none, causal, sliding window, got 'padding'$", lambda: heads(mask="padding")),
    (r"grid must name one or two sliders", lambda: frames(grid={})),
    (r"grid must name one or two sliders", lambda: frames(grid={"a": [1, 2], "b": [1, 2], "c": [1, 2]})),
    (r"grid\['height'\] must have at least 2 values, all different", lambda: frames(grid={"height": [1.0]})),
    (r"all different, got \['1', '1'\]", lambda: frames(grid={"height": [1.0, 1.00001]})),
    (r"grid must have at most 200 frames, got 225", lambda: frames(grid={"a": range(15), "b": range(15)})),
    (r"label must be a name for each", lambda: frames(grid={"a": [1, 2], "b": [1, 2]}, label="both")),
    (r"label must name sliders of grid \['height'\], got \['width'\]", lambda: frames(label={"width": "w"})),
    (r"function\(height=1.0\) did neither", lambda: frames(function=lambda height: None)),
    (r"steps must be at least 2 pairs", lambda: steps(steps=[("Only this.", draw_bar)])),
    (r"step 2 must have a caption, got ''", lambda: steps(steps=[("First.", draw_bar), ("", draw_bar)])),
)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
def test_scores_arrive_to_the_last_bit(dtype):
    scores = (torch.randn(2, 3, 4) * 10).to(dtype)
    given = scores.requires_grad_() if dtype.is_floating_point else scores.tolist()
    (model,) = payload(attention(given))["values"]["data"]["models"]
    assert model["heads"] == 2
    assert torch.equal(torch.tensor(unpack(model["numbers"]), dtype=torch.float64), scores.double().flatten())


def test_labels_become_text_and_default_to_numbers():
    data = payload(attention(tokens=torch.tensor([7, 8, 9])))["values"]["data"]
    assert data["queries"] == data["keys"] == ["7", "8", "9"]
    data = payload(attention(torch.randn(2, 3), tokens=["a", "b"], keys="xyz"))["values"]["data"]
    assert (data["queries"], data["keys"]) == (["a", "b"], ["x", "y", "z"])
    assert payload(attention(torch.randn(2, 3)))["values"]["data"]["keys"] == ["1", "2", "3"]


def test_gold_of_heads_has_a_frame_for_each_question():
    mentor, friend = (torch.eye(3).roll(by, 1) > 0 for by in (1, 2))
    none = torch.zeros(3, 3) > 0
    for gold, dashed, note in (
        ({"mentor": mentor}, none, "frames: mentor"),
        ({"mentor": mentor, "friend": friend}, friend, "frames: mentor, dashed: friend"),
    ):
        values = payload(heads(gold=gold))["values"]
        assert values["gold"] is True
        assert values["data"]["gold"] == sum(gold.values(), none).tolist()
        assert values["data"]["frames"] == {"note": note, "dashed": dashed.tolist()}
    assert payload(heads())["values"]["data"]["gold"] is None


def control_names(explorer):
    return [control["name"] for control in payload(explorer)["controls"]]


def test_a_control_is_offered_where_there_is_something_to_control():
    assert control_names(attention()) == ["temperature", "mask"]
    assert control_names(attention(mask=None)) == ["temperature"]
    assert control_names(attention(temperature=None)) == ["mask"]
    full = attention(torch.randn(2, 3, 3), gold=torch.eye(3) > 0, length=2)
    assert control_names(full) == ["temperature", "head", "mask", "gold"]
    masks = next(control for control in payload(full)["controls"] if control["name"] == "mask")
    assert masks["options"] == ["none", "causal", "padding", "sliding window"]
    assert control_names(heads()) == ["heads"]
    assert control_names(frames(grid={"height": [1, 2]})) == ["height"]
    assert control_names(steps()) == ["step"]


HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a & \u2028 \"b\" 'c'"]


def test_no_token_is_ever_html():
    for labels in ({"tokens": HOSTILE}, {"keys": HOSTILE}):
        explorer = attention(**labels)
        assert len(page(explorer).find_all("script")) == 1
        assert page(explorer).find_all("img") == []
        data = payload(explorer)["values"]["data"]
        assert HOSTILE in (data["queries"], data["keys"])
        drawn = {label if len(label) <= 24 else f"{label[:23]}…" for label in HOSTILE}
        assert {text.string for text in page(explorer).find_all("text")} >= drawn
    described = page(steps(alt=HOSTILE[1], steps=[(HOSTILE[0], draw_bar), (HOSTILE[1], draw_bar)]))
    assert len(described.find_all("img")) == len(described.find_all("script")) == 1


def test_the_html_has_no_style_and_no_handler_of_its_own():
    for explorer in (attention(), heads(), frames(), steps()):
        names = {name for tag in page(explorer).find_all(True) for name in tag.attrs}
        assert "style" not in names
        assert not [name for name in names if name.startswith("on")]


def test_the_first_state_shows_the_weights():
    """Rows of [2, 0], [0, 0]: at temperature 1 one weight of 0.88 and 0.12, and two of 0.5; in twentieths."""
    scores = torch.tensor([[2.0, 0.0], [0.0, 0.0]])
    for options, shades in (
        ({}, ["0.1", "0.5", "0.9"]),
        ({"temperature": 0.5}, ["0.5", "1"]),
        ({"temperature": 4.0}, ["0.4", "0.5", "0.6"]),
        ({"mask": "causal"}, ["0.5", "1"]),
        ({"mask": "padding", "length": 0}, []),
    ):
        drawing = page(attention(scores, **options))
        assert [path["stroke-opacity"] for path in drawing.find_all("path")] == shades
    drawing = page(attention(scores, tokens=["q", "r"]))
    assert [text.string for text in drawing.find_all("text")][:4] == ["q", "r", "q", "r"]
    assert drawing.svg["aria-label"] == "a map" and drawing.svg["role"] == "img"


def draw_waves(frequency):
    """A picture that pixels are bad at: one smooth line on a large page, and no letters."""
    figure, ax = plt.subplots(figsize=(8, 8))
    ax.plot(np.sin(frequency * np.linspace(0, 6, 100)))
    ax.axis("off")
    return figure


def test_frames_are_the_smaller_of_two_formats():
    (line, _) = payload(explore_frames(draw_waves, {"frequency": [1, 2]}, alt="a line"))["values"]["data"]["frames"]
    assert line.startswith("data:image/svg+xml;base64,")
    (noise, _) = payload(explore_frames(draw_noise, {"seed": [0, 1]}, alt="noise"))["values"]["data"]["frames"]
    assert noise.startswith("data:image/webp;base64,")


def test_frames_behind_one_that_is_smaller_in_pixels_are_not_drawn_as_svg_too(monkeypatch):
    savefig, formats = Figure.savefig, []

    def spy(figure, file, *, format, **options):
        formats.append(format)
        savefig(figure, file, format=format, **options)

    monkeypatch.setattr(Figure, "savefig", spy)
    frames = payload(explore_frames(draw_noise, {"seed": [0, 1, 2]}, alt="noise"))["values"]["data"]["frames"]
    assert formats == ["svg", "webp", "webp", "webp"]
    assert len(set(frames)) == 3


def test_frames_run_over_the_grid_with_the_last_slider_fastest():
    called = []

    def draw(low, high):
        called.append((low, high))
        draw_bar(high)

    explorer = explore_frames(draw, {"low": [0.1, 0.2], "high": [1, 2, 3]}, label={"low": "lower end"}, alt="bars")
    assert called == [(0.1, 1), (0.1, 2), (0.1, 3), (0.2, 1), (0.2, 2), (0.2, 3)]
    labels = [(control["label"], control["options"]) for control in payload(explorer)["controls"]]
    assert labels == [("lower end", ["0.1", "0.2"]), ("high", ["1", "2", "3"])]


def test_frames_start_where_they_are_told():
    """The sliders, and the picture that is seen without scripts."""
    grid = {"low": [0.1, 0.2], "height": [1, 2, 3]}
    start = {"low": 0.2, "height": 2}
    shown = explore_frames(lambda low, height: draw_bar(low * height), grid, start=start, alt="bars")
    assert [shown.values[control.trait] for control in shown.controls] == [1, 1]
    assert page(shown).img["src"] == payload(shown)["values"]["data"]["frames"][4]
    with pytest.raises(ValueError, match="start must name values of the sliders"):
        frames(start={"height": 3})


def test_frames_leave_no_figure_open_and_close_nobody_elses():
    mine = plt.figure()
    frames()
    assert plt.get_fignums() == [mine.number]


def test_a_figure_given_to_steps_is_closed_or_a_notebook_would_show_it_twice():
    given = plt.figure(figsize=(2, 2))
    explore_steps([("Given.", given), ("Drawn.", draw_bar)], alt="two steps")
    assert plt.get_fignums() == []


def test_a_frame_drawn_again_is_the_same():
    assert payload(frames())["values"]["data"]["frames"] == payload(frames())["values"]["data"]["frames"]


def test_a_notebook_is_offered_widgets_and_a_page_html():
    for explorer in (attention(torch.randn(2, 3, 3), gold=torch.eye(3) > 0), heads(), frames(), steps()):
        data, _ = explorer._repr_mimebundle_()
        assert set(data) == {"text/plain", "text/html", WIDGET_VIEW}
        assert data[WIDGET_VIEW]["model_id"] == explorer.widget.model_id
        assert explorer.alt in data["text/plain"]


def test_the_widgets_are_the_controls_and_the_view():
    """That they move the view is tested where they do, in tests/hosts."""
    *controls, view = attention(torch.randn(2, 3, 3), gold=torch.eye(3) > 0, length=2, temperature=2).widget.children
    assert [control.description for control in controls] == ["temperature", "head", "mask", "show gold"]
    assert (controls[0].value, view.temperature, controls[1].value) == (2.0, 2.0, "all, side by side")
    assert controls[2].options == ("none", "causal", "padding", "sliding window")


@pytest.mark.parametrize("control", ["\0", "\x07", "\x1b", "\x0b", "\ufffe", "\ud800"])
def test_a_saved_picture_is_xml_whatever_stands_in_its_words(control, tmp_path):
    """And what XML takes is left as it is."""
    words = f"bell{control} tab\t é 🙂"
    explore_attention(torch.zeros(2, 2), [words, "b"], alt=f"Maps: {words}.").save(tmp_path / "first.svg")
    root = ElementTree.parse(tmp_path / "first.svg").getroot()
    expected = "bell\N{REPLACEMENT CHARACTER} tab\t é 🙂"
    assert root.get("aria-label") == f"Maps: {expected.replace(chr(9), ' ')}."  # XML reads a tab in an attribute so
    assert expected in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]


def test_the_views_are_in_the_wheel(tmp_path):
    root = Path(__file__).parents[3]
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([*build, str(tmp_path), str(root)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    needed = ("attention.js", "frames.js", "explorers.css", "parts/save.js", "page/mount.js")
    assert {f"attention_course/explore/views/{name}" for name in needed} <= names
