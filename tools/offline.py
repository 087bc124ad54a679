"""Packs the built site into one file. Unpacked, it is read from its folder, with neither a network nor a server."""

import re
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

SITE = Path("_build/html")
FILE = SITE / "attention-course.zip"
FOLDER = "attention-course"  # what it unpacks to
# What only a site with an address has: pages and pictures for its host and for search engines, and tags that name it.
FOR_A_HOST = re.compile(r"(404\.html|robots\.txt|sitemap\.xml|_static/cards/.*|\..*)")
NAMES_ITS_ADDRESS = re.compile(
    r'<link rel="canonical" href="https?:[^>]*>|<meta property="og:(?:url|image)" [^>]*>'
    r'|<span class="course-offline">.*?</span>',
    re.DOTALL,
)


def pack():
    """Write the file, beside the pages, and return where it is."""
    FILE.unlink(missing_ok=True)
    unfinished = SITE.with_name(FILE.name)
    with ZipFile(unfinished, "w", ZIP_DEFLATED) as archive:
        for path in sorted(path for path in SITE.rglob("*") if path.is_file()):
            name = path.relative_to(SITE).as_posix()
            if FOR_A_HOST.fullmatch(name):
                continue
            if path.suffix == ".html":
                page = path.read_text(encoding="utf-8")
                archive.writestr(f"{FOLDER}/{name}", NAMES_ITS_ADDRESS.sub("", page))
            else:
                archive.write(path, f"{FOLDER}/{name}")
    return unfinished.rename(FILE)


if __name__ == "__main__":
    file = pack()
    print(f"The site is in {file} too ({file.stat().st_size / 2**20:.0f} MB): unpack it, and open index.html")
