"""A folder on a local server, under a content security policy."""

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Nothing but files of the same site: no inline script or style, no eval, no images in data.
STRICT = "default-src 'self'"
# What the theme needs on every page of the book, and explorers do not: scripts and styles inside the page
# (also those of KaTeX and of pandas' tables), and icons as data inside Bootstrap's stylesheet.
BOOK = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"


class StrictHandler(http.server.SimpleHTTPRequestHandler):
    """Serves every file under a policy, without a line on the terminal for each."""

    protocol_version = "HTTP/1.1"  # one connection for the files of a page

    def __init__(self, *args, policy: str, **options):
        self.policy = policy
        super().__init__(*args, **options)

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", self.policy)
        super().end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class PagesHandler(StrictHandler):
    """Answers for a site in a folder of the host as GitHub Pages does: what is not there is the site's 404.html."""

    def send_error(self, code: int, *arguments: object, **options: object) -> None:
        file = Path(self.directory, self.path.split("/")[1], "404.html")
        if not file.exists():  # outside the site's folder
            super().send_error(code, *arguments, **options)
            return
        page = file.read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)


@contextmanager
def serving(folder: Path, policy: str = STRICT, handler: type[StrictHandler] = StrictHandler) -> Iterator[str]:
    """The address of a folder on a local server with a policy."""
    handler = functools.partial(handler, directory=folder, policy=policy)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
