"""The first cell of every notebook, the same everywhere: it installs the package where it is missing, as in Colab.

A notebook may be all that a reader has, so it says where the course is published, and as which version.
`python3 tools/published.py version "" ""` writes the cell into all notebooks anew.
"""

import json
from pathlib import Path

CELL = """\
# @title Set up the course
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

wheel, revision = "attention_course-{version}-py3-none-any.whl", "{branch}"
repository, site = "{url}", "{baseurl}"
if find_spec("attention_course") is None:  # as in Colab; torch, numpy and ipywidgets stay as they are
    urls = [path.as_uri() for folder in (Path.cwd(), *Path.cwd().parents) for path in folder.glob(wheel)]
    urls += [f"git+{{repository}}@{{revision}}", f"{{site}}/{{wheel}}"] * ("your-organisation" not in repository)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--retries=1", "--find-links=."]
    if all(subprocess.run([*pip, f"attention_course[course] @ {{url}}"], capture_output=True).returncode for url in urls):
        raise RuntimeError(f"Ask whoever gave you this notebook for {{wheel}}, put it beside it and run this cell again.")

from attention_course import setup

course = setup(version="{version}", page=f"{{site}}/{page}.html")"""  # noqa: E501


def write_cells(published):
    """Write the cell into all notebooks that begin with one of its title."""
    for path in [*Path(".").glob("*.ipynb"), *Path("chapters").glob("*.ipynb")]:
        source = CELL.format(**published, page=path.with_suffix("").as_posix()).splitlines(keepends=True)
        notebook = json.loads(path.read_text(encoding="utf-8"))
        first = next((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), None)
        if first and first["source"][0] == source[0]:
            first["source"] = source
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
