"""A chapter reads the same on the site, in Colab, in Jupyter and on GitHub, and is clean in git."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from jupyter_cache import get_cache
from limits import FENCED, MATHS
from published import published
from pybtex.database import parse_file
from setup_cell import CELL

sys.path.insert(0, str(Path(__file__).parents[2] / "_ext"))
from course_site.quick_checks import malformed_checks  # noqa: E402

INLINE_CODE = re.compile(r"`[^`]*`")
LINK_TARGET = re.compile(r"\]\([^)]*\)|https?://\S+")
HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

# What MyST understands and Colab or Jupyter print raw.
MYST_ONLY = {
    "a directive in colons": r"^:{3,}",
    "a directive in backticks": r"^\s*(```|~~~)\s*\{",
    "a role": r"\{[\w:.+-]+\}`",
    "a link target": r"^\([\w-]+\)=\s*$",
    "a link without text": r"\[\]\(",
    "a definition list": r"^: ",
    "a footnote": r"\[\^",
    "a substitution": r"\{\{",
    "a block break": r"^\+\+\+",
}

NOT_IN_PROSE = {
    "an exclamation mark": r"!(?!\[)",
    "an emoji": "[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]",
    "a word that belittles": r"\b(simply|obviously)\b",
}


def sources(notebook, cell_type):
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == cell_type]


def prose(markdown):
    for not_prose in (FENCED, INLINE_CODE, MATHS, LINK_TARGET, HTML_COMMENT):
        markdown = not_prose.sub(" ", markdown)
    return markdown


def found(patterns, texts):
    """Which of the patterns occur, each with the line that shows it."""
    flags = re.MULTILINE | re.IGNORECASE
    return [
        (what, line)
        for what, pattern in patterns.items()
        for text in texts
        for line in text.splitlines()
        if re.search(pattern, line, flags)
    ]


def cited(text):
    """The arXiv identifiers and DOIs that a text links to."""
    arxiv = re.findall(r"arxiv\.org/(?:abs|pdf|html)/(\d{4}\.\d{4,5}|[\w.-]+/\d{7})", text)
    dois = re.findall(r"doi\.org/(10\.[^\s)>\]\"']+)", text)
    return {identifier.lower().rstrip(".,;") for identifier in arxiv + dois}


def test_every_notebook_is_in_the_table_of_contents_or_says_where_its_content_went(root, notebook_names):
    there = {str(path.relative_to(root)) for path in [*root.glob("*.ipynb"), *root.glob("chapters/**/*.ipynb")]}
    assert notebook_names <= there != set()
    moved = yaml.safe_load((root / "_moved.yml").read_text(encoding="utf-8"))
    for name in there - notebook_names:
        cells = json.loads((root / name).read_text(encoding="utf-8"))["cells"]
        assert len(cells) == 2 and {cell["cell_type"] for cell in cells} == {"markdown"}, name
        new_home = moved[name.removesuffix(".ipynb")].removeprefix("chapters/")
        assert f"]({new_home}.ipynb)" in "".join(cells[0]["source"]), name


def test_nothing_is_left_of_a_run(name, notebook):
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    ran = [cell["source"][:1] for cell in code if cell["outputs"] or cell["execution_count"] is not None]
    assert ran == [], "clear all outputs"
    assert "widgets" not in notebook["metadata"]


def test_every_cell_has_its_own_id(name, notebook):
    ids = [cell.get("id") for cell in notebook["cells"]]
    assert None not in ids
    assert len(set(ids)) == len(ids)


def test_the_kernel_is_the_one_every_machine_has(name, notebook):
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


def test_the_first_line_is_the_only_title(name, notebook):
    markdown = sources(notebook, "markdown")
    titles = [title for text in markdown for title in re.findall(r"^# .*", FENCED.sub("", text), re.MULTILINE)]
    assert titles == [markdown[0].splitlines()[0]]


def test_markdown_is_plain(name, notebook):
    assert found(MYST_ONLY, sources(notebook, "markdown")) == []


def test_no_picture_comes_from_elsewhere(name, notebook):
    remote = {"a remote picture": r"!\[[^\]]*\]\(\s*http|<(img|script|iframe|link)\b[^>]*\bhttp"}
    assert found(remote, sources(notebook, "markdown")) == []


def test_prose_keeps_to_the_house_style(name, notebook):
    assert found(NOT_IN_PROSE, [prose(text) for text in sources(notebook, "markdown")]) == []


def test_every_quick_check_can_be_asked(name, notebook):
    """One that is malformed would stay plain text on the site, or call a right answer wrong."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown" and "**" in "".join(cell["source"])]
    found = {cell["id"]: malformed_checks("".join(cell["source"])) for cell in cells}
    assert {cell: complaints for cell, complaints in found.items() if complaints} == {}


def test_every_paper_is_in_the_bibliography(name, notebook, root):
    entries = parse_file(str(root / "references.bib")).entries.values()
    known = {entry.fields[key].lower() for entry in entries for key in ("eprint", "doi") if key in entry.fields}
    links = set().union(*(cited(text) for text in sources(notebook, "markdown") + sources(notebook, "code")))
    assert links <= known, f"not in references.bib: {links - known}"


def test_every_figure_has_alt_text(name, notebook, root):
    """Which cells draw is not guessed: the build's executed copy knows."""
    cache = get_cache(str(root / "_build" / ".jupyter_cache"))
    try:
        _, executed = cache.merge_match_into_notebook(nbformat.read(root / name, as_version=4))
    except KeyError:
        pytest.fail(f"{name} as it stands was not executed: run make site first")
    figures = [
        cell
        for cell in executed.cells
        for output in cell.get("outputs", [])
        if {"image/png", "image/svg+xml", "image/jpeg"} & set(output.get("data", {}))
    ]
    mute = [cell.id for cell in figures if not cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "").strip()]
    assert mute == []


def test_the_setup_cell_is_the_same_everywhere(name, notebook, root):
    code = sources(notebook, "code")
    if code or name.startswith("chapters/"):
        assert code[0] == CELL.format(**published(root), page=name.removesuffix(".ipynb"))


def test_the_repository_is_named_in_one_place(root, notebook_names, tmp_path):
    """`make url` rewrites the configuration, the citation and the setup cells: the address may stand nowhere else."""
    address = published(root)["url"].split("://")[1]
    # A repository of its own, in which no file is tracked yet: the folder itself need not be one.
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    git = ["git", f"--git-dir={tmp_path / '.git'}", f"--work-tree={root}"]
    listed = subprocess.check_output([*git, "ls-files", "--others", "--exclude-standard", "-z"], cwd=root, text=True)
    counts = {name: (root / name).read_bytes().count(address.encode()) for name in filter(None, listed.split("\0"))}
    assert len(counts) > len(notebook_names)
    once = {"_config.yml", "CITATION.cff", *notebook_names}
    assert {name: count for name, count in counts.items() if count > (name in once)} == {}
