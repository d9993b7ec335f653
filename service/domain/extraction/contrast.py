"""What a statement sets itself off against: "Bea now, not Al", "Zed instead of Vim"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.extraction.phrases import bare, span_text, trimmed
from service.domain.syntax import ParsedText, Token

_LEADS = (("instead", "of"), ("rather", "than"))
_FROM_VERBS = frozenset("switch move migrate change transfer go convert".split())


@dataclass(frozen=True, slots=True)
class Contrast:
    """The value that does not hold, and the words that say so."""

    value: str | None = None
    tokens: frozenset[int] = frozenset()
    negates: bool = False


def contrast_of(parsed: ParsedText, head: Token, tokens: Sequence[Token]) -> Contrast:
    """Return what a clause contrasts with; ``negates`` when a "not" of its own belongs to that."""
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else None
        if token.lower == "not" and before is not None and before.text in (",", "-", "—", "–"):
            rest = _up_to_pause(tokens[place + 1 :])
            if rest and not any(t.is_verbal for t in rest):
                dropped = frozenset(t.index for t in (before, token, *rest))
                return Contrast(_text(parsed, rest), dropped, negates=True)
        pair = tuple(t.lower for t in tokens[place : place + 2])
        if pair in _LEADS:
            rest = _up_to_pause(tokens[place + 2 :])
            dropped = frozenset(t.index for t in (*tokens[place : place + 2], *rest))
            return Contrast(_text(parsed, rest), dropped)
    return _from_to(parsed, head)


def _up_to_pause(tokens: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    for token in tokens:
        if token.text in (",", ".", ";", "!", ":") or token.lower in ("and", "but", "because"):
            break
        found.append(token)
    return found


def _text(parsed: ParsedText, tokens: Sequence[Token]) -> str | None:
    words = [t for t in bare(trimmed(tokens)) if t.lower not in ("one", "ones", "anymore")]
    return span_text(parsed, words) or None


def _from_to(parsed: ParsedText, head: Token) -> Contrast:
    """Return the "from X" of "switched from X to Y"."""
    if head.lemma not in _FROM_VERBS:
        return Contrast()
    preps = {p.lower: p for p in parsed.dependents(head, "prep")}
    goal = preps.get("to") or next(
        (p for p in _nested(parsed, preps.get("from")) if p.lower == "to"), None
    )
    if "from" not in preps or goal is None:
        return Contrast()
    inner = parsed.subtree(preps["from"])
    outside = {t.index for t in parsed.subtree(goal)}
    words = [t for t in inner if t.index not in outside]
    return Contrast(_text(parsed, words[1:]), frozenset(t.index for t in words))


def _nested(parsed: ParsedText, prep: Token | None) -> list[Token]:
    if prep is None:
        return []
    return [t for t in parsed.subtree(prep) if t.dep == "prep" and t.index != prep.index]
