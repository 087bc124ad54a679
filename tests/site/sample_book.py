"""The sample book, which is published as a release: a page for each feature of the site, built once in a run of tests.

Its pages are in the folder `sample`. Browsers open them under the policy that the theme needs, or alone, without the
theme, under the strictest.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_page import bare_page
from built_site import HEIGHTS, ROOT, WIDTHS
from filelock import FileLock
from PIL import Image
from published import published
from serving import BOOK, PagesHandler, serving
from small_book import build, make_book, read_page

sys.path.insert(0, str(ROOT / "_ext"))  # for the tests of its parts

PAGES = Path(__file__).with_name("sample")
FROM_THE_COURSE = ("LICENSE", "CITATION.cff", "claims.md", "instructors/pictures.md", "instructors/objectives.md")
ADDRESS = "https://someone.github.io/repository/"
CALM = {"reduced_motion": "reduce"}
FILLER = "More words. " * 60


def make_sample(book: Path) -> Path:
    files = {path.relative_to(PAGES).as_posix(): path.read_text(encoding="utf-8") for path in PAGES.rglob("*.*")}
    make_book(book, {name: text.replace("{filler}", FILLER) for name, text in files.items()})
    for name in FROM_THE_COURSE:
        (book / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, book / name)
    Image.new("RGB", (40, 20), "red").save(book / "dot.png")
    publish(book / "_config.yml")
    return book


def publish(config: Path) -> None:
    """Write an address into a configuration, and the tag of a release."""
    now, text = published(ROOT), config.read_text(encoding="utf-8")
    text = text.replace(now["url"], "https://github.com/someone/repository").replace(now["baseurl"], ADDRESS[:-1])
    config.write_text(text.replace(f"  branch: {now['branch']}", "  branch: v1.2"), encoding="utf-8")


@pytest.fixture(scope="session")
def sample(tmp_path_factory) -> Path:
    """The folder of the built site, which is the same for all workers: the first builds it, and nobody changes it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    said = shared / "sample.txt"
    with FileLock(shared / "sample.lock"):
        if not said.exists():
            result = build(make_sample(shared / "sample"))
            said.write_text(result.stdout + result.stderr if result.returncode else "")
    assert not said.read_text()
    return shared / "sample" / "_build" / "html"


@pytest.fixture(scope="session")
def sample_host(sample, tmp_path_factory) -> Iterator[str]:
    """The address of the sample on a host, in the folder that its own address names."""
    folder = tmp_path_factory.mktemp("host")
    (folder / "repository").symlink_to(sample)
    with serving(folder, BOOK, PagesHandler) as address:
        yield f"{address}/repository"


@pytest.fixture(scope="module")
def alone(sample, tmp_path_factory) -> Iterator:
    """A function that puts what a page says into one without the theme, with one part of the site; and its address."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / "_static").symlink_to(sample / "_static")
    # Styles inside formulas are KaTeX's.
    policy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
    with serving(folder, policy) as address:

        def alone(name: str, part: str, theme: str = "light") -> str:
            page = bare_page("Alone", part, read_page(sample, name).article.decode_contents(), theme, "_static/")
            (folder / f"{part}_{theme}.html").write_text(page, encoding="utf-8")
            return f"{address}/{part}_{theme}.html"

        yield alone


@pytest.fixture
def open_sample(browser, sample_host) -> Iterator:
    """A function that opens a page of the sample, or an address, in a browser of its own; it must log no error."""
    contexts, errors = [], []

    def open_sample(name: str, scheme: str = "light", width: str = "desktop", **options):
        viewport = {"width": WIDTHS[width], "height": HEIGHTS[width]}
        context = browser.new_context(**{"color_scheme": scheme, "viewport": viewport} | CALM | options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: message.type in ("error", "warning") and errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(name if ":" in name else f"{sample_host}/{name}", wait_until="load")
        return page

    yield open_sample
    for context in contexts:
        context.close()
    assert errors == []
