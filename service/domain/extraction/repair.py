"""Repairs of two frequent tagging errors: "Our backend runs on …" and "I really like …"."""

from __future__ import annotations

from dataclasses import replace

from service.domain.syntax import ParsedText, Token

_ALSO_NOUNS = frozenset(
    "run live work start end open close need sit host point ship sleep cost last use build sound "
    "look store cache release support handle manage process stream log".split()
)
_ALSO_PREPOSITIONS = frozenset({"like"})


def repaired(parsed: ParsedText) -> ParsedText:
    """Return a parse in which a verb that was read as a noun or preposition is one again."""
    changed: dict[int, Token] = {}
    for token in parsed.tokens:
        if token.dep in ("ROOT", "conj"):
            changed |= _as_verb(parsed, token)
    if not changed:
        return parsed
    tokens = tuple(changed.get(t.index, t) for t in parsed.tokens)
    return replace(parsed, tokens=tokens)


def _as_verb(parsed: ParsedText, root: Token) -> dict[int, Token]:
    if root.lower == "hates" and root.lemma == "hat" and parsed.dependents(root, "nsubj"):
        return {root.index: replace(root, lemma="hate", pos="VERB", tag="VBZ")}
    if root.lower in _ALSO_PREPOSITIONS and root.tag == "IN" and parsed.dependents(root, "nsubj"):
        return {root.index: replace(root, pos="VERB", tag="VBP")}
    noun = root.tag == "NNS" or (root.tag == "VBZ" and not parsed.dependents(root, "nsubj"))
    if not noun or root.lemma not in _ALSO_NOUNS:
        return {}
    owners = parsed.dependents(root, "poss")
    before = parsed.dependents(root, "compound", "amod")
    named = [t for t in before if t.index == root.index - 1]
    if not owners or not named:
        return {}
    subject = named[0]
    found = {
        root.index: replace(root, pos="VERB", tag="VBZ"),
        subject.index: replace(subject, pos="NOUN", tag="NN", dep="nsubj"),
    }
    for token in (*owners, *(t for t in before if t is not subject)):
        found[token.index] = replace(token, head=subject.index)
    return found
