"""A main clause with what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.clauses import Clause
from service.domain.extraction.topics import (
    Viewpoint,
)
from service.domain.syntax import ParsedText, Token


@dataclass(frozen=True)
class Passage:
    """A main clause with everything below it that is not a statement of its own."""

    parsed: ParsedText
    clause: Clause
    tokens: tuple[Token, ...]
    view: Viewpoint

    @property
    def head(self) -> Token:
        """Return the head of the clause."""
        return self.parsed.tokens[self.clause.predicate]
