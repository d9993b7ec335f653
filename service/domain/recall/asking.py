"""What a query asks for: its words that count, how it reads about "the user", what answers it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from service.domain.recall.answers import Wanted, wanted
from service.domain.recall.statement import statement
from service.domain.recall.tokens import folded, query_tokens

_STOP: Final = frozenset(
    """a about all am an and any are as at be been by can could did do doe does for from had has
    have her his how i if in into is it its many me mine much my no not of on or our should that the
    their there these they this those to user us was we were what when where which who whom whose
    why will with would you your""".split()
)
_OPENERS: Final = frozenset(
    """am are can could did do does had has have how is may must shall should was were what what's
    whats when where where's which who who's whom whose why will would tell show list""".split()
)
_THIRD_PERSON: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), text)
    for pattern, text in (
        (r"\b(?:my|our)\b", "the user's"),
        (r"\bmine\b", "the user's"),
        (r"\bam i\b", "is the user"),
        (r"\bdo i\b", "does the user"),
        (r"\bhave i\b", "has the user"),
        (r"\bi(?: am|['’]m)\b", "the user is"),
        (r"\bi(?: have|['’]ve)\b", "the user has"),
        (r"(?<![\w.])i\b(?!\.\w)", "the user"),
        (r"\bme\b", "the user"),
    )
)
_KEYWORDS = 3
_LATIN_END = 0x250
_LATIN_MORE = range(0x1E00, 0x1F00)
_OTHER = re.compile(
    r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]"
)  # every letter that is not Latin, and more


@dataclass(frozen=True, slots=True)
class Query:
    """A query as recall works with it.

    Attributes:
        text: as the client wrote it.
        spoken: with "I" and "my" as "the user" and "the user's", as memories are written.
        statement: what an answer would make true, for the entailment model.
        words: its tokens that count, in order; all of them if it has only function words.
        keywords: it names a topic ("garage remote") and asks no question.
        readable: the embedding model knows its script.
        wanted: what kind of thing would answer it, where that shows.
    """

    text: str
    spoken: str
    statement: str
    words: tuple[str, ...]
    keywords: bool
    readable: bool
    wanted: Wanted


def read_query(text: str) -> Query:
    """Return what a query asks for."""
    every = query_tokens(text)
    words = tuple(w for w in every if w not in _STOP)
    third = spoken(text)
    return Query(
        text=text,
        spoken=third,
        statement=statement(third),
        words=words or tuple(every),
        keywords=bool(words) and _is_topic(text, len(words)),
        readable=is_readable(text),
        wanted=wanted(text),
    )


def spoken(text: str) -> str:
    """Return a query about "I" as one about "the user"; other texts stay as they are."""
    for pattern, replacement in _THIRD_PERSON:
        text = pattern.sub(replacement, text)
    return text


def is_readable(text: str) -> bool:
    """Return whether at least half of the letters are Latin: all that MiniLM was trained on.

    Elsewhere its cosines say nothing (two unrelated Chinese sentences reach 0.75), so only words
    count there.
    """
    if text.isascii() or not _OTHER.search(text):
        return True
    letters = [c for c in text if c.isalpha()]
    latin = sum(ord(c) < _LATIN_END or ord(c) in _LATIN_MORE for c in letters)
    return 2 * latin >= len(letters)


def _is_topic(text: str, words: int) -> bool:
    first, *_ = folded(text).split()
    return words <= _KEYWORDS and "?" not in text and first.strip(".,!:") not in _OPENERS
