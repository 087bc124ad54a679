"""Quick checks: plain Markdown that a script turns into a form.

A paragraph that opens with **Predict.**, **Say why.**, **By hand.** or **Put in order.**, what follows it, and its
answer in `<details>` become one element, which says of which kind it is and which answer is right. Notebooks elsewhere
and readers without scripts see the Markdown as it stands.
"""

import re
from hashlib import sha256

from docutils import nodes
from docutils.core import publish_doctree
from myst_parser.parsers.docutils_ import Parser
from sphinx.util import logging

from .progress import name_question
from .scripts import load_script, write_script

logger = logging.getLogger(__name__)

KINDS = {"Predict.": "choice", "Say why.": "choice", "By hand.": "number", "Put in order.": "order"}
NUMBER = re.compile(r"[-−]?(\d+(\.\d+)?|\d+/\d+|[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])")
ARROW = "→"


class MalformedCheckError(ValueError):
    """A quick check that no script could ask."""


class Check(nodes.General, nodes.Element):
    """A quick check: its question, its options or lines, and its answer, in order; `data` is for the script."""


def text_of(node):
    """The words of a node, with one space between them."""
    return " ".join(node.astext().split())


def opening(paragraph):
    """The bold text that a paragraph opens with, or ''."""
    if not isinstance(paragraph, nodes.paragraph):
        return ""
    # The Markdown reader leaves an empty text before a paragraph's first word.
    first = next((child for child in paragraph.children if child.astext()), None)
    return text_of(first) if isinstance(first, nodes.strong) else ""


def is_html(node, start):
    """Whether a node is raw HTML that starts so."""
    return isinstance(node, nodes.raw) and node.astext().lstrip().startswith(start)


def items_of(parts, what):
    """The items of the last list among some nodes, each one paragraph."""
    lists = [part for part in parts if isinstance(part, nodes.bullet_list)]
    if not lists:
        raise MalformedCheckError(f"has no list of {what}")
    for item in lists[-1]:
        if len(item) != 1 or not isinstance(item[0], nodes.paragraph):
            raise MalformedCheckError(f"has an item that is not one paragraph: {text_of(item)!r}")
    return list(lists[-1])


def mark_reply(item):
    """Put what follows the arrow of an item into a node of its own, and return the words before the arrow."""
    paragraph = item[0]
    for index, child in enumerate(paragraph.children):
        if isinstance(child, nodes.Text) and ARROW in child:
            before, after = child.split(ARROW, 1)
            reply = nodes.inline("", "", nodes.Text(after.lstrip()), *paragraph.children[index + 1 :])
            reply["classes"] = ["course-check-reply"]
            option = [*paragraph.children[:index], nodes.Text(before.rstrip())]
            paragraph.children = []
            paragraph += [*option, nodes.Text(f" {ARROW} "), reply]
            return " ".join("".join(part.astext() for part in option).split())
    raise MalformedCheckError(f"has a wrong option without a sentence behind ` {ARROW} `: {text_of(paragraph)!r}")


def mix(question):
    """Put the options in another order, always the same for a question: writers like to begin with the right one."""
    options = [part for part in question if isinstance(part, nodes.bullet_list)][-1]
    asked = text_of(question[0])
    options.children.sort(key=lambda item: sha256(f"{asked} {text_of(item)}".encode()).digest())


def choice(question, answer):
    """What the script needs of options: the right one, and which one each item of the answer's list is about."""
    items_of(question, "options")
    mix(question)
    options = [text_of(item) for item in items_of(question, "options")]
    if len(set(options)) < max(2, len(options)):
        raise MalformedCheckError("needs different options, two or more")
    right = opening(answer[0])
    if right not in options:
        raise MalformedCheckError(f"has an answer whose bold beginning is none of the options: {right!r}")
    explained = [mark_reply(item) for item in items_of(answer, "wrong options in its answer")]
    wrong = [option for option in options if option != right]
    if sorted(explained) != sorted(wrong):
        odd = sorted(set(wrong) ^ set(explained)) or explained
        raise MalformedCheckError(f"does not say in its answer, once each, what is wrong with its wrong options: {odd}")
    return {"right": options.index(right), "replies": " ".join(str(options.index(option)) for option in explained)}


def number(question, answer):
    """What the script needs of a number: the number as it is written, and the wrong ones that the answer explains."""
    right = opening(answer[0])
    if not NUMBER.fullmatch(right):
        raise MalformedCheckError(f"has an answer whose bold beginning is no number: {right!r}")
    lists = [part for part in answer if isinstance(part, nodes.bullet_list)]
    slips = [mark_reply(item) for item in items_of(answer, "slips")] if lists else []
    for slip in slips:
        if slip == right or not NUMBER.fullmatch(slip):
            raise MalformedCheckError(f"explains a wrong answer that is no other number: {slip!r}")
    return {"right": right, "slips": " ".join(slips)}


def order(question, answer):
    """Nothing: the script reads the right order from the answer's code."""
    items = items_of(question, "lines")
    if not all(len(item[0]) == 1 and isinstance(item[0][0], nodes.literal) for item in items):
        raise MalformedCheckError("has a line that is not one piece of code in backticks")
    lines = [text_of(item) for item in items]
    blocks = [part for part in answer if isinstance(part, nodes.literal_block)]
    if not blocks:
        raise MalformedCheckError("has no block of code in its answer")
    ordered = [" ".join(line.split()) for line in blocks[0].astext().splitlines() if line.strip()]
    if sorted(lines) != sorted(ordered):
        raise MalformedCheckError(f"has other lines than its answer: {sorted({*lines} ^ {*ordered}) or lines}")
    if lines == ordered:
        raise MalformedCheckError("has its lines in order already")
    return {}


READ = {"choice": choice, "number": number, "order": order}


def make_check(parts):
    """The check that begins with the first of some nodes, which are its siblings.

    Raises:
        MalformedCheckError: if it lacks something; the message names the question.
    """
    kind = KINDS[opening(parts[0])]
    try:
        start = next((i for i, part in enumerate(parts) if is_html(part, "<details")), None)
        end = next((i for i, part in enumerate(parts) if is_html(part, "</details")), None)
        if start is None or end is None or any(opening(part) in KINDS for part in parts[1:start]):
            raise MalformedCheckError("is not followed by its answer in <details>")
        if end == start + 1:
            raise MalformedCheckError("has an empty answer")
        asked = " ".join(map(text_of, parts[:start]))  # before its options are mixed
        data = READ[kind](parts[:start], parts[start + 1 : end])
    except MalformedCheckError as error:
        raise MalformedCheckError(f"the quick check {text_of(parts[0])[:70]!r} {error}") from None
    return Check("", *parts[: end + 1], data={"kind": kind, "question": name_question(asked), **data})


def gather_checks(document):
    """Make every quick check of a document one node, and return what is wrong with those that are malformed."""
    complaints = []
    for paragraph in [node for node in document.findall(nodes.paragraph) if opening(node) in KINDS]:
        parent = paragraph.parent
        if isinstance(parent, nodes.list_item):  # a list that speaks of checks
            continue
        start = parent.index(paragraph)
        try:
            check = make_check(parent.children[start:])
        except MalformedCheckError as error:
            complaints.append(str(error))
        else:
            parent[start : start + len(check)] = [check]
    return complaints


def malformed_checks(markdown):
    """What is wrong with the quick checks of a text in Markdown, one sentence each."""
    settings = {"myst_enable_extensions": ["amsmath", "deflist", "dollarmath"], "report_level": 5}
    return gather_checks(publish_doctree(markdown, parser=Parser(), settings_overrides=settings))


def set_up(app, kind, gather, css_class, script):
    """Have nodes of a kind gathered as a page is read, written as elements of a class, and given their script.

    What is malformed, as `gather` tells of a document, fails the build.
    """

    def read(app, document):
        for complaint in gather(document):
            logger.warning(complaint, location=app.env.docname)

    def visit(self, node):
        data = {f"data-{name}": value for name, value in node["data"].items()}
        self.body.append(self.starttag(node, "div", CLASS=css_class, **data))

    def depart(self, node):
        self.body.append("</div>\n")

    def prepare_page(app, pagename, templatename, context, doctree):
        if f'class="{css_class}"' in context.get("body", ""):
            load_script(app, script)

    app.add_node(kind, html=(visit, depart))
    app.connect("builder-inited", lambda app: write_script(app, script))
    app.connect("doctree-read", read)
    app.connect("html-page-context", prepare_page)


def setup(app):
    """Connect to the start of the build, and to the reading and writing of pages."""
    set_up(app, Check, gather_checks, "course-check", "quick_checks")
