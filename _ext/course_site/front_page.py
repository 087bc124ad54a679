"""The front page: its title stands alone, and once the course is on GitHub, its link to a notebook leads into Colab."""

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


def choose_template(app, pagename, templatename, context, doctree):
    """Have the page written with the template that does not say the course's name behind its title."""
    return "front_page.html" if pagename == app.config.root_doc else None


def setup(app):
    """Connect to the pages when their links are known, and to their writing."""
    app.connect("doctree-resolved", open_in_colab)
    app.connect("html-page-context", choose_template)
