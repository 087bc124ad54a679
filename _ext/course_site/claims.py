"""Claims on the site: what `claim()` printed becomes a list where it stands, and all are listed on one page.

How often each held in ten runs stands beside it there, and in the lesson where it was not all ten times. `make site`
writes that down before the book is built, of the pages that are as they were when they ran.
"""

import json
import re
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from docutils import nodes

INDEX = "claims"
# What `claim()` prints before the sentence: where it holds, and where it does not.
CLAIM = re.compile("(?P<mark>✓|✗(?= not so in this run: )) (?P<text>(?:not so in this run: )?(?P<sentence>.*))")
NUMBER = re.compile(r"\d[\d.,]*")


def odds_of(app, page):
    """How often the claims of a page held: `{sentence without the numbers of the run: (kind, held, runs)}`."""
    file = Path(app.srcdir, "_build", "odds.json")
    found = json.loads(file.read_text(encoding="utf-8")).get(page) if file.exists() else None
    if found is None:
        return {}
    # Where several cells say the same, the one that held least often counts.
    rows = sorted(found["claims"], key=lambda claim: -claim["held"])
    return {NUMBER.sub("…", claim["sentence"]): (claim["kind"], claim["held"], found["runs"]) for claim in rows}


def in_words(odds, line):
    """The odds of a claim for the page of all claims, and for the lesson, which says only what is not always so."""
    kind, held, runs = odds.get(NUMBER.sub("…", CLAIM.match(line)["sentence"]), (None, None, None))
    if kind is None:
        return "", ""
    if held < runs:
        return f"{held} of {runs} runs", f" (held in {held} of {runs} runs)"
    return {"exact": "exact", "recorded": "recorded"}.get(kind, f"{held} of {runs} runs"), ""


def line_of_claim(line, odds):
    """A claim as a paragraph: its mark, what stands behind it, and its odds where it does not always hold."""
    mark, text, _ = CLAIM.match(line).groups()
    kind = "claim-tick" if mark == "✓" else "claim-cross"
    return nodes.paragraph(
        "", "", nodes.inline("", f"{mark} ", classes=[kind]), nodes.Text(f"{text}{in_words(odds, line)[1]}")
    )


def claim_list(lines, first_number, odds):
    """Claims that follow each other as a list; each has an id that the page of all claims links to."""
    items = nodes.bullet_list(classes=["claims"])
    for number, line in enumerate(lines, first_number):
        items += nodes.list_item("", line_of_claim(line, odds), ids=[f"claim-{number}"])
    return items


def mark_claims(app, doctree):
    """Make lists of the claims in what cells printed, and note them down; what else was printed stays as it is."""
    claims, odds = [], odds_of(app, app.env.docname)
    for printed in list(doctree.findall(nodes.literal_block)):
        printed_lines = printed.astext().splitlines()
        if "stream" not in printed["classes"] or not any(map(CLAIM.match, printed_lines)):
            continue
        blocks = []
        for are_claims, lines in groupby(printed_lines, lambda line: bool(CLAIM.match(line))):
            if are_claims:
                together = list(lines)
                blocks.append(claim_list(together, len(claims) + 1, odds))
                claims += together
            else:
                text = "\n".join(lines)
                blocks.append(nodes.literal_block(text, text, **printed.attributes))
        printed.parent.replace(printed, blocks)
    app.env.metadata[app.env.docname] |= {"claims": claims, "odds": odds}


def with_other_odds(app, env, added, changed, removed):
    """The pages whose claims hold more or less often than they say."""
    return [
        page
        for page, data in env.metadata.items()
        if page in env.found_docs and data.get("odds", {}) != odds_of(app, page)
    ]


def when_and_with_what(env, page):
    """When a page was run, and on which versions: the run's own, of PyTorch where the page says it."""
    ran = datetime.fromtimestamp(env.nb_metadata[page]["exec_data"]["mtime"], UTC)
    data = env.metadata[page]
    versions = [f"Python {data['language_info']['version']}"]
    if data["ran_with"]:
        versions.append(data["ran_with"].partition(" on ")[0])
    return f"Checked on {ran.day} {ran:%B %Y} with {' and '.join(versions)}."


def list_of(app, page):
    """A section with the claims of a page, each a link to where it is checked."""
    name = app.env.titles[page].astext()
    address = app.builder.get_relative_uri(INDEX, page)
    section = nodes.section("", nodes.title("", name), ids=[nodes.make_id(page)])
    section += nodes.paragraph("", when_and_with_what(app.env, page))
    items = nodes.bullet_list()
    for number, line in enumerate(app.env.metadata[page]["claims"], 1):
        mark, text, _ = CLAIM.match(line).groups()
        link = nodes.reference("", text, internal=True, refuri=f"{address}#claim-{number}")
        cross = [] if mark == "✓" else [nodes.inline("", mark, classes=["claim-cross"]), nodes.Text(" ")]
        odds = in_words(app.env.metadata[page]["odds"], line)[0]
        behind = [nodes.Text(" "), nodes.inline("", odds, classes=["claim-odds"])] if odds else []
        items += nodes.list_item("", nodes.paragraph("", "", *cross, link, *behind))
    section += items
    return section


def fill_index(app, doctree, docname):
    """Append all claims, page by page in the order of the book, to the page that lists them."""
    if docname != INDEX:
        return
    pages = [page for page in app.env.collect_relations() if app.env.metadata[page].get("claims")]
    page = next(doctree.findall(nodes.section))
    page += [list_of(app, name) for name in pages] or nodes.paragraph("", "No lesson claims anything yet.")


def write_index_again(app, env):
    """Have the list written in every build: any page may have changed it."""
    return [INDEX] if INDEX in env.found_docs else []


def setup(app):
    """Connect to the reading of pages, and to the writing of the list."""
    app.connect("env-get-outdated", with_other_odds)
    app.connect("doctree-read", mark_claims)
    app.connect("env-updated", write_index_again)
    app.connect("doctree-resolved", fill_index)
