"""Where the course is published, and as which version: write it into the files that say so, and into every notebook.

`_config.yml` says the repository, its branch or tag, and the site's address; pyproject.toml the version. The notebooks'
first cells repeat them (`setup_cell`). This runs before anything is installed.
"""

import re
import sys
from pathlib import Path

from setup_cell import write_cells

PLACES = {  # where it is written, the first time for whoever reads it
    "url": [("_config.yml", r"^  url: *(\S*)"), ("CITATION.cff", r"^repository-code: *(\S*)")],
    "branch": [("_config.yml", r"^  branch: *(\S*)")],
    "baseurl": [("_config.yml", r"^  baseurl: *(\S*)")],
    "version": [("pyproject.toml", r'^version = "(.*)"'), ("CITATION.cff", r"^version: *(\S*)")]
    + [("attention_classroom/pyproject.toml", r'^version = "(.*)"')],
}


def find(root, place):
    """The text of a file, and where in it the value stands."""
    file, pattern = place
    text = (root / file).read_text(encoding="utf-8")
    return text, re.search(pattern, text, re.MULTILINE).span(1)


def published(root: Path = Path(".")) -> dict[str, str]:
    """Where the course is published, and as what: `url`, `branch`, `baseurl` (of the site) and `version`."""
    found = {name: find(root, places[0]) for name, places in PLACES.items()}
    return {name: text[start:end] for name, (text, (start, end)) in found.items()}


def write(name, value):
    """Write another value into the files in which it stands."""
    for place in PLACES[name]:
        text, (start, end) = find(Path("."), place)
        Path(place[0]).write_text(text[:start] + value + text[end:], encoding="utf-8")


def named(url, site):
    """The repository and its site, by the addresses given; GitHub's tell where their pages are."""
    if not re.fullmatch(r"https://[^/]+/\S+(?<!\.git)(?<!/)", url):
        sys.exit("Say which: make url URL=https://github.com/organisation/repository")
    if pages := re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)", url):
        host = f"{pages[1].lower()}.github.io"
        site = site or (f"https://{host}" if pages[2].lower() == host else f"https://{host}/{pages[2]}")
    if not site:
        sys.exit(f"Say also where its site is: make url URL={url} SITE=https://...")
    if not site.startswith("https://"):
        sys.exit(f"The site's address begins with https://: make url URL={url} SITE=https://..., not SITE={site}")
    return {"url": url, "baseurl": site.rstrip("/")}


def main(action, *values):
    """`url URL SITE` or `version VERSION BRANCH`; what is empty stays as it is."""
    changed = named(*values) if action == "url" else dict(zip(("version", "branch"), values, strict=True))
    for name, value in changed.items():
        if value:
            write(name, value)
    write_cells(published())
    print("\n".join(f"{name}: {value}" for name, value in published().items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
