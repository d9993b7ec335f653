"""Does the source speak of everybody and everything that the fact names?"""

from __future__ import annotations

import re
import unicodedata

from service.domain.syntax import ParsedText, Token

_MIN_PREFIX = 4
_CALENDAR = frozenset({"DATE", "TIME"})
_VOCATIVE = re.compile(
    r"(?:^|[.!?,]\s*|\b(?:hey|hi|hello|thanks|thank you|yeah|yes|no|wow|ok|okay|congrats|sorry|so|"
    r"oh|haha|well|sure|aww|dear|cheers|bye|right|true|absolutely|definitely|totally|agreed),?\s+)$",
    re.IGNORECASE,
)


def folded(text: str) -> str:
    """Return a text without case and diacritics."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def unstated_names(claim: ParsedText, source: str, known: frozenset[str]) -> tuple[str, ...]:
    """Return the proper names of a claim that the source does not have.

    A name counts as stated when the source has the word, a word with the same first four letters
    ("Polish", "Poland"), or the initials. ``known`` are lower-case names that need no mention.
    """
    words = set(re.findall(r"\w+", folded(source)))
    initials = _initials(source)
    missing = [
        t.text
        for t in claim.tokens
        if _is_proper(t) and t.lower not in known and not _stated(folded(t.text), words, initials)
    ]
    return tuple(dict.fromkeys(missing))


def _is_proper(token: Token) -> bool:
    named = token.pos == "PROPN" and token.entity not in _CALENDAR
    return named and token.text[:1].isupper() and token.text.isalpha()


def _stated(name: str, words: set[str], initials: frozenset[str]) -> bool:
    if name in words or name in initials:
        return True
    if len(name) < _MIN_PREFIX:
        return False
    prefix = name[:_MIN_PREFIX]
    return any(w.startswith(prefix) for w in words)


def _initials(source: str) -> frozenset[str]:
    runs = re.findall(r"(?:\b[A-Z]\w+\s+){1,5}[A-Z]\w+", source)
    return frozenset("".join(w[0] for w in run.split()).casefold() for run in runs)


def is_mentioned(name: str, text: str) -> bool:
    """Return whether a text speaks of a name other than by addressing it ("Hey Sam, …")."""
    for match in re.finditer(rf"(?<!\w){re.escape(folded(name))}(?!\w)", folded(text)):
        follows = text[match.end() : match.end() + 1]
        addressed = follows in ("", ",", "!", ".", "?") and _VOCATIVE.search(text[: match.start()])
        if not addressed:
            return True
    return False
