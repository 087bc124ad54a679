"""The buttons over a page: Colab, download, repository, all from the one repository URL."""

from .published import is_published

GITHUB = "https://github.com/"


def colab_address(repository_url, branch, docname):
    """Where Colab opens a page's notebook; None while the repository URL is the placeholder, and where it cannot."""
    if not is_published(repository_url) or not repository_url.startswith(GITHUB):
        return None
    path = repository_url.removeprefix(GITHUB).strip("/")
    return f"https://colab.research.google.com/github/{path}/blob/{branch}/{docname}.ipynb"


def page_buttons(repository_url, branch, docname, is_notebook, download):
    """The buttons of one page, as dictionaries with `text`, `url` and `icon`.

    While the repository URL is the placeholder, a link to it would be dead and is left out.
    """
    buttons = []
    colab = colab_address(repository_url, branch, docname)
    if is_notebook and colab:
        buttons.append({"text": "Open in Colab", "url": colab, "icon": "fa-solid fa-rocket"})
    if is_notebook:
        buttons.append({"text": "Download notebook", "url": download, "icon": "fa-solid fa-download", "download": True})
    if is_published(repository_url):
        icon = "fa-brands fa-github" if repository_url.startswith(GITHUB) else "fa-solid fa-code-branch"
        buttons.append({"text": "Repository", "url": repository_url, "icon": icon})
    return buttons


def add_buttons(app, pagename, templatename, context, doctree):
    """Give the template of the page header its buttons."""
    options = app.config.html_theme_options
    context["course_buttons"] = page_buttons(
        options["repository_url"],
        options["repository_branch"],
        pagename,
        is_notebook=context.get("page_source_suffix") == ".ipynb",
        download=context["pathto"](f"_sources/{context.get('sourcename')}", 1),
    )


def setup(app):
    """Connect to the writing of pages."""
    app.connect("html-page-context", add_buttons)
