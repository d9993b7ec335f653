"""What a client states without a source, as the user would say it."""

from __future__ import annotations

from service.domain.check import CheckInput
from service.domain.memory import Triple
from service.domain.triples import fact_triples
from service.ports.language import LanguageAnalyser
from service.usecases.reader import Reader

_NOTE = "note"


class Statements:
    """Reads facts that stand alone."""

    def __init__(self, language: LanguageAnalyser) -> None:
        self._reader = Reader(language)

    def triple(self, text: str) -> Triple:
        """Return what a fact says; one that cannot be read is a note about the user."""
        reading = self._reader.read([CheckInput(source=text, fact=text)])[0]
        return next(iter(fact_triples(reading)), Triple("user", _NOTE, text))

    def as_said(self, text: str) -> str:
        """Return a fact in the first person: "The user prefers tea." gives "I prefer tea.".

        A client that states a fact says it for the user. Put to the gate in the third person, it
        would be about somebody else than the one who speaks.
        """
        reading = self._reader.read([CheckInput(source=text, fact=text)])[0]
        return " ".join(c.first_person or c.text for c in reading.claims) or text
