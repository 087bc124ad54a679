"""The API page: one section a module, found in the package, so no list is kept by hand.

Sphinx does not see that a module changed; the Makefile has all pages read again when the package did.
"""

import pkgutil
import re

import attention_course

PAGE = "api"

SECTION = """
({name})=
## {title}

```{{eval-rst}}
.. automodule:: {name}
   :members:
```
"""


CHAPTERS_EXERCISES = re.compile(r"attention_course\.exercises\.(?!checking)")


def module_names():
    """The public modules of the package, in alphabetical order, without the solutions of the exercises."""
    prefix = attention_course.__name__ + "."
    names = [module.name for module in pkgutil.walk_packages(attention_course.__path__, prefix)]
    return sorted(name for name in names if "._" not in name and not CHAPTERS_EXERCISES.match(name))


def add_modules(app, docname, source):
    """Append a section for every module to the API page."""
    if docname == PAGE:
        sections = (SECTION.format(name=name, title=name.split(".", 1)[1]) for name in module_names())
        source[0] += "".join(sections)


def setup(app):
    """Connect to the reading of pages."""
    app.connect("source-read", add_modules)
