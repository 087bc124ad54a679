"""The model in one listing is what the lessons before it built, computes what the package's does, and fits a GPU."""

import ast
import json
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from folds import is_folded
from form import parse
from lessons import FIRST_READING
from limits import EXERCISES, LISTING, is_listing, parts
from torch import nn

from attention_course.language_model import CausalLanguageModel
from attention_course.positions import RotaryAttention

LAST = "language_model"
NEW = {"GPT"}


class WithoutDocstrings(ast.NodeTransformer):
    """A syntax tree without docstrings; comments are in none."""

    def _bare(self, node):
        self.generic_visit(node)
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        return node

    visit_FunctionDef = visit_ClassDef = _bare


def definitions(tree):
    """What each function and class of a cell is, by name."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return {node.name: ast.unparse(WithoutDocstrings().visit(node)) for node in found}


@pytest.fixture(scope="module")
def open_cells(root):
    """The code that a page of the first reading shows before its exercises."""

    def of(name):
        notebook = json.loads((root / "chapters" / f"{name}.ipynb").read_text(encoding="utf-8"))
        cells = [part.cell for part in parts(notebook) if part.cell and part.section != EXERCISES]
        return [cell for cell in cells if not is_folded(cell)]

    return of


@pytest.fixture(scope="module")
def listing(open_cells):
    (cell,) = filter(is_listing, open_cells(LAST))
    return parse(cell)


def run(*trees, **known):
    scope = {"torch": torch, "nn": nn, "F": F} | known
    for tree in trees:
        exec(compile(tree, LAST, "exec"), scope)
    return scope


def as_package(gpt, *sizes):
    """The package's model with the same parameters, which are in the same order."""
    theirs = CausalLanguageModel(*sizes, attention=RotaryAttention()).double()
    theirs.load_state_dict(dict(zip(theirs.state_dict(), gpt.state_dict().values(), strict=True)))
    return theirs


def test_its_parts_are_those_that_the_lessons_before_it_showed_last(open_cells, listing):
    shown = {}
    for lesson in FIRST_READING[: FIRST_READING.index(LAST)]:
        for cell in open_cells(lesson):
            shown |= {name: (lesson, source) for name, source in definitions(parse(cell)).items()}
    listed = definitions(listing)
    assert listed.keys() - shown.keys() == NEW
    others = {name: shown[name][0] for name in listed.keys() - NEW if listed[name] != shown[name][1]}
    assert others == {}


def test_no_other_page_has_such_a_listing(root):
    """Elsewhere a cell keeps to the length of a cell."""
    tagged = [path.stem for path in (root / "chapters").glob("*.ipynb") if f'"{LISTING}"' in path.read_text("utf-8")]
    assert tagged == [LAST]


def test_it_is_the_packages_model(listing):
    sizes = 50, 16, 2, 3
    gpt = run(listing)["GPT"](*sizes).double()
    with torch.no_grad():  # a gain of 1 and a bias of 0 would hide a norm in the wrong place
        for parameter in gpt.parameters():
            parameter.normal_(0, 0.5)
    letters = torch.randint(50, (2, 12))
    expected, _ = as_package(gpt, *sizes)(letters)
    assert torch.allclose(gpt(letters), expected, atol=1e-4)  # the listing's angles are of 32 bits


def test_on_a_gpu_it_has_ten_million_parameters_and_learns_in_bfloat16(open_cells, listing):
    """One step of the page's own loss, with what the page picks on a GPU, on a batch that a CPU can do."""
    course = SimpleNamespace(pick=lambda cpu, gpu: gpu, autocast=lambda: torch.autocast("cpu", torch.bfloat16))
    picked = {"sizes", "next_letter_loss"}
    cells = [parse(cell) for cell in open_cells(LAST)]
    scope = run(listing, *(tree for tree in cells if picked & names_of(tree)), course=course)
    torch.manual_seed(0)
    gpt = scope["GPT"](103, **scope["sizes"])
    assert 9e6 < sum(parameter.numel() for parameter in gpt.parameters()) < 12e6
    pieces = torch.randint(103, (2, 33))
    with course.autocast():
        assert gpt(pieces).dtype == torch.bfloat16
    optimizer = torch.optim.AdamW(gpt.parameters(), lr=1e-4)
    before = scope["next_letter_loss"](gpt, pieces)
    before.backward()
    optimizer.step()
    assert before.dtype == torch.float32
    assert scope["next_letter_loss"](gpt, pieces) < before


def names_of(tree):
    """The names that the statements of a cell bind."""
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return assigned | definitions(tree).keys()
