"""What the gate asks of a language analyser."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from service.domain.syntax import ParsedText
from service.domain.values import Value


class LanguageAnalyser(Protocol):
    """Parses text and finds the values in it."""

    @property
    def languages(self) -> frozenset[str]:
        """Return the ISO 639-1 codes of the languages that can be parsed."""
        ...

    def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        """Return one parse per text, in order. Sentence offsets are exact code points.

        A text in a language that cannot be parsed comes back with that language's code and is
        split into sentences only.
        """
        ...

    def language_of(self, text: str) -> str:
        """Return the ISO 639-1 code of a text's language, as ``parse`` would, without a parse."""
        ...

    def values(self, parsed: ParsedText, anchor: datetime | None) -> tuple[Value, ...]:
        """Return the numbers, quantities, dates and times of a text, in order of appearance.

        Args:
            parsed: the parsed text.
            anchor: what relative dates ("yesterday") count from; without one they stay unresolved.
        """
        ...
