"""Pages to look something up in: each answer can be pasted as it stands, is checked, and says where it is explained."""

import ast
import json
import re
from dataclasses import dataclass

import pytest
from folds import is_folded
from limits import LINK_TARGET, LONGEST_LINE, WORD, markdown

MOST_RECIPE_LINES = 15  # blank ones left out
MOST_WORDS_AROUND = 110  # of the answer and the limits together: a screen and a half with the code
INDEX_LINK = re.compile(r"^- \[([^\]]+)\]\(#([^)]+)\)$", re.MULTILINE)
LESSON_LINK = re.compile(r"\]\((\w+)\.ipynb#([\w-]+)\)")
HEADING = re.compile(r"(?m)^### (.+)\n")


@dataclass
class Recipe:
    """A heading with its answer, and the cells from there to the next heading."""

    heading: str
    cells: list

    @property
    def kinds(self):
        """What its cells are, in order."""
        return ["check" if is_folded(cell) else cell["cell_type"] for cell in self.cells]

    def all_of(self, kind):
        """What its cells of a kind hold."""
        pairs = zip(self.cells, self.kinds, strict=True)
        return "\n\n".join("".join(cell["source"]) for cell, its_kind in pairs if its_kind == kind)

    @property
    def code(self):
        """The code to paste."""
        return self.all_of("code")


def slug(heading):
    """The anchor of a heading, as the site makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.fixture
def recipes(look_up, notebook):
    """The recipes of a page, in order."""
    found = []
    for cell in notebook["cells"]:
        if heading := cell["cell_type"] == "markdown" and HEADING.search("".join(cell["source"])):
            found.append(Recipe(heading[1], []))
        if found:
            found[-1].cells.append(cell)
    return found


def imported(code):
    """The packages that some code imports."""
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in nodes]
    return {name.split(".")[0] for name in names}


def test_the_index_lists_every_recipe_in_order(notebook, recipes):
    headings = [recipe.heading for recipe in recipes]
    index = INDEX_LINK.findall(markdown(notebook).partition("\n### ")[0])
    assert index == [(heading, slug(heading)) for heading in headings]
    assert len(set(map(slug, headings))) == len(headings) > 0


def test_a_recipe_is_an_answer_code_limits_and_a_check(recipes):
    kinds = {recipe.heading: recipe.kinds for recipe in recipes}
    assert kinds == dict.fromkeys(kinds, ["markdown", "code", "markdown", "check"])


def test_a_recipe_is_short(recipes):
    for recipe in recipes:
        lines = [line for line in recipe.code.splitlines() if line.strip()]
        around = WORD.findall(LINK_TARGET.sub("]", recipe.all_of("markdown")))
        assert len(lines) <= MOST_RECIPE_LINES and max(map(len, lines)) <= LONGEST_LINE, recipe.heading
        assert len(around) <= MOST_WORDS_AROUND, recipe.heading


def test_a_recipe_asks_for_nothing_of_the_course_and_judges_nothing_in_the_open(recipes):
    for recipe in recipes:
        assert "attention_course" not in recipe.code, recipe.heading
        assert imported(recipe.code) <= {"torch", "math", "importlib", "transformers"}, recipe.heading
        assert "assert" not in recipe.code, recipe.heading


def test_a_recipe_runs_alone_and_prints(recipes, capsys):
    """With nothing defined but what it defines itself, and without a word on the way."""
    for recipe in recipes:
        exec(compile(recipe.code, recipe.heading, "exec"), {})
        printed = capsys.readouterr().out
        assert "transformers" in recipe.code or 1 <= len(printed.splitlines()) <= 4, recipe.heading


def test_each_check_uses_its_recipe(recipes):
    """It asserts something, and reads a name that the recipe has bound."""
    for recipe in recipes:
        check, nodes = ast.parse(recipe.all_of("check")), list(ast.walk(ast.parse(recipe.code)))
        bound = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        read = {node.id for node in ast.walk(check) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        assert any(isinstance(node, ast.Assert) for node in ast.walk(check)), recipe.heading
        assert bound & read, recipe.heading


def test_each_recipe_leads_to_where_it_is_explained(recipes, root):
    for recipe in recipes:
        links = LESSON_LINK.findall(recipe.all_of("markdown"))
        assert links, recipe.heading
        for page, anchor in links:
            linked = json.loads((root / "chapters" / f"{page}.ipynb").read_text(encoding="utf-8"))
            headings = re.findall(r"(?m)^#{2,3} (.+)$", markdown(linked))
            assert anchor in map(slug, headings), (recipe.heading, page, anchor)
