"""Sentence boundaries that can be told without a parse."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ABBREVIATIONS = frozenset(
    [
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "sr",
        "jr",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "approx",
        "no",
        "fig",
        "inc",
        "ltd",
        "co",
        "corp",
        "gen",
        "col",
        "sgt",
        "capt",
        "lt",
        "rev",
        "hon",
        "pres",
        "gov",
        "sen",
        "rep",
        "dept",
        "est",
        "min",
        "max",
        "tel",
        "ext",
        "ave",
        "blvd",
        "rd",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "mon",
        "tue",
        "tues",
        "wed",
        "thu",
        "thur",
        "thurs",
        "fri",
        "sat",
        "sun",
        "a.m",
        "p.m",
        "u.s",
        "u.k",
    ]
)
_CJK_STOPS = "。！？"
_BULLET = re.compile(r"(?:[-*•–]|\d{1,2}[.)])\s")


def sentence_starts(tokens: Sequence[tuple[str, str, int]], text: str) -> list[bool | None]:
    """Return for each token whether it starts a sentence: yes, no, or left to the parser.

    Args:
        tokens: (text, trailing white space, code-point offset) of each token.
        text: the text they come from.

    A line that starts with a bullet, a blank line and a CJK full stop end a sentence; an
    abbreviation, a decimal point and a lower-case continuation do not.
    """
    decided: list[bool | None] = [None] * len(tokens)
    for i in range(1, len(tokens)):
        decided[i] = _starts(tokens[i - 1], tokens[i], text)
    return decided


def _starts(before: tuple[str, str, int], here: tuple[str, str, int], text: str) -> bool | None:
    if "\n" in before[0] and not before[0].strip():
        blank = before[0].count("\n") > 1
        return True if blank or _BULLET.match(text, here[2]) or here[0][:1].isupper() else None
    if before[0][-1:] in _CJK_STOPS:
        return True
    if before[0].lower().rstrip(".") in _ABBREVIATIONS and before[0].endswith("."):
        return False if len(before[0]) > 1 and before[0][:-1].lower() not in ("no",) else None
    return None
