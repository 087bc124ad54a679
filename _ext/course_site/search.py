"""Search that finds sections: a list of every place that has an address, which the search page alone loads."""

import json
import keyword
import re
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import desc, desc_signature
from sphinx.util import logging

from .scripts import load_script, write_script

logger = logging.getLogger(__name__)

PAGE = "search"
GLOSSARY = "glossary"
INDEX = "search-index.js"
LIBRARY = "minisearch/minisearch.js"
# Groups of words that are the same to a search; and readers' questions that a place answers without their words.
SAME, ASKED = json.loads(Path(__file__).with_name("search_aliases.json").read_text(encoding="utf-8")).values()

NAME = re.compile(r"[^\W\d]\w+|\d{1,3}(?:,\d{3})+")  # a number from a thousand on says which run it was
COMMAND = re.compile(r"\\[a-zA-Z]+")
SILENT = (nodes.raw, nodes.comment, nodes.target, nodes.system_message)
# Where a reader is sent last: to what asks, repeats or lists, before what explains.
WEIGHTS = {"Exercises": 0.5, "What you can do now": 0.3, "Next": 0.3, "Papers": 0.3}
REFERENCE = 0.5
LOOK_UP, LOOKED_UP = "Look it up", 0.6  # the part whose pages repeat in a cell what lessons explain


def is_place(node):
    """Whether a node has an entry of its own: a section, a word of the glossary, a function of the reference."""
    return isinstance(node, nodes.section | nodes.definition_list_item | desc) and bool(anchor(node))


def anchor(place):
    """The id of a place, or ''."""
    ids = place["ids"] if isinstance(place, nodes.section) else place[0]["ids"]
    return ids[0] if ids else ""


def heading(place):
    """What a place is called."""
    first = place[0]
    return first.get("fullname", first.get("ids", [""])[0]) if isinstance(first, desc_signature) else first.astext()


def titles(place):
    """The titles of the sections that a place stands in, the page's first."""
    above = []
    while place := place.parent:
        if isinstance(place, nodes.section):
            above.insert(0, place[0].astext())
    return above


def names_in(code):
    """The names in some code, each once; words of comments and strings are among them."""
    return [name for name in dict.fromkeys(NAME.findall(code)) if not keyword.iskeyword(name)]


class Words:
    """What a place says, apart from the places in it: its prose, the names in its code, and what was printed."""

    def __init__(self, place):
        self.prose, self.code, self.printed = [], [], []
        self.title = place[0]
        self.read(place)

    def read(self, node):
        """Read what is in a node."""
        for child in node.children:
            if child is self.title or is_place(child) or isinstance(child, SILENT) or is_folded(child):
                continue
            if isinstance(child, nodes.math | nodes.math_block):
                self.read_formula(child.astext())
            elif isinstance(child, nodes.literal_block):
                (self.printed if "output" in child["classes"] else self.code).extend(names_in(child.astext()))
            elif isinstance(child, nodes.Text):
                self.prose.append(child.astext())
            else:
                self.read(child)
        if isinstance(node, nodes.Element) and not isinstance(node, nodes.Inline):
            self.prose.append(" ")

    def read_formula(self, tex):
        """Keep a formula that is as good as text, and of another the names of its signs."""
        self.code.extend(command[1:] for command in COMMAND.findall(tex))
        self.prose.append("…" if "\\" in tex else tex)


def is_folded(node):
    """Whether a node is the code of a folded cell."""
    is_code = isinstance(node, nodes.Element) and "cell_input" in node.get("classes", ())
    return is_code and bool(node.parent.get("hide_mode"))


def pages_to_look_up(app):
    """The pages that hold recipes: whoever types a recipe's heading is sent there, others to the lesson first."""
    parts = app.config.external_site_map.root.subtrees
    return {str(page) for part in parts if part.caption == LOOK_UP for page in part.items}


def read_place(place):
    """Where on its page a place is, and what it says; the page's own section is its top."""
    above, words = titles(place), Words(place)
    return f"#{anchor(place)}" if above else "", {
        "title": heading(place),
        "above": above,
        "text": " ".join("".join(words.prose).split()),
        "code": " ".join(dict.fromkeys(words.code)),
        "printed": " ".join(dict.fromkeys(words.printed)),
    }


def read_places(app, doctree):
    """Keep what the places of a page say: to load every page again, when all are read, takes ten seconds."""
    places = [read_place(place) for place in doctree.findall(is_place)]
    app.env.metadata[app.env.docname]["places"] = places


def entry(part, said, page, app):
    """What the script knows of a place."""
    names = [*said["above"], said["title"]]
    weight = REFERENCE if page.startswith("api/") else min(WEIGHTS.get(name, 1) for name in names)
    if page in pages_to_look_up(app):
        weight = LOOKED_UP
    address = f"{app.builder.get_target_uri(page)}{part}"
    return {"address": address, **said, "asked": ASKED.get(f"{page}{part}", ""), "weight": weight}


def name_terms(app, doctree):
    """Give each word of the glossary an address."""
    if app.env.docname == GLOSSARY:
        for term in doctree.findall(nodes.term):
            term["ids"].append(nodes.make_id(f"term-{term.astext()}"))


def warn_of_lost(places, pages):
    """Warn of questions whose answer is no longer where it was."""
    addresses = {place["address"].replace(".html", "") for place in places}
    for address in ASKED:
        if address.partition("#")[0] in pages and address not in addresses:
            logger.warning("search_aliases.json sends a question to %s, which is no place", address)


def write_page(app):
    """Write the list of all places, and have the search page written."""
    pages = list(app.env.collect_relations())
    places = [entry(*place, page, app) for page in pages for place in app.env.metadata[page]["places"]]
    warn_of_lost(places, pages)
    data = json.dumps({"places": places, "same": SAME}, ensure_ascii=False, separators=(",", ":"))
    Path(app.outdir, "_static", INDEX).write_text(f"window.courseSearch = {data};\n", encoding="utf-8")
    yield PAGE, {}, "search.html"


def load_scripts(app, pagename, templatename, context, doctree):
    """Load the script on the search page, and tell it where to find the library and the list."""
    if pagename == PAGE:
        context["search_needs"] = " ".join(context["pathto"](f"_static/{name}", 1) for name in (LIBRARY, INDEX))
        load_script(app, PAGE)


def begin(app):
    """Put Sphinx's own search, which finds pages by words that are all in them, out of the way."""
    app.builder.search = False
    write_script(app, PAGE)


def setup(app):
    """Connect to the build, to the reading of the glossary, and to the writing of pages."""
    app.connect("builder-inited", begin)
    app.connect("doctree-read", name_terms)
    app.connect("doctree-read", read_places, priority=900)  # when other parts have changed what they change
    app.connect("html-collect-pages", write_page)
    app.connect("html-page-context", load_scripts)
