"""Words of the glossary are marked where a chapter first uses them; a script shows their entries there.

A mark changes nothing that is seen: without scripts, and on paper, the page is as it was. The entries that a page needs
follow its text, hidden, in the order of the marks.
"""

import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from docutils import nodes
from sphinx.util.osutil import relative_uri

from .scripts import load_script, write_script

GLOSSARY = "glossary"
EXCEPTIONS = "_terms.yml"  # beside the glossary
CHAPTERS = "chapters/"
MARK = "course-term"

# What prose is made of. Headings, links, code, maths, tables, quick checks and outputs are not in it.
PROSE = (
    nodes.document,
    nodes.section,
    nodes.paragraph,
    nodes.bullet_list,
    nodes.enumerated_list,
    nodes.list_item,
    nodes.block_quote,
    nodes.strong,
)


def pattern_of(words):
    """A regular expression for some words: with a capital, in the plural, and over the end of a line."""
    first, rest = words[0], words[1:]
    start = f"[{first}{first.upper()}]" if first.islower() else re.escape(first)
    plural = f"{re.escape(rest[:-1])}(?:ys?|ies)" if rest.endswith("y") else f"{re.escape(rest)}(?:e?s)?"
    return start + plural.replace(r"\ ", r"\s+")


def find_terms(glossary):
    """Every term of the glossary and its explanation, by name, in the order of the page."""
    items = glossary.findall(nodes.definition_list_item)
    return {item[0].astext(): item[-1] for item in items}


def read_exceptions(folder):
    """How the text says terms that it does not call by their names, and pages that use some in another sense first."""
    file = Path(folder, EXCEPTIONS)
    said = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
    return said.get("said", {}), said.get("another_sense", {})


class Terms:
    """Finds the terms of a glossary in texts, the longest that fits; `said` has the words for some of them."""

    def __init__(self, names, said):
        said = sorted(
            ((words, name) for name in names for words in said.get(name, (name,))), key=lambda pair: -len(pair[0])
        )
        self.names = [name for _, name in said]
        either = "|".join(f"({pattern_of(words)})" for words, _ in said)
        self.pattern = re.compile(rf"(?<![\w-])(?:{either})(?![\w-])")

    def find(self, text):
        """The matches in a text, each with the name of its term."""
        return [(match, self.names[match.lastindex - 1]) for match in self.pattern.finditer(text)] if self.names else []


@cache
def terms_of(env):
    """The terms of a book's glossary, and by page those used in another sense first, read once in a build."""
    said, another_sense = read_exceptions(env.srcdir)
    return Terms(find_terms(env.get_doctree(GLOSSARY)), said), another_sense


@cache
def explanations_of(app):
    """What the glossary says of each term, with its links, read once in a build."""
    return find_terms(app.env.get_and_resolve_doctree(GLOSSARY, app.builder))


def is_prose(text):
    """Whether a text stands in paragraphs or lists of the page itself."""
    node = text.parent
    while isinstance(node, PROSE):
        if isinstance(node, nodes.document):
            return True
        node = node.parent
    return False


def join_lines(document):
    """Make one text of those that only the end of a line divides."""
    for paragraph in document.findall(nodes.TextElement):
        for index in range(len(paragraph) - 1, 0, -1):
            before, after = paragraph[index - 1 : index + 1]
            if isinstance(before, nodes.Text) and isinstance(after, nodes.Text):
                paragraph[index - 1 : index + 1] = [nodes.Text(before + after)]


def prose(document):
    """The texts that a reader of the page reads on the way, in order: nothing that is folded away."""
    open_folds = 0
    for node in list(document.findall()):
        if isinstance(node, nodes.raw):
            open_folds += node.astext().count("<details") - node.astext().count("</details")
        elif isinstance(node, nodes.Text) and not open_folds and is_prose(node):
            yield node


def mark_text(text, terms, seen):
    """Mark the terms in a text that were not seen before. What is in bold is explained right there."""
    pieces, end = [], 0
    for match, name in terms.find(text):
        if name not in seen and not isinstance(text.parent, nodes.strong):
            mark = nodes.inline("", match[0], classes=[MARK], term=name)
            pieces += [nodes.Text(text[end : match.start()]), mark]
            end = match.end()
        seen.add(name)
    if pieces:
        text.parent.replace(text, [*pieces, nodes.Text(text[end:])])


def mark_terms(app, doctree, docname):
    """Mark the first use of each term in a chapter."""
    if not docname.startswith(CHAPTERS) or GLOSSARY not in app.env.found_docs:
        return
    terms, another_sense = terms_of(app.env)
    seen = set(another_sense.get(docname, ()))
    join_lines(doctree)
    for text in prose(doctree):
        mark_text(text, terms, seen)


def drop_link(link):
    """Take a link out of an entry: a last sentence that says nothing else is cut, and in another one its words stay."""
    parent, place = link.parent, link.parent.index(link)
    before, behind = parent[place - 1].astext() if place else "", parent[place + 1 :]
    if before.endswith("See ") and "".join(part.astext() for part in behind) in ("", "."):
        parent[place - 1 :] = [nodes.Text(before.removesuffix("See "))]
    else:
        link.replace_self(link.children)


def point_links(app, entry, pagename):
    """Have the links of an entry lead from a page, and drop those that would lead to the page itself."""
    here, glossary = app.builder.get_target_uri(pagename), app.builder.get_target_uri(GLOSSARY)
    for link in list(entry.findall(nodes.reference)):
        page, mark, part = link.get("refuri", f"#{link.get('refid')}").partition("#")
        if urlsplit(page).scheme:
            continue
        address = f"{relative_uri(here, page or glossary)}{mark}{part}"
        if address:
            link["refuri"] = address
        else:
            drop_link(link)


def make_entry(app, name, explanation, pagename):
    """What pops up: the term, and what the glossary says of it."""
    entry = nodes.container(classes=["course-entry"])
    entry += nodes.paragraph("", name, classes=["course-entry-term"])
    entry += [part.deepcopy() for part in explanation]
    point_links(app, entry, pagename)
    return entry


def add_entries(app, pagename, templatename, context, doctree):
    """Append the entries of the marked terms to a page. They are no part of its document, which is searched."""
    marks = [mark for mark in doctree.findall(nodes.inline) if MARK in mark["classes"]] if doctree else []
    if marks:
        explanations = explanations_of(app)
        entries = [make_entry(app, mark["term"], explanations[mark["term"]], pagename) for mark in marks]
        html = "".join(app.builder.render_partial(entry)["fragment"] for entry in entries)
        context["body"] += f'<div class="course-terms" hidden>\n{html}</div>\n'
        load_script(app, "terms")


def depend_on_exceptions(app, docname, source):
    """Have the glossary read again when its exceptions are others."""
    if docname == GLOSSARY:
        app.env.note_dependency(EXCEPTIONS)


def chapters_with_it(app, env, added, changed, removed):
    """All chapters, when the glossary is another."""
    is_other = GLOSSARY in added | changed | removed
    return [name for name in env.found_docs if name.startswith(CHAPTERS)] if is_other else []


def setup(app):
    """Connect to the start of the build, to the search for outdated pages, and to the writing of pages."""
    app.connect("builder-inited", lambda app: write_script(app, "terms"))
    app.connect("source-read", depend_on_exceptions)
    app.connect("env-get-outdated", chapters_with_it)
    app.connect("doctree-resolved", mark_terms)
    app.connect("html-page-context", add_entries)
