"""What kind of thing a question wants, and whether a text holds one.

The classes are the coarse ones of X. Li and D. Roth, "Learning question classifiers", COLING 2002,
as far as a pattern can tell both sides: a name, a time, a number; and a favourite, which is more
than something liked. A text without one may still
answer, so this is evidence among other evidence and no veto (see ``calibration``).
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Wanted(StrEnum):
    """The kinds of answer that can be told apart."""

    FAVOURITE = "favourite"
    NAME = "name"
    TIME = "time"
    NUMBER = "number"
    ANY = "any"


_CALENDAR: Final = (
    "mondays? tuesdays? wednesdays? thursdays? fridays? saturdays? sundays? january february march "
    "april may june july august september october november december weekends? weekdays? mornings? "
    "evenings? afternoons? nights? noon midnight today tomorrow yesterday tonight daily weekly "
    "monthly yearly annually every spring summer autumn winter years? months? weeks? days? hours? "
    "minutes? ago since until next last before after easter christmas"
).replace(" ", "|")
_COUNTS: Final = (
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
    "sixty seventy eighty ninety hundred thousand million dozen half both none single twice"
).replace(" ", "|")
_QUESTIONS: Final = (
    (Wanted.FAVOURITE, re.compile(r"\bfavou?rite\b")),
    (Wanted.NAME, re.compile(r"\b(?:who|whose|whom|names?|called)\b")),
    (
        Wanted.TIME,
        re.compile(
            r"\bwhen\b|\b(?:what|which) (?:day|date|time|month|year)\b|\bdate\b|\bdeadline\b"
            r"|\bbirthday\b|\bhow (?:often|long)\b|\bday$|\banniversary\b"
        ),
    ),
    (
        Wanted.NUMBER,
        re.compile(
            r"\bhow (?:many|much|old|tall|big|large|far|heavy)\b|\bnumber\b|\bprice\b|\bcost\b"
            r"|\bsalary\b|\bbudget\b|\bage\b|\bsize\b|\bpostcode\b|\bport\b|\bweight\b|\bheight\b"
        ),
    ),
)
_NAMED: Final = re.compile(r"\b(?:called|named|name)\b")
_FAVOURED: Final = re.compile(r"\b(?:favou?rites?|prefer\w*|best|most)\b")
_CAPITAL: Final = re.compile(r"(?<=\s)[A-Z][\w&'’-]*")
_TIME: Final = re.compile(rf"\b(?:{_CALENDAR})\b|\d")
_NUMBER: Final = re.compile(rf"\b(?:{_COUNTS})\b|\d")
_WORDS: Final = re.compile(rf"(?:{_CALENDAR})")


def wanted(query: str) -> Wanted:
    """Return what kind of thing would answer a query."""
    lower = query.casefold().strip(" ?.!")
    return next((kind for kind, pattern in _QUESTIONS if pattern.search(lower)), Wanted.ANY)


def lacks(kind: Wanted, query: str, text: str) -> bool:
    """Return whether a text holds nothing of the kind that a query wants.

    A name is a capitalised word that opens no sentence, is no date and is not in the query itself.
    """
    lower = text.casefold()
    match kind:
        case Wanted.FAVOURITE:
            return not _FAVOURED.search(lower)
        case Wanted.NAME:
            return not (_NAMED.search(lower) or _new_names(query.casefold(), text))
        case Wanted.TIME:
            return not _TIME.search(lower)
        case Wanted.NUMBER:
            return not _NUMBER.search(lower)
        case Wanted.ANY:
            return False


def _new_names(query: str, text: str) -> list[str]:
    found = (word.casefold() for word in _CAPITAL.findall(text))
    return [w for w in found if not _WORDS.fullmatch(w) and w not in query]
