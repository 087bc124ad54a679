"""What notebooks are run from alone: the files as they stand, in a repository of their own."""

import alone
from environments import run
from tiny_book import ROOT


def test_a_folder_that_is_no_repository_is_published_as_one(tmp_path, monkeypatch):
    """As from a ZIP; and what its .gitignore names stays behind."""
    folder = tmp_path / "from a ZIP"
    as_here = ["Makefile", "_config.yml", "pyproject.toml", "CITATION.cff", "attention_classroom/pyproject.toml"]
    as_here += ["tools/published.py", "tools/setup_cell.py", "intro.ipynb"]
    files = {name: (ROOT / name).read_text() for name in as_here}
    files |= {".gitignore": "_build/\n", "_build/html": "built"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))  # of none above it either
    commit = alone.publish(tmp_path / "published")
    published = run("git", "-C", tmp_path / "published", "ls-tree", "-r", "--name-only", commit).split()
    assert sorted(published) == sorted(name for name in files if name != "_build/html")
    assert f'repository, site = \\"{alone.ADDRESS}\\"' in (tmp_path / "published" / "intro.ipynb").read_text()
    assert not (folder / ".git").exists() and (folder / "intro.ipynb").read_text() == files["intro.ipynb"]
