"""Preview one page: run its notebook where it is stale, and build a book of that page alone into _build/page.

page.py masking      or any page of the contents, as intro or glossary

Links to other pages lead nowhere there, and are not complained of: `make site` does.
"""

import subprocess
import sys
from pathlib import Path

from execute import CACHE, run_stale
from make_site import last_runs, report
from notebooks import path
from odds import write_for_the_site
from sphinx_external_toc.parsing import parse_toc_yaml

PREVIEW = Path("_build/page")
OF_EVERY_BOOK = ["_config.yml", "_ext", "_static", "references.bib"]


def find(name):
    """The page of the contents that has this name, with its folder or without."""
    pages = [page for page in parse_toc_yaml("_toc.yml") if name in (page, Path(page).name)]
    if not pages:
        sys.exit(f"There is no page {name!r} in _toc.yml. Name one: make page NAME=masking")
    return pages[0]


def make_book(page):
    """The folder of a book of that page: links to the course's own files."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for linked in [*OF_EVERY_BOOK, f"{page}.ipynb" if path(page).exists() else f"{page}.md", str(CACHE)]:
        link = PREVIEW / linked
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)  # it may lead to where the course stood before
        link.symlink_to(Path(linked).absolute())
    (PREVIEW / "_toc.yml").write_text(f"format: jb-book\nroot: {page}\n")
    return PREVIEW


def main(name=""):
    """Run, build and say where it is; the exit status."""
    page = find(name)
    is_notebook = path(page).exists()
    if is_notebook:
        print(run_stale([page]), flush=True)
    book = make_book(page)
    write_for_the_site(book / "_build")
    program = Path(sys.executable).with_name("jupyter-book")
    command = [program, "build", book, "--quiet", "--quiet"]
    status = subprocess.run(command).returncode
    raised = is_notebook and report(last_runs([page]))
    print(f"The page is in {(PREVIEW / '_build' / 'html' / f'{page}.html').absolute().as_uri()}")
    return bool(status or raised)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
