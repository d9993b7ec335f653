"""Negation, ending and time of a clause."""

from __future__ import annotations

from service.domain.clauses import Tense
from service.domain.lexicon.verbs import CESSATION, NEGATORS, STRICT_CESSATION
from service.domain.syntax import ParsedText, Token

_LITOTES = frozenset(["mind", "not-only"])


def is_negative(parsed: ParsedText, head: Token, tokens: tuple[Token, ...]) -> bool:
    """Return whether a clause has an odd number of negations.

    "It's not that I don't like it" is two: one inherited from the governing "not that".
    """
    own = sum(1 for t in tokens if _negates(parsed, t))
    return (own + _governing_negation(parsed, head)) % 2 == 1


def _negates(parsed: ParsedText, token: Token) -> bool:
    if _contrasts(parsed, token) or _answers(parsed, token):
        return False
    if token.lower in ("n't", "n’t", "not") or token.dep == "neg":
        return not _longer(parsed, token) and not _only(parsed, token)
    return token.lower in NEGATORS and not _longer(parsed, token)


def _contrasts(parsed: ParsedText, token: Token) -> bool:
    """Return whether this is the "not" of ", not Al", which negates a name and no statement."""
    if token.lower != "not" or token.index == 0:
        return False
    after = parsed.tokens[token.index + 1 : token.index + 2]
    nominal = bool(after) and after[0].pos in ("NOUN", "PROPN", "DET", "PRON", "NUM", "ADJ")
    return parsed.tokens[token.index - 1].text in (",", "-", "–", "—", "(") and nominal


def _answers(parsed: ParsedText, token: Token) -> bool:
    """Return whether this is the "No," that opens an answer."""
    after = parsed.tokens[token.index + 1 : token.index + 2]
    opens = any(s.first == token.index for s in parsed.sentences)
    return token.lower == "no" and opens and bool(after) and after[0].text in (",", ".", "!")


def _longer(parsed: ParsedText, token: Token) -> bool:
    """Return whether this is the "no" of "no longer", which ends rather than negates."""
    after = parsed.tokens[token.index + 1 : token.index + 2]
    return token.lower == "no" and bool(after) and after[0].lower in ("longer", "more")


def _only(parsed: ParsedText, token: Token) -> bool:
    after = parsed.tokens[token.index + 1 : token.index + 2]
    return bool(after) and after[0].lower in ("only", "just")


def _governing_negation(parsed: ParsedText, head: Token) -> int:
    """Return 1 when the clause is the complement of "it is not that …"."""
    if head.dep != "ccomp" or head.head == head.index:
        return 0
    governor = parsed.head_of(head)
    negated = bool(parsed.dependents(governor, "neg"))
    return int(negated and governor.lemma in ("be", "think", "believe", "say"))


def has_ended(parsed: ParsedText, head: Token, tokens: tuple[Token, ...]) -> bool:
    """Return whether a clause says that a state no longer holds."""
    words = {t.lower for t in tokens}
    if "anymore" in words or ("longer" in words and "no" in words):
        return True
    if is_past_habit(parsed, head):
        return True
    return head.lemma in STRICT_CESSATION or (
        head.lemma in CESSATION
        and head.tag in ("VBD", "VBN")
        and not is_negative_head(parsed, head)
    )


def is_negative_head(parsed: ParsedText, head: Token) -> bool:
    """Return whether the head itself is negated ("didn't sell")."""
    return bool(parsed.dependents(head, "neg"))


def is_past_habit(parsed: ParsedText, head: Token) -> bool:
    """Return whether this is "used to do"."""
    return (
        head.lemma == "use"
        and head.tag in ("VBD", "VBN")
        and any(
            child.tag == "VB" and any(t.lower == "to" for t in parsed.dependents(child, "aux"))
            for child in parsed.dependents(head, "xcomp")
        )
    )


def tense_of(parsed: ParsedText, head: Token) -> Tense:
    """Return when a clause says its state or event holds."""
    if is_past_habit(parsed, head):
        return Tense.PAST_HABIT
    auxiliaries = parsed.dependents(head, "aux", "auxpass")
    modal = _modal_tense(auxiliaries)
    if modal is not None:
        return modal
    if head.lemma == "go" and head.tag == "VBG" and _has_infinitive(parsed, head):
        return Tense.FUTURE
    finite = (head, *auxiliaries)
    if any(t.lemma == "have" and t.tag in ("VBP", "VBZ") for t in auxiliaries):
        return Tense.PERFECT
    if any(t.tag == "VBD" for t in finite):
        return Tense.PAST
    if any(t.tag in ("VBP", "VBZ") for t in finite):
        return Tense.PRESENT
    return Tense.NONE


def _modal_tense(auxiliaries: tuple[Token, ...]) -> Tense | None:
    for token in auxiliaries:
        if token.tag == "MD":
            if token.lower in ("will", "'ll", "’ll", "wo", "shall"):
                return Tense.FUTURE
            return Tense.PRESENT if token.lower in ("can", "ca") else Tense.MODAL
    return None


def _has_infinitive(parsed: ParsedText, head: Token) -> bool:
    return any(child.tag == "VB" for child in parsed.dependents(head, "xcomp"))
