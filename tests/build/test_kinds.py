"""What a claim is about is followed through the cells of a notebook."""

import nbformat
import pytest
from kinds import kinds_of_claims

SETUP = "course = setup()"


def kinds(*sources):
    """The kind of each cell's claims, in order."""
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *sources)]
    found = kinds_of_claims(nbformat.v4.new_notebook(cells=cells))
    return [found[cell.id] for cell in cells if cell.id in found]


CLAIM = "claim('it is so', {})"


@pytest.mark.parametrize(
    ("sources", "kind"),
    [
        (["x = torch.randn(3)", "y = x.softmax(-1)", CLAIM.format("y.sum() > 0")], "exact"),
        (["for step in range(3):\n    loss.backward()\n    optimizer.step()", CLAIM.format("loss < 1")], "trained"),
        (["model = Net()", "history = training.train(model, batch)", CLAIM.format("right(model) > 0.9")], "trained"),
        (["def fit():\n    loss.backward()\n    return net", "net = fit()", CLAIM.format("net(1) > 0")], "trained"),
        (["model = load_character_model()", "a = model(x)", "b = a[0]", CLAIM.format("b > 0")], "trained"),
        (["start = perf_counter()", CLAIM.format("start > 0")], "trained"),
        (["record = recorded.load('runs')", "shares = record['shares']", CLAIM.format("shares > 0")], "recorded"),
        (["seen = recorded.load('a')", "for run in seen:\n    rows.append(run)", CLAIM.format("rows > 0")], "recorded"),
        (["seen = recorded.load('a')", "now = training.train(m, b)", CLAIM.format("seen > now")], "trained"),
        (["import training as t\nx = 1", "model = t.train(m, b)", "y = 2", CLAIM.format("x < y")], "exact"),
    ],
)
def test_what_a_claim_is_about(sources, kind):
    assert kinds(*sources) == [kind]


def test_one_trained_claim_makes_its_cell_trained():
    trained = "loss.backward()\nx = loss"
    assert kinds(trained, f"{CLAIM.format('1 < 2')}\n{CLAIM.format('x < 1')}\n{CLAIM.format('2 < 3')}") == ["trained"]
    assert kinds(CLAIM.format("1 < 2"), trained, CLAIM.format("x < 1")) == ["exact", "trained"]


def test_a_cell_claims_what_a_function_of_the_notebook_claims_for_it():
    told = "def tell(x):\n    claim('it is so', x > 0)"
    assert kinds(told, "x = 1", "tell(x)") == ["exact", "exact"]
    assert kinds(told, "loss.backward()\nx = loss", "tell(x)") == ["exact", "trained"]
