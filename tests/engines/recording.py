"""A local server whose pages keep their own errors, so that every engine tells them the same way."""

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from serving import BOOK, StrictHandler

RECORDER = b"""<script>
window.courseErrors = [];
addEventListener("error", (event) => courseErrors.push(event.message ?? "not loaded: " + event.target.outerHTML), true);
addEventListener("unhandledrejection", (event) => courseErrors.push("rejected: " + event.reason));
addEventListener("securitypolicyviolation", (event) => courseErrors.push("refused: " + event.blockedURI));
for (const kind of ["error", "warn"]) {
  const tell = console[kind];
  console[kind] = (...words) => (courseErrors.push(words.join(" ")), tell(...words));
}
</script>"""


class RecordingHandler(StrictHandler):
    """Serves pages with the recorder as their first script."""

    def do_GET(self) -> None:
        """Answer with a page and its recorder, or with any other file as it is."""
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html" or not path.is_file():
            super().do_GET()
            return
        page = path.read_bytes().replace(b"<head>", b"<head>" + RECORDER, 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)


@contextmanager
def recording(folder: Path) -> Iterator[str]:
    """The address of a folder on a local server that is as strict as the book allows."""
    handler = functools.partial(RecordingHandler, directory=folder, policy=BOOK)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
