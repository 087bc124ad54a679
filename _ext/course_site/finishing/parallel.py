"""Two processes write a book of many pages, beside the one that hands the pages out."""

WRITERS = 2
MANY = 5  # pages


def share(app, env):
    """Have Sphinx write as its `-j` does, which Jupyter Book's command does not pass on.

    Pages are read one after the other: a class that two modules of the reference show would be found in the one read
    last, whichever that is.
    """
    if len(env.found_docs) > MANY:
        app.parallel = 1 + WRITERS


def setup(app):
    """Connect to the moment between reading and writing."""
    app.connect("env-check-consistency", share)
