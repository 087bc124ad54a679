"""The forms for issues: GitHub draws each, and what they tell a reader to look for is there."""

import re
import sys

import pytest
import yaml
from tiny_book import ROOT

from attention_course import setup

sys.path.insert(0, str(ROOT / "_ext"))

from course_site.claims import claim_list  # noqa: E402

FORMS = {
    file.stem: yaml.safe_load(file.read_text(encoding="utf-8"))
    for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")
}
ASKED = {"input", "textarea", "dropdown", "checkboxes"}


def fields(form):
    """What a form asks, by its id."""
    return {part["id"]: part for part in FORMS[form]["body"] if part["type"] != "markdown"}


@pytest.mark.parametrize("form", FORMS)
def test_github_can_draw_the_form(form):
    """By its rules for forms: GitHub shows none that breaks one."""
    assert FORMS[form]["name"] and FORMS[form]["description"]
    assert {part["type"] for part in FORMS[form]["body"]} <= ASKED | {"markdown"}
    asked = [part for part in FORMS[form]["body"] if part["type"] in ASKED]
    ids, labels = {part["id"] for part in asked}, {part["attributes"]["label"] for part in asked}
    assert len(ids) == len(labels) == len(asked) > 0 and all(re.fullmatch(r"[\w-]+", one) for one in ids)
    for part in asked:
        assert part.get("validations", {"required": True}) == {"required": True}
        options = [str(option) for option in part["attributes"].get("options", [])]
        assert bool(options) == (part["type"] in {"dropdown", "checkboxes"})
        assert len({*options, "None"}) == len(options) + 1  # it adds None by itself


def test_a_claim_has_the_address_that_the_form_asks_for():
    address = fields("wrong_claim")["address"]["attributes"]
    page, number = re.search(r"(chapters/\w+)\.html#claim-(\d+)$", address["placeholder"]).groups()
    assert (ROOT / f"{page}.ipynb").exists()
    (last,) = claim_list(["✓ so it is"], int(number), {}).children
    assert last["ids"] == [address["placeholder"].partition("#")[2]]
    title = (ROOT / "claims.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    assert f'"{title}"' in address["description"]


@pytest.mark.parametrize(("form", "field"), [("wrong_claim", "versions"), ("broken_notebook", "setup")])
def test_the_setup_cell_prints_what_the_form_asks_for(form, field, capsys):
    setup()
    line = re.compile(r"PyTorch [\d.]+\S* on .+, seed 0")
    assert line.fullmatch(capsys.readouterr().out.strip())
    assert line.fullmatch(fields(form)[field]["attributes"]["placeholder"])
