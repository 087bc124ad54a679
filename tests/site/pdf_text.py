"""The text of a PDF that Chromium made, as far as a test needs it: letters without their places."""

import re
import zlib

OBJECT = re.compile(rb"(\d+) 0 obj\b(.*?)\bendobj", re.DOTALL)
STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
TO_UNICODE = re.compile(rb"/ToUnicode (\d+) 0 R")
FONT = re.compile(rb"/F(\d+) [\d.-]+ Tf")  # a font's name holds the number of its object
SHOWN = re.compile(rb"/F(\d+) [\d.-]+ Tf|<([0-9A-Fa-f]+)>")
CODES = re.compile(rb"<([0-9A-F]{4})> <([0-9A-F]{4})>(?: <([0-9A-F]+)>)?\s")


def stream_of(body):
    """What a stream holds, decompressed; nothing for an object without one."""
    found = STREAM.search(body)
    if not found:
        return b""
    return zlib.decompress(found[1]) if b"/FlateDecode" in body[: found.start()] else found[1]


def letters_of(font, objects):
    """Which letter each code of a font stands for."""
    named = TO_UNICODE.search(objects.get(font, b""))
    table = stream_of(objects[int(named[1])]) if named else b""
    letters = {}
    for first, last, start in CODES.findall(table):
        if start:  # a range of codes, and the letter of the first
            for code in range(int(first, 16), int(last, 16) + 1):
                letters[code] = chr(int(start, 16) + code - int(first, 16))
        else:
            letters[int(first, 16)] = bytes.fromhex(last.decode()).decode("utf-16-be")
    return letters


def pdf_text(pdf):
    """All letters of a document in the order in which they are drawn."""
    objects = {int(number): body for number, body in OBJECT.findall(pdf)}
    fonts, text, letters = {}, [], {}
    for body in objects.values():
        drawn = stream_of(body) if b"/Length" in body and b"/FontFile" not in body else b""
        if b" Tf" not in drawn:
            continue
        for font, codes in SHOWN.findall(drawn):
            if font:
                letters = fonts.setdefault(font, letters_of(int(font), objects))
                continue
            pairs = [int(codes[place : place + 4], 16) for place in range(0, len(codes), 4)]
            text += [letters.get(code, "") for code in pairs]
    return "".join(text)
