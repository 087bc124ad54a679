"""The front page: once the course is published, its link to a notebook leads into Colab, and says so."""

from docutils import nodes

from .buttons import colab_address

RUN = "run the first notebook"  # the link's words


def open_in_colab(app, doctree, docname):
    """Until there is an address, the link leads to the lesson's page, where the notebook can be downloaded."""
    options = app.config.html_theme_options
    for link in list(doctree.findall(nodes.reference)) if docname == app.config.root_doc else []:
        page = link.get("refuri", "").removesuffix(".html")
        address = colab_address(options["repository_url"], options["repository_branch"], page)
        if link.astext() == RUN and address:
            link["refuri"] = address
            link.append(nodes.Text(" in Colab"))


def setup(app):
    """Connect to the pages when their links are known."""
    app.connect("doctree-resolved", open_in_colab)
