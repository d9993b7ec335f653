"""The rules' extraction, joined by what an optional proposer finds besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from service.domain.check import Message
from service.domain.extraction.types import Candidate, Extraction, SkipReason
from service.domain.memory import MemoryType
from service.domain.verdicts import Speaker
from service.domain.withheld import BLACK
from service.ports.language import LanguageAnalyser
from service.ports.proposer import Proposer
from service.usecases.extract import Extractor
from service.usecases.statements import Statements

_CLOSED = frozenset(
    {
        SkipReason.RECALLED,
        SkipReason.UNSUPPORTED_LANGUAGE,
        SkipReason.INSTRUCTION,
        SkipReason.SECRET,
        SkipReason.SMALL_TALK,
    }
)
_IMPORTANCE = 0.5


class ProposingExtractor:
    """Adds a proposer's facts to the rules' own; every one of them still has to pass the gate.

    Messages that the rules close as a whole (secrets, orders, recalled memories, other languages)
    and those of others are not shown to the proposer.
    """

    def __init__(self, *, language: LanguageAnalyser, proposer: Proposer) -> None:
        self._rules = Extractor(language)
        self._statements = Statements(language)
        self._proposer = proposer

    def extract(
        self,
        messages: Sequence[Message],
        *,
        observed_at: datetime,
        speaker_name: str | None = None,
    ) -> list[Extraction]:
        """Return one extraction per message, in order; raises ``Unavailable``."""
        found = self._rules.extract(messages, observed_at=observed_at, speaker_name=speaker_name)
        return [self._joined(m, e) for m, e in zip(messages, found, strict=True)]

    def _joined(self, message: Message, rules: Extraction) -> Extraction:
        closed = BLACK in message.content or any(s.reason in _CLOSED for s in rules.skipped)
        if message.role is not Speaker.USER or closed:
            return rules
        known = {(c.triple.subject, c.triple.attribute, c.triple.value) for c in rules.candidates}
        texts = {c.text for c in rules.candidates}
        added = [
            candidate
            for text in self._proposer.propose(message.content)
            if text not in texts
            for candidate in (self._candidate(text, message),)
            if _keys(candidate) not in known
        ]
        return replace(rules, candidates=(*rules.candidates, *added))

    def _candidate(self, text: str, message: Message) -> Candidate:
        return Candidate(
            text=text,
            triple=self._statements.triple(text),
            type=MemoryType.FACT,
            importance=_IMPORTANCE,
            start=0,
            end=len(message.content),
        )


def _keys(candidate: Candidate) -> tuple[str, str, str]:
    triple = candidate.triple
    return triple.subject, triple.attribute, triple.value
