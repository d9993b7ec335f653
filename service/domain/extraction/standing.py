"""Standing instructions to the assistant: a preference of the user's, not an order to obey now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.extraction.contrast import Contrast, contrast_of
from service.domain.extraction.lexicon import OPENERS, STANDING_CUES
from service.domain.extraction.participles import past_participle
from service.domain.extraction.phrases import bare, span_text, trimmed
from service.domain.extraction.relation import Relation
from service.domain.extraction.topics import USER
from service.domain.extraction.wording import sentence, third_person, without
from service.domain.syntax import ParsedText, Token

_CHOOSING = frozenset("use choose pick take prefer".split())
_CUES = tuple(sorted((tuple(c.split()) for c in STANDING_CUES), key=len, reverse=True))
_ASSISTANT = {"you": "the assistant", "your": "the assistant's"}
_ALSO_NOUNS = frozenset(
    "format schedule name label sign date order email text book record log place address answer "
    "list quote mark tag file sort round cap limit start end".split()
)
_PERSONS = frozenset("me us i you".split())


@dataclass(frozen=True, slots=True)
class Standing:
    """A standing instruction as a relation and as a sentence about the user."""

    relation: Relation
    text: str


def standing_of(parsed: ParsedText, tokens: Sequence[Token]) -> Standing | None:
    """Return the preference that an order for all time states, or None for any other sentence."""
    words, cue = _without_cue([t for t in tokens if t.text.strip()])
    words = _without_openers(words)
    negative = cue == "never"
    if len(words) > 1 and words[0].lower == "do" and words[1].lower in ("not", "n't", "n’t"):
        words, negative = words[2:], not negative
    if not words or not _is_order(words, cue):
        return None
    if _names_user(words):
        return _called(parsed, words)
    return _preference(parsed, words, negative=negative) if cue else None


def _preference(parsed: ParsedText, words: list[Token], *, negative: bool) -> Standing | None:
    contrast = contrast_of(parsed, words[0], words)
    kept = without(words, contrast.tokens)
    verb, rest = kept[0], kept[1:]
    if not rest:
        return None
    if verb.lemma in _CHOOSING and not negative:
        relation = Relation(USER, "prefers", span_text(parsed, bare(rest)), replaced=contrast.value)
        return Standing(relation, _choice(parsed, verb, rest, contrast))
    wish = _wish(parsed, verb, rest)
    relation = Relation(USER, "prefers", wish, negative, replaced=contrast.value)
    wants = "does not want" if negative else "wants"
    return Standing(relation, sentence(f"the user {wants} {wish}"))


def _choice(parsed: ParsedText, verb: Token, rest: list[Token], contrast: Contrast) -> str:
    """Return "the user prefers X to Y", or "the user wants X to be used"."""
    if contrast.tokens:
        other = [parsed.tokens[i] for i in sorted(contrast.tokens)]
        rejected = trimmed([t for t in other if t.lower not in ("not", "instead", "of", "rather")])
        against = _to_third(parsed, [t for t in rejected if t.lower != "than"])
        return sentence(f"the user prefers {_to_third(parsed, rest)} to {against}")
    thing, after = _object(parsed, verb, rest)
    return sentence(f"the user wants {thing} to be {past_participle(verb.lemma)} {after}")


def _wish(parsed: ParsedText, verb: Token, rest: list[Token]) -> str:
    """Return what is ordered as what the user wants: "invoices to be sent in euros"."""
    first = rest[0]
    if first.pos in ("DET", "NOUN", "PROPN", "ADJ", "NUM", "PRON") and first.lower not in _PERSONS:
        thing, after = _object(parsed, verb, rest)
        done = past_participle(verb.lemma)
        return f"{thing} to be {done} {after}".strip()
    order = _to_third(parsed, rest)
    return f"the assistant to {verb.lower} {order}"


def _object(parsed: ParsedText, verb: Token, rest: list[Token]) -> tuple[str, str]:
    """Return (object, the rest) of an order, both in the third person."""
    end = next(
        (n for n, t in enumerate(rest) if n and t.head == verb.index and t.dep in _AFTER),
        None,
    )
    if end is None:
        end = next((n for n, t in enumerate(rest) if n and t.pos in ("ADP", "SCONJ")), len(rest))
    after = _to_third(parsed, rest[end:]) if rest[end:] else ""
    return _to_third(parsed, rest[:end]), after


_AFTER = frozenset("prep advmod advcl npadvmod prt xcomp acomp oprd mark".split())


def _to_third(parsed: ParsedText, tokens: Sequence[Token]) -> str:
    """Return words of an order in the third person, with "you" as the assistant."""
    return third_person(
        parsed, tokens, {t.index: _ASSISTANT[t.lower] for t in tokens if t.lower in _ASSISTANT}
    )


def _called(parsed: ParsedText, words: list[Token]) -> Standing:
    name = span_text(parsed, trimmed(words[2:]))
    return Standing(Relation(USER, "name", name), sentence(f"the user wants to be called {name}"))


def _names_user(words: Sequence[Token]) -> bool:
    opening = [t.lower for t in words[:2]]
    return opening == ["call", "me"] and len(words) > 2 and words[2].text[:1].isupper()  # noqa: PLR2004


def _is_order(words: Sequence[Token], cue: str) -> bool:
    """Return whether a sentence opens with a bare verb; after a cue, taggers see nouns there."""
    token = words[0]
    if token.lower != token.lemma or token.pos in ("PRON", "AUX", "DET"):
        return False
    following = words[1] if len(words) > 1 else None
    noun = token.tag in ("NN", "NNP", "JJ") and following is not None
    goes_on = noun and following is not None and following.dep in ("dobj", "det", "poss")
    known = bool(cue) and noun and token.lower in _ALSO_NOUNS
    return token.tag in ("VB", "VBP") or (bool(cue) and goes_on) or known


def _without_cue(tokens: list[Token]) -> tuple[list[Token], str]:
    for cue in _CUES:
        for place in range(len(tokens) - len(cue) + 1):
            if tuple(t.lower for t in tokens[place : place + len(cue)]) == cue:
                rest = tokens[:place] + tokens[place + len(cue) :]
                return rest, " ".join(cue)
    return tokens, ""


def _without_openers(tokens: list[Token]) -> list[Token]:
    words = trimmed(tokens)
    while words and (words[0].lower in OPENERS or words[0].pos in ("PUNCT", "INTJ")):
        words = trimmed(words[1:])
    return words
