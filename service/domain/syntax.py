"""A dependency parse, as the pure core sees it.

Offsets are code points into the text that was parsed. Labels follow the ClearNLP scheme that
spaCy's English models use (``nsubj``, ``ccomp``, ``relcl`` …) and Penn Treebank tags.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Token:
    """One word or punctuation mark of a parsed text; ``common`` ones are in the dictionary."""

    index: int
    text: str
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    start: int
    end: int
    entity: str = ""
    common: bool = False

    @property
    def lower(self) -> str:
        """Return the text in lower case."""
        return self.text.lower()

    @property
    def is_person_name(self) -> bool:
        """Return whether this reads as the name of a person: "Noor", but not "Locker"."""
        if not self.text[:1].isupper() or not self.text.isalpha():
            return False
        elsewhere = self.entity in (
            "GPE",
            "LOC",
            "ORG",
            "DATE",
            "NORP",
            "PRODUCT",
            "FAC",
            "LANGUAGE",
        )
        return self.entity == "PERSON" or (
            self.pos == "PROPN" and not self.common and not elsewhere
        )

    @property
    def is_verbal(self) -> bool:
        """Return whether this is a main or auxiliary verb."""
        return self.pos in ("VERB", "AUX")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A run of tokens ``[first, last)`` and of characters ``[start, end)``."""

    first: int
    last: int
    start: int
    end: int


@dataclass(frozen=True)
class ParsedText:
    """A text with its tokens and sentences; ``language`` is an ISO 639-1 code or ``und``."""

    text: str
    tokens: tuple[Token, ...]
    sentences: tuple[Sentence, ...]
    language: str = "en"
    language_confidence: float = 1.0

    @cached_property
    def children(self) -> dict[int, tuple[Token, ...]]:
        """Return each token's direct dependents, in order of appearance."""
        found: dict[int, list[Token]] = {}
        for token in self.tokens:
            if token.head != token.index:
                found.setdefault(token.head, []).append(token)
        return {head: tuple(tokens) for head, tokens in found.items()}

    def dependents(self, token: Token, *labels: str) -> tuple[Token, ...]:
        """Return the direct dependents of ``token``, all of them or those with these labels."""
        found = self.children.get(token.index, ())
        return tuple(t for t in found if t.dep in labels) if labels else found

    def head_of(self, token: Token) -> Token:
        """Return the governor of ``token``; a root is its own."""
        return self.tokens[token.head]

    def ancestors(self, token: Token) -> Iterator[Token]:
        """Yield the governors of ``token``, nearest first."""
        while token.head != token.index:
            token = self.tokens[token.head]
            yield token

    def subtree(self, token: Token) -> list[Token]:
        """Return ``token`` and everything below it, in order of appearance."""
        found = [token]
        for child in self.dependents(token):
            found.extend(self.subtree(child))
        return sorted(found, key=lambda t: t.index)

    def sentence_of(self, token: Token) -> int:
        """Return the index of the sentence that holds ``token``."""
        found = bisect_right(self._firsts, token.index) - 1
        return max(0, min(found, len(self.sentences) - 1))

    @cached_property
    def _firsts(self) -> tuple[int, ...]:
        return tuple(s.first for s in self.sentences)

    def sentence_tokens(self, number: int) -> tuple[Token, ...]:
        """Return the tokens of one sentence."""
        sentence = self.sentences[number]
        return self.tokens[sentence.first : sentence.last]

    def sentence_text(self, number: int) -> str:
        """Return the text of one sentence without surrounding white space."""
        sentence = self.sentences[number]
        return self.text[sentence.start : sentence.end]
