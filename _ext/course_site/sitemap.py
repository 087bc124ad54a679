"""What search engines ask a site for: the list of its pages, and robots.txt, which leads to it.

They look for robots.txt at the root of a host only. A site in a folder of one, as GitHub Pages serves it, is found by
its links, or by the list's address.
"""

from pathlib import Path
from xml.etree import ElementTree

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def sitemap(addresses):
    """The list of pages in the format of sitemaps.org."""
    root = ElementTree.Element("urlset", xmlns=NAMESPACE)
    for address in addresses:
        ElementTree.SubElement(ElementTree.SubElement(root, "url"), "loc").text = address
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def write_lists(app, exception):
    """Write both; the list of pages has whole addresses, and is left out while the site has none."""
    if exception:
        return
    base, lines = app.config.html_baseurl, ["User-agent: *", "Disallow:"]
    file = Path(app.outdir, "sitemap.xml")
    if base:
        addresses = [f"{base}{app.builder.get_target_uri(page)}" for page in sorted(app.env.found_docs)]
        file.write_text(sitemap(addresses), encoding="utf-8")
        lines.append(f"Sitemap: {base}{file.name}")
    else:
        file.unlink(missing_ok=True)
    Path(app.outdir, "robots.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app):
    """Connect to the end of a build."""
    app.connect("build-finished", write_lists)
