"""Find what a conversation says that may be worth remembering."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from service.domain.check import Message
from service.domain.clause_analysis import analyse_clauses
from service.domain.extraction.candidates import ReadMessage
from service.domain.extraction.context import in_context
from service.domain.extraction.message import extract_message, skip_whole
from service.domain.extraction.repair import repaired
from service.domain.extraction.types import Extraction, SkipReason
from service.domain.guards.instructions import is_recalled
from service.domain.guards.secrets import holds_secret
from service.domain.subjects import Perspective
from service.domain.syntax import ParsedText
from service.domain.verdicts import Speaker
from service.ports.language import LanguageAnalyser

_ROLES = {
    Speaker.ASSISTANT: SkipReason.ASSISTANT,
    Speaker.SYSTEM: SkipReason.SYSTEM,
    Speaker.TOOL: SkipReason.TOOL,
    Speaker.OTHER: SkipReason.REPORTED,
}


class Extractor:
    """Reads messages; holds no state but the parser."""

    def __init__(self, language: LanguageAnalyser) -> None:
        self._language = language

    def extract(
        self,
        messages: Sequence[Message],
        *,
        observed_at: datetime,
        speaker_name: str | None = None,
    ) -> list[Extraction]:
        """Return what each message states, in order.

        Args:
            messages: the turns, oldest first. Only the user's own words are read.
            observed_at: when they were said, for messages without a timestamp.
            speaker_name: what the user is called.

        Every message yields at least one candidate or one skipped passage. ``start`` and ``end``
        of a candidate index into its own message.
        """
        parsed = self._language.parse([m.content for m in messages])
        names = frozenset(speaker_name.casefold().split()) if speaker_name else frozenset()
        return in_context(
            [
                self._one(message, text, Perspective(names), message.timestamp or observed_at)
                for message, text in zip(messages, parsed, strict=True)
            ]
        )

    def _one(
        self, message: Message, parsed: ParsedText, perspective: Perspective, moment: datetime
    ) -> Extraction:
        reason = self._reason(message, parsed)
        if reason is not None:
            return skip_whole(message.content, reason)
        parsed = repaired(parsed)
        clauses = analyse_clauses(parsed, perspective)
        values = self._language.values(parsed, moment)
        return extract_message(ReadMessage(parsed, clauses, values, perspective, moment))

    def _reason(self, message: Message, parsed: ParsedText) -> SkipReason | None:
        if is_recalled(message.content):
            return SkipReason.RECALLED
        if message.role in _ROLES:
            return _ROLES[message.role]
        if not any(c.isalnum() for c in message.content):
            return SkipReason.NO_FACT
        if parsed.language not in self._language.languages:
            return SkipReason.UNSUPPORTED_LANGUAGE
        numbers = range(len(parsed.sentences))
        apart = any(holds_secret(parsed.sentence_text(n)) for n in numbers)
        return SkipReason.SECRET if holds_secret(message.content) and not apart else None
