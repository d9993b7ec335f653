"""Noun phrases of a parse: their words, their conjuncts, and their text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.domain.syntax import ParsedText, Token

_DETERMINERS = frozenset("a an the no my our some any this that these those".split())
_OUTSIDE = frozenset({"conj", "cc", "relcl", "preconj"})
_EDGES = frozenset({"PUNCT", "SPACE", "CCONJ"})


def conjuncts(parsed: ParsedText, token: Token) -> list[Token]:
    """Return a noun and what is coordinated with it by "and": "guitar", "piano"."""
    found = [token]
    if any(t.lower in ("or", "nor", "but", "&") for t in parsed.dependents(token, "cc")):
        return found
    for child in parsed.dependents(token, "conj"):
        if child.pos in ("NOUN", "PROPN", "ADJ", "NUM") and not parsed.dependents(child, "nsubj"):
            found.extend(conjuncts(parsed, child))
    return found


def phrase(parsed: ParsedText, token: Token, dropped: frozenset[int] = frozenset()) -> list[Token]:
    """Return the words of a noun phrase without its conjuncts and relative clauses."""
    return trimmed(sorted(_inside(parsed, token, dropped), key=lambda t: t.index))


def _inside(parsed: ParsedText, token: Token, dropped: frozenset[int]) -> list[Token]:
    found = [token]
    for child in parsed.dependents(token):
        if child.dep in _OUTSIDE or child.index in dropped or child.lower == "since":
            continue
        found.extend(_inside(parsed, child, dropped))
    return found


def trimmed(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without punctuation and conjunctions at both ends."""
    words = list(tokens)
    while words and words[0].pos in _EDGES and words[0].text not in "$£€#@([":
        words.pop(0)
    while words and words[-1].pos in _EDGES and words[-1].text not in "%)]":
        words.pop()
    return words


def bare(tokens: Sequence[Token]) -> list[Token]:
    """Return a phrase without its leading determiner."""
    words = list(tokens)
    while len(words) > 1 and words[0].lower in _DETERMINERS and words[0].pos in ("DET", "PRON"):
        words.pop(0)
    return words


def span_text(parsed: ParsedText, tokens: Iterable[Token]) -> str:
    """Return the text of tokens as it was written, with one space over each gap."""
    text, last = "", None
    for token in tokens:
        if last is not None:
            adjacent = token.index == last.index + 1
            text += parsed.text[last.end : token.start] if adjacent else " "
        text += token.text
        last = token
    return " ".join(text.split())


def value_of(parsed: ParsedText, token: Token, dropped: frozenset[int] = frozenset()) -> str:
    """Return the text of a noun phrase without its determiner."""
    return span_text(parsed, bare(phrase(parsed, token, dropped)))


def name_of(parsed: ParsedText, noun: Token) -> str:
    """Return what a thing is called: its noun with compounds and adjectives, no possessor."""
    kept = ("compound", "amod", "nmod", "nummod", "npadvmod")
    words = [noun]
    for child in parsed.dependents(noun, *kept):
        if child.index < noun.index or child.dep == "nummod":
            words.extend(t for t in parsed.subtree(child) if t.dep != "poss")
    ordered = sorted(set(words), key=lambda t: t.index)
    text = span_text(parsed, ordered)
    return text[: -len(noun.text)] + noun.lemma if text.endswith(noun.text) else text
