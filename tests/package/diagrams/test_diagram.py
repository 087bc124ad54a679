"""The kit: what is drawn is what was given."""

import numpy as np
import pytest
import torch
from reading import SVG, drawn, parse, strengths, texts

from attention_course.diagrams import Diagram


@pytest.fixture
def picture():
    return Diagram("A picture. It shows <one> thing.", height=200)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_a_tensor_is_drawn_as_it_is(picture, dtype):
    values = torch.tensor([[0.5, -1.25, 0.0], [2.0, -0.0625, 1.0]]).to(dtype)
    picture.tensor(10, 10, values, name="scores", cell=22)
    assert np.array_equal(drawn(picture)["scores"], values.double().numpy())


def test_a_vector_is_one_row(picture):
    picture.tensor(10, 10, torch.tensor([1.0, 2.0], requires_grad=True), name="query", cell=22)
    assert drawn(picture)["query"].tolist() == [[1, 2]]


def test_the_colour_says_sign_and_size(picture):
    picture.tensor(0, 0, [1.0, -0.5, 0.0, -2.0], name="scores", cell=22)
    assert np.allclose(strengths(picture, "scores"), [0.4, -0.2, 0, -0.8])
    picture.tensor(0, 50, [1.0, -0.5], name="on one scale", cell=22, largest=4)
    assert np.allclose(strengths(picture, "on one scale"), [0.2, -0.1])


def test_the_sign_is_not_said_by_colour_alone(picture):
    picture.tensor(0, 0, [-1.0, 1.0, -1.0], name="scores", cell=22)
    assert len(list(parse(picture).iter(f"{SVG}path"))) == 2


def test_written_numbers_have_two_decimals_and_a_true_minus(picture):
    picture.tensor(0, 0, [0.256, -0.5, 1.0, -12.0, 10.25, -0.0], name="scores", cell=22, numbers=True)
    assert texts(picture) == [".26", "−.50", "1", "−12", "10.25", "0"]


def test_a_number_that_is_rounded_to_a_whole_one_keeps_its_decimals(picture):
    """What is left of a softmax is no 0, and the rest no 1, unless 32 bits hardly tell them apart."""
    picture.tensor(0, 0, [0.9993, 0.0003, -0.001, 1.9999, 1 - 1e-7, 1e-7, -1e-9], name="scores", cell=22, numbers=True)
    assert texts(picture) == ["1.00", ".00", ".00", "2.00", "1", "0", "0"]


def test_labels_stand_beside_their_rows_and_over_their_columns(picture):
    picture.tensor(50, 50, torch.eye(2), name="weights", cell=22, rows=["the", "W_Q"], columns=["a", "b <&>"])
    assert texts(picture) == ["the", "WQ", "a", "b <&>"]


def test_parts_of_a_tensor_can_be_pointed_at(picture):
    grid = picture.tensor(10, 20, torch.zeros(2, 3), name="scores", cell=(30, 20))
    assert (grid.width, grid.height) == (90, 40)
    assert grid.cell(1, 2).centre == (85, 50)
    assert grid.row(1).left == (10, 50)
    assert grid.column(0).top == (25, 20)


def test_areas_know_the_middles_of_their_sides(picture):
    box = picture.box(10, 20, 100, 40, "decoder\nstep", tone="query")
    assert [box.left, box.right, box.top, box.bottom] == [(10, 40), (110, 40), (60, 20), (60, 60)]
    assert texts(picture) == ["decoder", "step"]


def test_an_arrow_ends_where_it_should(picture):
    picture.arrow((0, 0), (50, 0), (50, 80), label="down")
    line, head = parse(picture).iter(f"{SVG}path")
    assert line.get("d") == "M0 0L50 0L50 80"
    assert head.get("transform") == "translate(50 80) rotate(90)"


def test_a_line_is_as_thick_as_its_weight(picture):
    picture.line((0, 0), (10, 10), weight=0.5)
    (line,) = parse(picture).iter(f"{SVG}path")
    assert (line.get("stroke-width"), line.get("data-value")) == ("4", "0.5")


def test_it_says_what_it_shows(picture):
    root = parse(picture)
    assert (root.get("role"), root.find(f"{SVG}title").text) == ("img", "A picture")
    assert root.find(f"{SVG}desc").text == "It shows <one> thing."
    assert repr(picture) == "Diagram: A picture. It shows <one> thing."


def test_the_same_picture_has_the_same_bytes():
    def draw():
        picture = Diagram("A picture.", height=100)
        picture.tensor(10, 10, torch.linspace(-1, 1, 6).view(2, 3), name="scores", cell=22, numbers=True)
        picture.arrow((0, 0), (10, 30))
        return picture.svg

    assert draw() == draw()
    assert " id=" not in draw()  # nothing that two pictures of a page could share by mistake
    assert "style=" not in draw()  # which the site's security policy refuses


def test_what_cannot_be_drawn_is_refused(picture):
    with pytest.raises(ValueError, match="alt must say in words what the diagram shows, got ''"):
        Diagram("", height=10)
    with pytest.raises(ValueError, match="width must be at most 480 units.*got 600"):
        Diagram("A picture.", height=10, width=600)
    with pytest.raises(ValueError, match=r"values must have shape .* got \(1, 2, 3\)"):
        picture.tensor(0, 0, torch.zeros(1, 2, 3), name="scores", cell=22)
    for strange in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="values must be finite, got 2 that are not in 'scores'"):
            picture.tensor(0, 0, [strange, 1.0, strange], name="scores", cell=22)
    with pytest.raises(ValueError, match="rows must have 2 labels or none, got 1"):
        picture.tensor(0, 0, torch.zeros(2, 3), name="scores", cell=22, rows=["the"])
    picture.tensor(0, 0, torch.zeros(2, 3), name="scores", cell=22)
    with pytest.raises(ValueError, match="name must be new in this diagram, got 'scores' again"):
        picture.tensor(0, 0, torch.zeros(2, 3), name="scores", cell=22)
