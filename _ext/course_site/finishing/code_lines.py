"""Each line of code and of printed results is an element of its own: a long one wraps with a hanging indent.

It wraps between names and not inside them: behind an opening bracket, behind the `=` of an argument, before a dot.
Where a comment stands behind code, the code is an element too: on a phone the stylesheet puts the comment above it.
"""

import re

from pygments.formatters import HtmlFormatter
from sphinx.highlighting import PygmentsBridge

STEP = 4  # columns from one of the stylesheet's indentations to the next
DEEPEST = 16  # beyond it a phone would have no room left for the code
TAG = re.compile(r"<[^>]*>")
BREAK = re.compile(r"""(?<=[(\[{]</span>)(?=\S)|(?<="o">=</span>)(?=\S)|(?=<span class="o">\.</span>)""")
COMMENTED = re.compile(r"""(?s)(.*\S.*?)(<span class="c1">[^<]*</span>\s*)""")


def indentation(line):
    """The columns that a line of highlighted code starts with, rounded down to one of the stylesheet's."""
    text = TAG.sub("", line)
    columns = len(text) - len(text.lstrip(" "))
    return min(columns // STEP * STEP, DEEPEST)


def apart(line):
    """A line of highlighted code whose code, before a comment, is an element of its own."""
    code = COMMENTED.fullmatch(line)
    return f'<span class="commented">{code[1]}</span>{code[2]}' if code and TAG.sub("", code[1]).strip() else line


class LinesFormatter(HtmlFormatter):
    """Pygments' HTML with each line in a span that says how far in it starts."""

    def wrap(self, source):
        """Wrap the lines, then the whole as Pygments does; not a character is added or lost."""
        return super().wrap(
            (is_code, f'<span class="code-line indent-{indentation(line)}">{apart(BREAK.sub("<wbr>", line))}</span>')
            for is_code, line in source
        )


def setup(app):
    """Highlight with it."""
    PygmentsBridge.html_formatter = LinesFormatter
