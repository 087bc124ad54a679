"""Where the course is published: its repository, and the site's own address.

Both stand in `_config.yml`, as `make url` writes them. While they are placeholders the site has no address.
"""

from urllib.parse import urlsplit

PLACEHOLDER = "your-organisation"


def is_published(repository_url):
    """Whether the repository has an address yet."""
    return PLACEHOLDER not in repository_url


def site_path(config):
    """The path of the site's address, `/course/`; `/` while it has none."""
    return urlsplit(config.html_baseurl).path or "/"


def note_address(app, config):
    """Say where the site will stand: nowhere while the repository has no address, and else as a folder."""
    published = is_published(config.html_theme_options["repository_url"])
    config.html_baseurl = f"{config.html_baseurl.rstrip('/')}/" if published and config.html_baseurl else ""


def setup(app):
    """Connect to the reading of the configuration: a page is written again where any of this changes."""
    app.connect("config-inited", note_address)
