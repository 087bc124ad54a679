"""Time a keystroke in the live model, from the event until its pictures are drawn, beside PyTorch's forward pass.

And a change of the live translator: one head on or off.

python experiments/live_model.py        needs Chromium ($CHROMIUM, or on the path)

A keystroke at either end of 64 and of 128 characters, with the folds as the page opens, and with all of them open and
every map on show. At the end it computes one token more, in front all of them; with the mask lifted all are computed
anew, beside those of the intact model. PyTorch computes all, and draws nothing.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from statistics import median

import torch
from playwright.sync_api import sync_playwright

from attention_course.course import measure, recorded
from attention_course.course.checkpoints import load_character_model
from attention_course.encoder_decoder import EncoderDecoder
from attention_course.explore import explore_model
from attention_course.tasks.translation import ENGLISH, N_TARGET, VOCABULARY

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "live_model.json"
CHARACTERS, KEYS = (64, 128), 50

sys.path.insert(0, str(ROOT / "tools"))
from bare_page import bundle_live, write_pages  # noqa: E402
from serving import serving  # noqa: E402

# Makes a change some times, waits until the view shows it, and reads a pixel of each map.
TIMED = """
  const view = document.querySelector(".course-live");
  const timed = async (change, count) => {
    const times = [];
    for (let turn = -10; turn < count; turn++) { // the first ten are not counted
      const before = view.explorer;
      const start = performance.now();
      change(turn);
      while (view.explorer === before) await new Promise((done) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = done;
        port2.postMessage(null);
      });
      view.querySelectorAll("canvas").forEach((map) => map.getContext("2d").getImageData(0, 0, 1, 1));
      if (turn >= 0) times.push(performance.now() - start);
    }
    return times;
  };"""

# Types a character and takes it back, in turn.
TIME = f"""
async ([place, keys]) => {{{TIMED}
  const area = view.querySelector("textarea");
  const text = area.value;
  const longer = place === "front" ? "a" + text.slice(0, -1) : text.slice(0, -1) + "a";
  return timed((key) => {{
    area.value = key % 2 ? longer : text;
    area.dispatchEvent(new Event("input", {{ bubbles: true }}));
  }}, keys);
}}"""

# Switches a head of the translator's cross-attention off and on, in turn, for a sentence of the longest kind.
TOGGLE = f"""
async (times) => {{{TIMED}
  const head = [...view.querySelectorAll("[type=checkbox]")].at(-1);
  return timed(() => head.click(), times);
}}"""


def time_translator(browser, folder: Path) -> dict:
    """Milliseconds of a change of a translator as large as the course's, all of its maps on show."""
    torch.manual_seed(0)
    model = EncoderDecoder(len(VOCABULARY), 64, 4, 2, pad=0)
    with torch.no_grad():
        model.lm_head.bias[VOCABULARY.index(".")] = -100  # so that it writes as much as it may
    text = "these big grey squirrels do not always follow my small black horses."
    words = [*ENGLISH, "."]
    write_pages(folder, [explore_model(model, VOCABULARY, text, alt="Timed.", limit=N_TARGET, source_words=words)])
    milliseconds = {}
    with serving(folder) as origin:
        for host, address in (("worker", origin), ("page", folder.as_uri())):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{address}/light.html")
            page.mouse.move(1, 1)  # the model loads once a reader moves something
            page.locator(".course-live-written button").nth(N_TARGET - 1).wait_for()
            page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
            page.get_by_role("radio", name="all blocks").check()
            milliseconds[host] = summarize(page.evaluate(TOGGLE, KEYS))
            page.close()
    return {"script": len(bundle_live("translator").encode()), "milliseconds": milliseconds}


def time_host(browser, address: str, text: str) -> dict:
    """Milliseconds of a keystroke at both ends of a text: as the page opens, and with every fold open and all maps."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{address}/light.html")
    page.mouse.move(1, 1)  # the model loads once a reader moves something
    page.locator(".course-live-cost:not(:empty)").wait_for()
    page.get_by_label("Your text").fill(text)
    page.locator(".course-live-tokens button").nth(len(text) - 1).wait_for()
    milliseconds = {"folded": {place: time_keys(page, place) for place in ("end", "front")}}
    page.evaluate("for (const box of document.querySelectorAll('details')) box.open = true")
    page.get_by_role("radio", name="all blocks").check()
    milliseconds |= {place: time_keys(page, place) for place in ("end", "front")}
    page.get_by_role("checkbox", name="mask").click()
    milliseconds["mask lifted"] = time_keys(page, "front")
    page.close()
    return milliseconds


def time_keys(page, place: str) -> dict:
    """Milliseconds of a keystroke."""
    return summarize(page.evaluate(TIME, [place, KEYS]))


def time_pytorch(model, symbols) -> dict:
    """Milliseconds of a forward pass with weights, on one thread."""
    times = []
    with torch.no_grad():
        for run in range(KEYS + 10):
            start = time.perf_counter()
            model(symbols, need_weights=True)
            if run >= 10:
                times.append(1000 * (time.perf_counter() - start))
    return summarize(times)


def summarize(times: list[float]) -> dict:
    return {"median": round(median(times), 1), "min": round(min(times), 1), "max": round(max(times), 1)}


def main() -> None:
    torch.set_num_threads(1)
    model, vocabulary = load_character_model()
    text = recorded.load("character_model")["models"]["causal"]["sample"]["text"]
    measured = [recorded.load("switched_off")["models"]["causal"]]
    explorer = explore_model(model, vocabulary, text[: CHARACTERS[0]], alt="To be timed.", measured=measured)
    milliseconds = {str(characters): {} for characters in CHARACTERS}
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_pages(Path(folder), [explorer])
        browser = playwright.chromium.launch(executable_path=chromium)
        weights = sum(path.stat().st_size for path in Path(folder, "models").glob("*.js"))
        with serving(Path(folder)) as origin:
            for host, address in (("worker", origin), ("page", Path(folder).as_uri())):
                for characters in CHARACTERS:
                    milliseconds[str(characters)][host] = time_host(browser, address, text[:characters])
        with tempfile.TemporaryDirectory() as another:
            translator = time_translator(browser, Path(another))
        browser.close()
    symbols = torch.tensor([[vocabulary.index(character) for character in text[: max(CHARACTERS)]]])
    for characters in CHARACTERS:
        milliseconds[str(characters)]["PyTorch"] = time_pytorch(model, symbols[:, :characters])
    result = {
        "machine": measure.describe_machine(),
        "date": date.today().isoformat(),
        "maps": len(model.blocks) * model.blocks[0].attention.n_heads,
        "bytes": {"script": len(bundle_live("model").encode()), "weights": weights},
        "milliseconds": milliseconds,
        "translator": translator,
        "ratio": {
            characters: round(times["worker"]["front"]["median"] / times["PyTorch"]["median"], 1)
            for characters, times in milliseconds.items()
        },
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
