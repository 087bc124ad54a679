"""The large style sheets come without the rules that no page can use: of Bootstrap's, these are three quarters.

A rule stays if each class and each id that it names is a word somewhere on the site, in a page or in a script. A script
may also put a class together: of `bs-${name}-auto`, which makes `bs-tooltip-auto`, the beginning is found, `bs-`.
"""

import re
from itertools import pairwise
from pathlib import Path

import tinycss2

SHEETS = ("styles/bootstrap.css", "styles/pydata-sphinx-theme.css", "mystnb.*.css")  # as `glob` has it
WORD = re.compile(r"[\w-]+")
CONDITIONS = {"media", "supports"}  # rules that hold others


def words_of(folder):
    """Every word that could be a class or an id, in pages and scripts."""
    files = [file for ending in ("*.html", "*.js") for file in folder.rglob(ending)]
    return {word for file in files for word in WORD.findall(file.read_text(encoding="utf-8"))}


def alternatives(prelude):
    """The selectors of a rule, which commas divide."""
    found = [[]]
    for token in prelude:
        if token == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def needs(selector):
    """The classes and ids that a selector names. Those within `:is(...)` or `:not(...)` need not be there."""
    classes = {name.value for dot, name in pairwise(selector) if dot == "." and name.type == "ident"}
    return classes | {token.value for token in selector if token.type == "hash"}


def is_there(name, words):
    """Whether a class or an id is a word, or begins with one that ends with a hyphen."""
    return name in words or any(name[: hyphen.end()] in words for hyphen in re.finditer("(?<=.)-", name))


def with_used(rules, words):
    """The rules that something on the site may use, with those of their selectors that may."""
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword in CONDITIONS:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            rule.content = list(with_used(inner, words))
            if not rule.content:
                continue
        elif rule.type == "qualified-rule":
            selectors = alternatives(rule.prelude)
            used = [selector for selector in selectors if all(is_there(name, words) for name in needs(selector))]
            if not used:
                continue
            comma = tinycss2.ast.LiteralToken(0, 0, ",")
            rule.prelude = [token for selector in used for token in (comma, *selector)][1:]
        yield rule


def take_out(app, exception):
    """Write the sheets anew when all pages are there. Every build copies them first from where they come from."""
    if exception:
        return
    site = Path(app.outdir)
    words = words_of(site)
    for file in [file for pattern in SHEETS for file in (site / "_static").glob(pattern)]:
        rules = tinycss2.parse_stylesheet(file.read_text(encoding="utf-8"), skip_comments=True, skip_whitespace=True)
        file.write_text(tinycss2.serialize(list(with_used(rules, words))), encoding="utf-8")


def setup(app):
    """Connect to the end of a build, when all pages are written."""
    app.connect("build-finished", take_out, priority=950)
