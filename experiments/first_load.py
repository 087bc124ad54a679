"""Load the site's pages as a phone does on a slow network, and weigh what they ask for.

python experiments/first_load.py [PAGE ...]        after `make site`; needs Chromium ($CHROMIUM, or on the path)

Slow 4G is 1.6 Mbit/s and 150 ms a request, the cache is empty, and text travels compressed, as GitHub Pages sends it.
The processor is slowed four times, as Lighthouse does it. Which phone that makes of a machine is told by its benchmark
index then, before and after: Chrome's developer tools take 264 for one of the low tier. Nothing is pressed. A page that
misses a goal is loaded four times more, and the median of the five counts. Of the reference, whose pages are made
alike, one is loaded. The server here speaks HTTP/1.1, so that at most six requests travel at a time.

The first picture is the first figure, diagram or explorer of the article that no fold hides, whether it is in view or
not. Its time is the end of the first frame in which it is there as a whole, the image of a figure included, and
anything at all is painted; for a frame of less than 50 ms, which a browser does not tell of, its beginning. The layout
shift is the sum of all shifts: while the page loads, and then while it is scrolled through once, a screen at a time.
"""

import functools
import gzip
import http.server
import json
import os
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

from attention_course.course import measure

RESULTS = Path(__file__).parent / "results" / "first_load.json"

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from built_site import HEIGHTS, SITE, WIDTHS, page_names  # noqa: E402

OF_THE_REFERENCE = "api/efficient.performer.html"

NETWORK = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 750e3 / 8}
SLOWED = 4  # times
IDLE = 2.0  # seconds in which nothing is asked for and nothing arrives, after the page's own end of loading
STEP = 0.15  # seconds on each screen while the page is scrolled through
COMPRESSED = {".html", ".css", ".js", ".svg", ".json", ".txt", ".ipynb"}  # pictures and fonts are so by themselves
HEAVIEST = 25  # files in the record

# Lighthouse's benchmark index: the mean of how often a second, in tens, a text of 10,000 letters is built letter by
# letter, and 100,000 integers are copied.
INDEX = """() => {
  const perSecond = (work) => {
    const begun = performance.now();
    let times = 0;
    for (; times % 10 || performance.now() < begun + 500; times++) work();
    return (1000 * times) / (performance.now() - begun);
  };
  const source = Array.from({ length: 100_000 }, (_, number) => number);
  const copied = [...source];
  let built = "";
  const build = () => {
    built = "";
    for (let letter = 0; letter < 10_000; letter++) built += "a";
  };
  const copy = () => {
    for (let place = 0; place < source.length; place++) copied[place] = source[place];
  };
  return (perSecond(build) + perSecond(copy)) / 20;
}"""

GOALS = {"kilobytes": 500, "picture": 2.0, "shift": 0.05}

OBSERVE = """
(() => {
  const seen = (globalThis.firstLoad = { found: null, frames: [], shift: 0 });
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries()) if (!shift.hadRecentInput) seen.shift += shift.value;
  }).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) seen.frames.push([startTime, startTime + duration]);
  }).observe({ type: "long-animation-frame", buffered: true });

  const PICTURES = ".bd-article :is(img, svg.course-diagram, .course-explorer :is(img, svg, canvas))";
  const arrived = (node) =>
    document.readyState !== "loading" || Boolean(node.nextSibling) || (node.parentNode && arrived(node.parentNode));
  const isWhole = (one) => (one.localName === "img" ? one.complete && one.naturalWidth > 0 : arrived(one));
  const look = () => {
    const first = [...document.querySelectorAll(PICTURES)].find((picture) => picture.checkVisibility());
    if (first && isWhole(first)) seen.found = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""
READ = """() => {
  const text = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  const { found, frames, shift } = firstLoad;
  const [, drawn] = frames.find(([begins, ends]) => begins <= found && found <= ends) ?? [found, found];
  return { shift, text, picture: found && Math.max(drawn, text) };
}"""


@functools.cache
def sent(path: Path) -> bytes:
    """What the server sends of a file."""
    content = path.read_bytes()
    return gzip.compress(content, compresslevel=6, mtime=0) if path.suffix in COMPRESSED else content


class CompressingHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files as GitHub Pages does: text compressed, over connections that stay open."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send a file."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        body = sent(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(body)))
        if path.suffix in COMPRESSED:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    """The address of the built site on a local server."""
    handler = functools.partial(CompressingHandler, directory=SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Traffic:
    """What a page asked for, and what of it has arrived."""

    def __init__(self, session):
        self.addresses, self.bytes = {}, Counter()
        self.last = time.monotonic()
        session.on("Network.requestWillBeSent", self.begin)
        session.on("Network.dataReceived", self.note)
        session.on("Network.loadingFinished", self.end)

    def note(self, event: dict) -> None:
        """Note that something is on its way."""
        self.last = time.monotonic()

    def begin(self, event: dict) -> None:
        """Note a request, unless it is for what the page itself holds."""
        self.note(event)
        address = urlsplit(event["request"]["url"])
        if address.scheme == "http":
            self.addresses[event["requestId"]] = address.path

    def end(self, event: dict) -> None:
        """Note its end, with the bytes of its header and of its compressed body."""
        self.note(event)
        if event["requestId"] in self.addresses:
            self.bytes[self.addresses[event["requestId"]]] += int(event["encodedDataLength"])

    def wait(self, page: Page) -> None:
        """Wait until nothing has been on its way for a while. The end of a worker's script is not told to the page."""
        while time.monotonic() - self.last < IDLE:
            page.wait_for_timeout(100)


def benchmark_index(browser: Browser) -> int:
    """Of this machine, slowed: the median of five."""
    page = browser.new_page()
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    found = median(page.evaluate(INDEX) for _ in range(5))
    page.close()
    return round(found)


def load(browser: Browser, address: str) -> tuple[dict, Counter]:
    """Load a page once, with an empty cache: what was measured, and the bytes of each file."""
    context = browser.new_context(viewport={"width": WIDTHS["phone"], "height": HEIGHTS["phone"]})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", NETWORK)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    page.add_init_script(OBSERVE)
    traffic = Traffic(session)
    page.goto(address, wait_until="load", timeout=120_000)
    traffic.wait(page)
    loaded, files = page.evaluate(READ), Counter(traffic.bytes)
    scroll_through(page)
    shifted = page.evaluate("firstLoad.shift") - loaded["shift"]
    context.close()
    seconds = {name: loaded[name] and round(loaded[name] / 1000, 2) for name in ("text", "picture")}
    return {
        "kilobytes": round(sum(files.values()) / 1000),
        "requests": len(files),
        **seconds,
        "shift": round(loaded["shift"], 3),
        "shift while scrolled": round(shifted, 3),
    }, files


def scroll_through(page: Page) -> None:
    """Scroll to the end, a screen at a time."""
    while page.evaluate("scrollY + innerHeight < document.documentElement.scrollHeight - 1"):
        page.evaluate("scrollBy({ top: innerHeight, behavior: 'instant' })")
        page.wait_for_timeout(1000 * STEP)


def misses(measured: dict) -> list[str]:
    """The goals that a page misses."""
    return [name for name, most in GOALS.items() if measured[name] is not None and measured[name] > most]


def measure_page(browser: Browser, address: str) -> tuple[dict, Counter]:
    """Load a page, and four times more if it misses a goal; then the median counts."""
    measured, files = load(browser, address)
    if not misses(measured):
        return measured, files
    runs = [measured, *(load(browser, address)[0] for _ in range(4))]
    seen = {name: [run[name] for run in runs if run[name] is not None] for name in measured}
    return {name: median(values) if values else None for name, values in seen.items()}, files


def print_worst(pages: dict[str, dict]) -> None:
    """A table of the pages that miss a goal, or of the ten heaviest where none does."""
    bad = {name: page for name, page in pages.items() if misses(page)}
    shown = bad or dict(sorted(pages.items(), key=lambda item: -item[1]["kilobytes"])[:10])
    print(f"{len(bad)} of {len(pages)} pages miss a goal: {GOALS}")
    print(f"{'':36}{'kB':>6}{'requests':>10}{'text, s':>9}{'picture, s':>12}{'shift':>8}{'scrolled':>10}")
    for name, page in sorted(shown.items(), key=lambda item: -item[1]["kilobytes"]):
        picture = page["picture"] if page["picture"] is not None else "none"
        print(
            f"{name:36}{page['kilobytes']:>6}{page['requests']:>10}{page['text']:>9}{picture:>12}{page['shift']:>8}"
            f"{page['shift while scrolled']:>10}"
        )


def summarize_files(files: Counter, loads: Counter) -> dict[str, dict]:
    """The files that weigh most over all pages, and how many pages ask for each."""
    return {name: {"kilobytes": round(size / 1000), "pages": loads[name]} for name, size in files.most_common(HEAVIEST)}


def main() -> None:
    if not (SITE / "intro.html").exists():
        sys.exit("there is no built site in _build/html: run `make site` first")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("no Chromium found: install one or set CHROMIUM")
    asked = sys.argv[1:]
    pages, weights, loads = {}, Counter(), Counter()
    with served() as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        before = benchmark_index(browser)
        print(f"benchmark index: {before}", flush=True)
        of_all = [name for name in page_names() if not name.startswith("api/") or name == OF_THE_REFERENCE]
        for name in asked or of_all:
            pages[name], files = measure_page(browser, f"{origin}/{name}")
            weights.update(files)
            loads.update(files.keys())
            print(name, pages[name], flush=True)
        record = {
            "machine": measure.describe_machine(),
            "browser": f"Chromium {browser.version}, headless, without a GPU",
            "date": date.today().isoformat(),
            "network": "1.6 Mbit/s, 150 ms, HTTP/1.1, gzip, an empty cache",
            "processor": f"slowed {SLOWED} times",
            "benchmark index": [before, benchmark_index(browser)],
            "window": [WIDTHS["phone"], HEIGHTS["phone"]],
            "goals": GOALS,
            "pages that miss": {name: misses(page) for name, page in pages.items() if misses(page)},
            "pages": pages,
            "heaviest files": summarize_files(weights, loads),
        }
        browser.close()
    print_worst(pages)
    if not asked:  # of a few pages nothing is recorded
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
