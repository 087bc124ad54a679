"""What of an answer's words may reach people: one short line, and where files can be read no words of its own.

An answer chooses what its exceptions say and what its classes are called. Where the system shows it no file but those
of Python and its libraries, there is nothing in them that anybody would have to hide.
"""

import builtins
import dataclasses
import re

from attention_course.exercises.judging.running import LATE, WRITTEN, NoNumbers

LONGEST = 200  # characters
KINDS = {name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)}
PLAIN = re.compile(rf"{LATE} [\d.]+ seconds|{WRITTEN.text}|None: is there a return\?|nothing that is a gradient")
NO_WORDS = "(what it says is not shown, since this system does not keep files from it)"


def cut(text: object, hidden: bool) -> str:
    """What may be shown of a text.

    Args:
        text: As it came.
        hidden: Whether files were kept from whoever wrote it.
    """
    line = "".join(one if one.isprintable() else " " for one in str(text)[: 10 * LONGEST])
    line = " ".join(line.split())
    if not hidden and not PLAIN.fullmatch(line):
        kind = line.partition(":")[0].partition("(")[0]
        return f"{kind if kind in KINDS else 'something else than numbers'} {NO_WORDS}"
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 2]} …"


def fit_to_show(outcome, hidden: bool, code: str):
    """An outcome of an answer with what may be shown of its words: lines are its own where they stand in its code."""
    if isinstance(outcome, tuple):
        return tuple(fit_to_show(one, hidden, code) for one in outcome)
    if not isinstance(outcome, NoNumbers):
        return outcome
    own = (line.partition(": ") for line in outcome.where[:3])
    where = tuple(cut(head + colon + line, True) for head, colon, line in own if _is_place(head) and line in code)
    return dataclasses.replace(outcome, where=where, told=cut(outcome.text, hidden))


def _is_place(head):
    return head.startswith("in line ") and head.removeprefix("in line ").isdecimal()
