"""From what a client sends to turns and proposals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from service.domain.check import Message
from service.domain.digests import text_digest
from service.domain.errors import TooLarge
from service.domain.extraction.types import Candidate, Extraction, Skipped, SkipReason
from service.domain.memory import MemoryType, Owner, Triple, Turn
from service.domain.pointers import check_pointer, said
from service.domain.verdicts import Speaker
from service.domain.withheld import BLACK, without_secrets
from service.ports.identifiers import Identifiers
from service.ports.language import LanguageAnalyser
from service.usecases.proposals import Intake, Proposal
from service.usecases.statements import Statements

_IMPORTANCE = 0.5
_FACTS_PER_TURN = 64


class MessageExtractor(Protocol):
    """Finds facts in messages."""

    def extract(
        self,
        messages: Sequence[Message],
        *,
        observed_at: datetime,
        speaker_name: str | None = None,
    ) -> list[Extraction]:
        """Return one extraction per message, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Claimed:
    """A fact that a client states as such; either ``text`` or ``triple``, or both.

    Without a ``source`` the client states it itself: the text is then its own source, said by
    ``speaker``.
    """

    text: str | None = None
    triple: Triple | None = None
    source: str | None = None
    speaker: Speaker = Speaker.USER
    evidence: str | None = None
    type: MemoryType | None = None
    importance: float | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    authority: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class TakeIn:
    """Reads messages and structured facts."""

    def __init__(
        self, *, extractor: MessageExtractor, language: LanguageAnalyser, identifiers: Identifiers
    ) -> None:
        self._extractor = extractor
        self._language = language
        self._statements = Statements(language)
        self._identifiers = identifiers

    def messages(
        self,
        messages: Sequence[Message],
        owner: Owner,
        *,
        observed_at: datetime | None,
        now: datetime,
        speaker_name: str | None,
    ) -> Intake:
        """Return the turns of a conversation and the facts in them."""
        masked = [without_secrets(m.content) for m in messages]
        shown = [
            replace(m, content=text, timestamp=m.timestamp or observed_at or now)
            for m, (text, _) in zip(messages, masked, strict=True)
        ]
        found = self._extractor.extract(
            shown, observed_at=observed_at or now, speaker_name=speaker_name
        )
        turns, proposals, skipped = [], [], []
        for message, extraction, (text, secret) in zip(shown, found, masked, strict=True):
            turn = self._turn(message, owner, now, self._language_of(message, extraction))
            turns.append(turn)
            if secret:
                skipped.append(Skipped(text, SkipReason.SECRET))
            if secret and not text.replace(BLACK, "").strip():
                continue
            skipped += [s for s in extraction.skipped if BLACK not in s.text]
            proposals += _distinct(extraction.candidates, turn, speaker_name)
        times = zip(turns, messages, strict=True)
        undated = {t.id for t, m in times if m.timestamp is None and observed_at is None}
        return Intake(tuple(turns), tuple(proposals), tuple(skipped), frozenset(undated))

    def claimed(
        self, fact: Claimed, owner: Owner, *, observed_at: datetime | None, now: datetime
    ) -> Intake:
        """Return one structured fact as a proposal; raises ``InvalidInput`` for bad evidence."""
        text = fact.text or _sentence(fact.triple)
        source, _ = without_secrets(fact.source or text)
        turn = self._turn(Message(fact.speaker, source, observed_at), owner, now, "en")
        pointer = said(turn.role, turn.observed_at.date())
        proposal = Proposal(
            text=text,
            triple=fact.triple or self._statements.triple(text),
            type=fact.type or MemoryType.FACT,
            importance=_IMPORTANCE if fact.importance is None else fact.importance,
            turn=turn,
            start=0,
            end=len(source),
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
            expires_at=fact.expires_at,
            evidence=check_pointer(fact.evidence, "fact.evidence") if fact.evidence else pointer,
            authority=fact.authority,
            metadata=fact.metadata,
            said_as=None if fact.source else self._statements.as_said(text),
        )
        undated = frozenset() if observed_at else frozenset({turn.id})
        return Intake((turn,), (proposal,), undated=undated)

    def _turn(self, message: Message, owner: Owner, now: datetime, language: str) -> Turn:
        return Turn(
            id=self._identifiers.new("turn"),
            owner=owner,
            role=message.role.value,
            text=message.content,
            language=language,
            content_hash=text_digest(message.content),
            observed_at=message.timestamp or now,
            recorded_at=now,
        )

    def _language_of(self, message: Message, extraction: Extraction) -> str:
        if all(s.reason is not SkipReason.UNSUPPORTED_LANGUAGE for s in extraction.skipped):
            return "en"
        return self._language.parse([message.content])[0].language


def _distinct(
    candidates: Sequence[Candidate], turn: Turn, speaker_name: str | None
) -> list[Proposal]:
    """Return what a turn states, each thing once; raises ``TooLarge`` for a turn of lists."""
    found = {(c.text, c.retracts): c for c in reversed(candidates) if BLACK not in c.text}
    if len(found) > _FACTS_PER_TURN:
        limit = f"over the limit of {_FACTS_PER_TURN}"
        raise TooLarge("message", f"states {len(found)} facts in one turn, {limit}; split it")
    return [_proposed(c, turn, speaker_name) for c in reversed(found.values())]


def _proposed(candidate: Candidate, turn: Turn, speaker_name: str | None) -> Proposal:
    return Proposal(
        text=candidate.text,
        triple=candidate.triple,
        type=candidate.type,
        importance=candidate.importance,
        turn=turn,
        start=candidate.start,
        end=candidate.end,
        retracts=candidate.retracts,
        correction=candidate.correction,
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        evidence=said(turn.role, turn.observed_at.date()),
        speaker_name=speaker_name,
    )


def _sentence(triple: Triple | None) -> str:
    """Return a triple as a sentence: "The user's brother's employer is Acme."."""
    if triple is None:
        return ""
    first, *rest = triple.subject.split(".")
    holder = "the user" if first == "user" else first
    owners = [holder, *(part.replace("_", " ") for part in rest)]
    said_of = "'s ".join([*owners, triple.attribute.replace("_", " ")])
    verb = "is" if triple.polarity else "is not"
    return f"{said_of[:1].upper()}{said_of[1:]} {verb} {triple.value.rstrip('.')}."
