"""Dates as people write them in four languages, and as ISO 8601 writes them: 2026-11-21."""

import calendar
import re

import torch

from attention_course.tasks.sequences import SequencePairs

PAD = 0
FIRST_YEAR, LAST_YEAR = 1900, 2099

MONTHS = {
    "English": (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
    "French": (
        *("janvier", "février", "mars", "avril", "mai", "juin"),
        *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
    ),
    "German": (
        *("Januar", "Februar", "März", "April", "Mai", "Juni"),
        *("Juli", "August", "September", "Oktober", "November", "Dezember"),
    ),
    "Spanish": (
        *("enero", "febrero", "marzo", "abril", "mayo", "junio"),
        *("julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"),
    ),
}
# {d} is the day and {y} the year; {name} is the month in words, {m} in digits. With slashes, Americans write the
# month first, French and Spanish writers the day.
FORMS = {
    "English": ("{name} {d}, {y}", "{d} {name} {y}", "{m}/{d}/{y}"),
    "French": ("le {d} {name} {y}", "{d}/{m}/{y}"),
    "German": ("{d}. {name} {y}", "{d}.{m}.{y}"),
    "Spanish": ("{d} de {name} de {y}", "{d}/{m}/{y}"),
}


def written_dates(n_dates: int, generator: torch.Generator) -> SequencePairs:
    """Draw dates, and write each in a language and one of its forms.

    Day, month and year (1900 to 2099) are drawn uniformly among those that exist, the language uniformly, and then
    one of its forms.

    Args:
        n_dates: Size of the batch.
        generator: Source of randomness (on the CPU).

    Returns:
        Characters as indices into `VOCABULARY`, source `(batch, N_SOURCE)` filled up with `PAD`, target
        `(batch, N_TARGET)`. A row of `gold` marks the characters that decide its digit: for a year's digit its
        counterpart, for the digits of a day or month its number, or all letters of the month's name. A hyphen
        has none.
    """
    languages = tuple(FORMS)
    source, target, gold = [], [], torch.zeros(n_dates, N_TARGET, N_SOURCE, dtype=torch.bool)
    for row in range(n_dates):
        year = FIRST_YEAR + _draw(LAST_YEAR - FIRST_YEAR + 1, generator)
        month = 1 + _draw(12, generator)
        day = 1 + _draw(calendar.monthrange(year, month)[1], generator)
        language = languages[_draw(len(languages), generator)]
        form = FORMS[language][_draw(len(FORMS[language]), generator)]
        text, places = _write(form, day, month, year, language)
        source.append([IDS[character] for character in text] + [PAD] * (N_SOURCE - len(text)))
        target.append([IDS[character] for character in f"{year}-{month:02}-{day:02}"])
        gold[row] = _gold(places)
    source, target = (torch.tensor(rows, dtype=torch.long) for rows in (source, target))
    return SequencePairs(source.reshape(n_dates, N_SOURCE), target.reshape(n_dates, N_TARGET), gold)


def to_text(symbols: torch.Tensor) -> str:
    """One date `(n_symbols,)` as it is written, without padding."""
    return "".join(VOCABULARY[symbol] for symbol in symbols.tolist() if symbol != PAD)


def from_text(text: str) -> torch.Tensor:
    """A written date as a source `(1, N_SOURCE)`.

    Raises:
        ValueError: If it is too long, or has a character that the vocabulary lacks.
    """
    unknown = [character for character in text if character not in IDS]
    if unknown or len(text) > N_SOURCE:
        raise ValueError(
            f"text must have at most {N_SOURCE} characters of the vocabulary, got {len(text)}, unknown: {unknown}"
        )
    return torch.tensor([[IDS[character] for character in text] + [PAD] * (N_SOURCE - len(text))])


def readings(text: str) -> set[str]:
    """Every ISO date that a written date can mean: two for 3/4/2026, which is 3 April or March 4th."""
    found = set()
    for language, forms in FORMS.items():
        for form in forms:
            match = _pattern(form, language).fullmatch(text)
            if match is None:
                continue
            parts = match.groupdict()
            month = int(parts["m"]) if "m" in parts else 1 + MONTHS[language].index(parts["name"])
            day, year = int(parts["d"]), int(parts["y"])
            if 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]:
                found.add(f"{year}-{month:02}-{day:02}")
    return found


def _draw(n: int, generator: torch.Generator) -> int:
    return int(torch.randint(n, (1,), generator=generator))


def _write(form: str, day: int, month: int, year: int, language: str) -> tuple[str, dict[str, range]]:
    """The date in words or digits, and where day, month and year stand in it."""
    written = {"{d}": str(day), "{m}": str(month), "{name}": MONTHS[language][month - 1], "{y}": str(year)}
    text, places = "", {}
    for piece in re.split(r"(\{\w+\})", form):
        addition = written.get(piece, piece)
        if piece in written:
            places["{m}" if piece == "{name}" else piece] = range(len(text), len(text) + len(addition))
        text += addition
    return text, places


def _gold(places: dict[str, range]) -> torch.Tensor:
    gold = torch.zeros(N_TARGET, N_SOURCE, dtype=torch.bool)
    for digit, place in enumerate(places["{y}"]):
        gold[digit, place] = True
    for first, part in ((5, "{m}"), (8, "{d}")):
        gold[first : first + 2, places[part].start : places[part].stop] = True
    return gold


def _pattern(form: str, language: str) -> re.Pattern:
    """What is written in this form: a group for each of its parts."""
    groups = {
        "{d}": r"(?P<d>\d{1,2})",
        "{m}": r"(?P<m>\d{1,2})",
        "{name}": f"(?P<name>{'|'.join(MONTHS[language])})",
        "{y}": r"(?P<y>\d{4})",
    }
    return re.compile("".join(groups.get(piece, re.escape(piece)) for piece in re.split(r"(\{\w+\})", form)))


_LONGEST = [
    len(_write(form, 30, 1 + month, LAST_YEAR, language)[0])
    for language, forms in FORMS.items()
    for form in forms
    for month in range(12)
]
N_SOURCE, N_TARGET = max(_LONGEST), len("2026-11-21")
_TEXTS = [*(name for names in MONTHS.values() for name in names), *(form for forms in FORMS.values() for form in forms)]
VOCABULARY = (
    "<pad>",
    *sorted({*"0123456789-", *(character for text in _TEXTS for character in re.sub(r"\{\w+\}", "", text))}),
)
IDS = {character: index for index, character in enumerate(VOCABULARY)}
