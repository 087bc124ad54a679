"""The glossary sends its readers on."""

import re


def test_every_entry_names_the_page_that_builds_it(root, chapter_names):
    text = (root / "glossary.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^(\S.*)\n: (.*)$", text, re.MULTILINE))
    assert len(entries) > 60
    link = re.compile(r"\]\((chapters/\w+\.ipynb)(?:#[\w-]+)?\)")
    pages = {word: set(link.findall(entry)) for word, entry in entries.items()}
    assert [word for word, named in pages.items() if not named or named - chapter_names] == []
