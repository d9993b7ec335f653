"""The LanguageAnalyser port on spaCy, lingua, dateparser, text2num and pint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from service.adapters.language.dates import find_dates, forget_dates
from service.adapters.language.identify import LanguageIdentifier
from service.adapters.language.numbers import find_numbers
from service.adapters.language.spacy_parser import SpacyParser
from service.domain.syntax import ParsedText
from service.domain.values import Value


class EnglishAnalyser:
    """Parses English; names the language of anything else."""

    def __init__(self) -> None:
        self._parser = SpacyParser()
        self._identifier = LanguageIdentifier(self._parser.vocabulary())

    @property
    def languages(self) -> frozenset[str]:
        """Return the languages that can be parsed."""
        return frozenset({"en"})

    def clear(self) -> None:
        """Forget every text that was parsed."""
        self._parser.clear()
        forget_dates()

    def close(self) -> None:
        """Stop the parser's thread."""
        self._parser.close()

    def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        """Return one parse per text, in order, each with its language."""
        parsed = self._parser.parse(texts)
        found = [self._identifier.identify(text) for text in texts]
        return [
            replace(p, language=code, language_confidence=confidence)
            for p, (code, confidence) in zip(parsed, found, strict=True)
        ]

    def language_of(self, text: str) -> str:
        """Return the code of a text's language."""
        return self._identifier.identify(text)[0]

    def values(self, parsed: ParsedText, anchor: datetime | None) -> tuple[Value, ...]:
        """Return the values of a text, in order of appearance."""
        dates = find_dates(parsed.text, anchor)
        numbers = find_numbers(parsed, dates)
        return tuple(sorted([*dates, *numbers], key=lambda v: v.start))
