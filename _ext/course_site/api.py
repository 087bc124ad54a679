"""The reference: a page a module, found in the package, so no list is kept by hand."""

import ast
import pkgutil
import re
from importlib.util import find_spec
from pathlib import Path

INDEX = "api"
CHAPTERS_EXERCISES = re.compile(r"attention_course\.exercises\.(?!judging)")
# A lesson's diagrams are functions of the package, and some are named as their file is.
LESSONS_DIAGRAMS = re.compile(r"attention_course\.diagrams\.(?!diagram$)")

PAGE = """\
# {title}

```{{eval-rst}}
.. automodule:: {name}
   :members:
```
"""


def module_names():
    """The public modules of the package, in alphabetical order, without the solutions of the exercises.

    The lessons' diagrams are documented where they are imported from.
    """
    import attention_classroom
    import attention_course  # only where there is a reference: it imports torch

    packages = (attention_course, attention_classroom)
    walks = [pkgutil.walk_packages(package.__path__, f"{package.__name__}.") for package in packages]
    names = [module.name for walk in walks for module in walk]
    hidden = (CHAPTERS_EXERCISES, LESSONS_DIAGRAMS)
    return sorted(name for name in names if "._" not in name and not any(kind.match(name) for kind in hidden))


def title(name):
    """What a module is called on the site: its name inside the package, or in the instructors' program."""
    return name.removeprefix("attention_course.").removeprefix("attention_")


def write_pages(folder):
    """Write a page for every module, and take away those of modules that are gone.

    A page that is there already is left as it is: Sphinx reads those that are newer than the last time.
    """
    folder.mkdir(exist_ok=True)
    pages = {folder / f"{title(name)}.md": PAGE.format(title=title(name), name=name) for name in module_names()}
    for path in set(folder.glob("*.md")) - set(pages):
        path.unlink()
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def add_index(app, docname, source):
    """Append a table of the modules, each with the first line of its docstring, to the page that leads to them."""
    if docname != INDEX:
        return
    rows = ["", "| module | what is in it |", "| --- | --- |"]
    for name in module_names():
        file = find_spec(name).origin
        first_line = ast.get_docstring(ast.parse(Path(file).read_text(encoding="utf-8"))).splitlines()[0]
        rows.append(f"| [{title(name)}]({INDEX}/{title(name)}.md) | {first_line} |")
        app.env.note_dependency(file)
    source[0] += "\n".join(rows) + "\n"


def setup(app):
    """Write the pages before the table of contents is read, and connect to the reading of pages."""
    if Path(app.srcdir, f"{INDEX}.md").exists():
        write_pages(Path(app.srcdir, INDEX))
    app.connect("source-read", add_index)
