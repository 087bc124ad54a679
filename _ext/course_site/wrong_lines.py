"""Code to be fixed whose wrong lines a reader finds by tapping them, where no code runs.

A fold "Which line is wrong?" stands right above a code cell. Its first list quotes the wrong lines, and says behind an
arrow what is wrong; a second list may say of lines why they are right. A script makes buttons of the code's lines.
Notebooks elsewhere and readers without scripts see the fold as it stands.
"""

import re

from docutils import nodes

from .progress import name_question
from .quick_checks import MalformedCheckError, is_html, mark_reply, set_up, text_of

FOLD = re.compile(r"\s*<details>\s*<summary>Which lines? (is|are) wrong\?</summary>")


class WrongLines(nodes.General, nodes.Element):
    """The fold, for the script: `data` says how many lines are wrong."""


def quoted_lines(lists):
    """The lines that each of the lists quotes."""
    for item in sum((items.children for items in lists), []):
        # The Markdown reader leaves an empty text before a paragraph's first word.
        if not isinstance(next(child for child in item[0] if child.astext()), nodes.literal):
            raise MalformedCheckError(f"quotes a line that is no piece of code in backticks: {text_of(item)}")
    return [[mark_reply(item) for item in items] for items in lists]


def code_below(fold):
    """The lines of the code right below a fold, each with one space between its words."""
    below = fold.next_node(descend=False, siblings=True)
    code = next(below.findall(nodes.literal_block), None) if below and not isinstance(below, nodes.section) else None
    if code is None:
        raise MalformedCheckError("does not stand right above its code")
    return [" ".join(line.split()) for line in code.astext().splitlines()]


def gather_folds(document):
    """Make every such fold of a document one node, and return what is wrong with those that are malformed."""
    complaints = []
    for start in [node for node in document.findall(nodes.raw) if FOLD.match(node.astext())]:
        parent, first = start.parent, start.parent.index(start)
        last = next(i for i in range(first, len(parent)) if is_html(parent[i], "</details"))
        parts = parent.children[first : last + 1]
        lists = [part for part in parts if isinstance(part, nodes.bullet_list)]
        try:
            if len(lists) not in (1, 2):
                raise MalformedCheckError("needs a list of wrong lines, and may have one of right lines")
            code = code_below(parts[-1])
            quoted = quoted_lines(lists)
            for line in sum(quoted, []):
                if code.count(line) != 1:
                    raise MalformedCheckError(f"quotes a line that stands {code.count(line)} times in the code: {line}")
        except MalformedCheckError as error:
            complaints.append(f"the fold {text_of(start)!r} {error}")
        else:
            data = {"wrong": len(quoted[0]), "question": name_question(" ".join(quoted[0]))}
            parent[first : last + 1] = [WrongLines("", *parts, data=data)]
    return complaints


def setup(app):
    """Connect to the start of the build, and to the reading and writing of pages."""
    set_up(app, WrongLines, gather_folds, "course-wrong-lines", "wrong_lines")
