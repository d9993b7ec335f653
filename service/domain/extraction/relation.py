"""What one predicate says, before it is a triple or a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.syntax import Token


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation between a subject and a value.

    Attributes:
        subject: key of what it is about.
        attribute: snake case name.
        value: as written.
        negative: it is said not to hold.
        ended: it is said to hold no longer.
        focus: the head of the value, where the value is a phrase of its own.
        siblings: heads that are coordinated with ``focus``; each has a relation of its own.
        replaced: the value that is said to be replaced.
        changed: a thing's value changed ("moved to"); it is best said as "is".
        predicate: the words to put behind the subject, where the clause's own do not fit.
    """

    subject: str
    attribute: str
    value: str
    negative: bool = False
    ended: bool = False
    focus: Token | None = None
    siblings: tuple[Token, ...] = ()
    replaced: str | None = None
    changed: bool = False
    predicate: str = ""
