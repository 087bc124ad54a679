"""Says which notebook is being run. A cell that fails stops the build, is named, and stops the next build too."""

from pathlib import Path

import nbformat
from sphinx.util import logging

logger = logging.getLogger(__name__)


def count_notebooks(app, env, docnames):
    """Remember which of the pages about to be read are notebooks."""
    app.course_notebooks = [name for name in docnames if env.doc2path(name).endswith(".ipynb")]


def announce_notebook(app, docname, source):
    """Say which notebook is next, of how many: running one takes a minute."""
    notebooks = app.course_notebooks
    if docname in notebooks:
        logger.info("\nnotebook %d of %d: %s", notebooks.index(docname) + 1, len(notebooks), docname)


def failed_chapters(env):
    """The pages whose last execution ended in an error."""
    executions = {name: data.get("exec_data") for name, data in getattr(env, "nb_metadata", {}).items()}
    return [name for name, result in executions.items() if result and not result["succeeded"]]


def failing_cell(notebook):
    """The number (from 1, Markdown cells counted) and the cell that stopped a notebook.

    It holds the error, or, where the kernel died or the time ran out, is the first that never finished.
    """
    cells = [(number, cell) for number, cell in enumerate(notebook.cells, 1) if cell.cell_type == "code"]
    raised = [pair for pair in cells if any(output.output_type == "error" for output in pair[1].outputs)]
    unfinished = [pair for pair in cells if pair[1].source.strip() and not pair[1].execution_count]
    return (raised + unfinished)[0]


def describe(notebook, error):
    """The failing cell's number, source and error, for the build's log."""
    number, cell = failing_cell(notebook)
    raised = [output for output in cell.outputs if output.output_type == "error"]
    reason = f"{raised[0].ename}: {raised[0].evalue}" if raised else error
    source = "\n".join(f"    {line}" for line in cell.source.splitlines())
    return f"cell {number} failed: {reason}\n{source}"


def report_failure(app, doctree):
    """Name the chapter, the cell and the error of the page that was just read."""
    docname = app.env.docname
    if docname not in failed_chapters(app.env):
        return
    # MyST-NB writes the notebook as far as it ran beside the pages.
    executed = Path(app.outdir).parent / "jupyter_execute" / f"{docname}.ipynb"
    notebook = nbformat.read(executed, as_version=4)
    error = app.env.nb_metadata[docname]["exec_data"]["error"]
    logger.warning(describe(notebook, error), location=docname)


def read_again(app, env, added, changed, removed):
    """Sphinx keeps the page of a chapter that failed, and would call the next build a success."""
    return [name for name in failed_chapters(env) if name in env.found_docs]


def setup(app):
    """Connect to the reading of pages."""
    app.connect("env-before-read-docs", count_notebooks)
    app.connect("source-read", announce_notebook)
    app.connect("doctree-read", report_failure)
    app.connect("env-get-outdated", read_again)
