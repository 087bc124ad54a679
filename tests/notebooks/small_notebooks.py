"""Made-up notebooks, to see that what measures lessons measures right."""

import json

FOLD = {"tags": ["hide-input"], "jupyter": {"source_hidden": True}, "cellView": "form"}


def written(*cells):
    """A notebook of cells."""
    return {"cells": list(cells)}


def text(source):
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def code(source, **metadata):
    return {"cell_type": "code", "metadata": metadata, "source": source.splitlines(keepends=True)}


def folded(source):
    return code(source, **FOLD)


# A lesson in the right form: 30 words to read, and 2 lines of open code besides the exercises.
LESSON = written(
    text("# A lesson\n\n*What is it?*"),
    folded("# @title Set up the course\n%pip install nothing\nfrom attention_course import claim"),
    folded("# @title Draw the first picture\nclaim('nobody counts this', True)"),
    text(
        "**Reading about 5 minutes, exercises about 15.** You need [nothing](a.ipynb). Afterwards you can count.\n\n"
        "## Build it"
    ),
    text(
        "**Predict.** Is $1 + 1$ two?\n\n- Yes.\n\n"
        "<details><summary>Answer</summary>\n\n**Yes.** So it is.\n\n</details>"
    ),
    code("two = 1 + 1\nclaim('one and one is two', two == 2)"),
    text("**By hand.** Say it.\n\n```python\n## Exercises\n```\n\n## Exercises\n\nNot counted."),
    text("### 1. Build it (5 min, difficulty 1 of 3)"),
    code("def my_two():\n    return ...\n\n\ncheck('two', my_two)"),
    text(
        "### 2. Guess it (10 min, difficulty 2 of 3)\n\n**Say why.** Two is not one.\n\n- It is more.\n\n"
        "<details><summary>Answer</summary>\n\n**It is more.** By one.\n\n</details>"
    ),
    text(
        "### 3. Prove it (open, 60 min, difficulty 3 of 3)\n\n"
        "<details><summary>What a good answer shows</summary>\n\nThat it is so.\n\n</details>"
    ),
    text("## What you can do now\n\nYou can count.\n\n## Next\n\nCount on.\n\n## Papers\n\nNot counted."),
)


def replaced(right, wrong, notebook=LESSON):
    """A notebook with other words in one of its cells."""
    as_written = json.dumps(notebook)
    right, wrong = (json.dumps(words)[1:-1] for words in (right, wrong))
    assert as_written.count(right) >= 1
    return json.loads(as_written.replace(right, wrong))
