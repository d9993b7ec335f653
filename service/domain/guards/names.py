"""Does the source speak of everybody and everything that the fact names?"""

from __future__ import annotations

import re
import unicodedata

from service.domain.syntax import ParsedText, Token

_MIN_PREFIX = 4
_TITLE = re.compile(r"\"([^\"]{2,60})\"|“([^”]{2,60})”|(?<!\w)'([^']{2,60})'(?!\w)")
_CALENDAR = frozenset({"DATE", "TIME"})
_BEFORE_NAME = re.compile(r"(?:^|[.!?…\n]|,)\s*(?:[\w'’]+\s+)?$")
_ADDRESS_WORDS = re.compile(
    r"(?:^|[.!?,…\n]\s*|\b(?:hey|hi|hello|thanks|thank you|yeah|yep|yes|no|wow|ok|okay|congrats|"
    r"sorry|so|oh|haha|well|sure|aww|dear|cheers|bye|right|true|absolutely|definitely|totally|agreed),?\s+)$",
    re.IGNORECASE,
)


def folded(text: str) -> str:
    """Return a text without case and diacritics."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def unstated_names(claim: ParsedText, source: str, known: frozenset[str]) -> tuple[str, ...]:
    """Return the proper names of a claim that the source does not have.

    A name counts as stated when the source has the word, a word with the same first four letters
    ("Polish", "Poland"), or the initials; a quoted title has to stand there word for word.
    ``known`` are lower-case names that need no mention.
    """
    words = set(re.findall(r"\w+", folded(source)))
    initials = _initials(source)
    missing = [
        t.text
        for t in claim.tokens
        if _is_proper(t) and t.lower not in known and not _stated(folded(t.text), words, initials)
    ]
    return tuple(dict.fromkeys([*missing, *_unstated_titles(claim.text, source)]))


def _unstated_titles(claim: str, source: str) -> list[str]:
    """Return what the claim quotes ('Overcooked 2') and the source does not have."""
    known = folded(source)
    titles = [next(g for g in m.groups() if g) for m in _TITLE.finditer(claim)]
    return [t for t in titles if folded(t).strip(" .,") not in known]


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
    low = folded(text)
    for match in re.finditer(rf"(?<!\w){re.escape(folded(name))}(?!\w)", low):
        if not _is_addressed(low[: match.start()], low[match.end() : match.end() + 1]):
            return True
    return False


def _is_addressed(before: str, after: str) -> bool:
    """Return whether a name between two texts only calls somebody."""
    if after in (",", "!"):
        return bool(_BEFORE_NAME.search(before))
    return after in ("", ".", "?") and bool(_ADDRESS_WORDS.search(before))
