"""Pages to look something up in: each answer can be pasted as it stands, is checked, and says where it is explained."""

import ast
import json
import re

import pytest
from limits import LINK_TARGET, LONGEST_LINE, WORD, markdown
from look_up import LESSON_LINK, MOST_RECIPE_LINES, MOST_WORDS_AROUND, index, recipes, slug
from small_notebooks import code, folded, text, written

SMALL = written(
    text("# Recipes\n\n*How?*"),
    folded("# @title Set up the course\nsetup"),
    text("**Sums**\n\n- [One and one](#one-and-one)"),
    text("## Sums\n\n### One and one\n\nAdd them."),
    code("total = 1 + 1\n\nprint(total)"),
    text("For numbers. Lesson: [sums](sums.ipynb#how)."),
    folded("# @title Compare with a list\nassert total == len([1, 1])"),
)


def imported(code):
    """The packages that some code imports."""
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in nodes]
    return {name.split(".")[0] for name in names}


def lessons_linked(recipe):
    """The pages and anchors of the course that a recipe leads to."""
    return [(link["page"], link["anchor"]) for link in LESSON_LINK.finditer(recipe.words)]


def test_the_index_lists_every_recipe_in_order(look_up, notebook):
    headings = [recipe.heading for recipe in recipes(notebook)]
    assert index(notebook) == [(heading, slug(heading)) for heading in headings]
    assert len(set(map(slug, headings))) == len(headings) > 0


def test_a_recipe_is_an_answer_code_limits_and_a_check(look_up, notebook):
    kinds = {recipe.heading: recipe.kinds for recipe in recipes(notebook)}
    assert kinds == dict.fromkeys(kinds, ["words", "code", "words", "check"])


def test_a_recipe_is_short(look_up, notebook):
    found = recipes(notebook)
    lines = {recipe.heading: [line for line in recipe.code.splitlines() if line.strip()] for recipe in found}
    assert {heading: len(code) for heading, code in lines.items() if len(code) > MOST_RECIPE_LINES} == {}
    assert [line for code in lines.values() for line in code if len(line) > LONGEST_LINE] == []
    around = {recipe.heading: len(WORD.findall(LINK_TARGET.sub("]", recipe.words))) for recipe in found}
    assert {heading: words for heading, words in around.items() if words > MOST_WORDS_AROUND} == {}


def test_a_recipe_asks_for_nothing_of_the_course_and_judges_nothing_in_the_open(look_up, notebook):
    for recipe in recipes(notebook):
        assert "attention_course" not in recipe.code, recipe.heading
        assert imported(recipe.code) <= {"torch", "math", "importlib", "transformers"}, recipe.heading
        assert "assert" not in recipe.code, recipe.heading


def test_a_recipe_runs_alone_and_prints(look_up, notebook, capsys):
    """With nothing defined but what it defines itself, and without a word on the way."""
    for recipe in recipes(notebook):
        exec(compile(recipe.code, recipe.heading, "exec"), {})
        printed = capsys.readouterr().out
        assert "transformers" in recipe.code or 1 <= len(printed.splitlines()) <= 4, recipe.heading


def test_each_check_uses_its_recipe(look_up, notebook):
    """It asserts something, and reads a name that the recipe has bound."""
    for recipe in recipes(notebook):
        check, nodes = ast.parse(recipe.check), list(ast.walk(ast.parse(recipe.code)))
        bound = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        read = {node.id for node in ast.walk(check) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        assert any(isinstance(node, ast.Assert) for node in ast.walk(check)), recipe.heading
        assert bound & read, recipe.heading


def test_each_recipe_leads_to_where_it_is_explained(look_up, notebook, root):
    for recipe in recipes(notebook):
        links = lessons_linked(recipe)
        assert links, recipe.heading
        for page, anchor in links:
            linked = json.loads((root / "chapters" / f"{page}.ipynb").read_text(encoding="utf-8"))
            headings = re.findall(r"(?m)^#{2,3} (.+)$", markdown(linked))
            assert anchor in map(slug, headings), (recipe.heading, page, anchor)


def test_a_small_page_is_read():
    (recipe,) = recipes(SMALL)
    assert index(SMALL) == [("One and one", "one-and-one")] == [(recipe.heading, slug(recipe.heading))]
    assert recipe.kinds == ["words", "code", "words", "check"]
    assert recipe.code.startswith("total") and recipe.check.endswith("len([1, 1])")
    assert lessons_linked(recipe) == [("sums", "how")] and imported(recipe.code) == set()


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Is my mask inverted?", "is-my-mask-inverted"),
        ("Load GPT-2 into my class", "load-gpt-2-into-my-class"),
        ("Split nn.MultiheadAttention", "split-nnmultiheadattention"),
        ("Which kernel did scaled_dot_product_attention run?", "which-kernel-did-scaled_dot_product_attention-run"),
    ],
)
def test_anchors_are_the_sites(heading, anchor):
    assert slug(heading) == anchor
