"""What an erasure has to look at: everything of one user that can hold a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Column, Row, Select, Table, Text, func, or_, select

from service.adapters.db.columns import from_json
from service.adapters.db.erasure_tables import answer_owners
from service.adapters.db.memory_tables import (
    conflicts,
    embeddings,
    events,
    lessons,
    memories,
    reviews,
    turns,
)
from service.adapters.db.receipts import receipts
from service.adapters.db.repository import Repository
from service.adapters.db.sealing import stored_bodies, stored_bytes
from service.adapters.db.tables import body, entry, idempotency, metadata, subject
from service.audit.entry import parse_timestamp
from service.audit.rows import Body
from service.domain.erasure import GroundState
from service.ports.erasure import HeldBody, HeldMemory, HeldText, HeldTurn
from service.ports.subject_keys import SubjectRef

_ENTRIES: Final = 500  # of the log, at a time
_IDS: Final = re.compile(rb"\b(?:mem|turn|chk|rev|rcp|con|les)_[0-9a-z]{26}\b")
_OWN: Final = {
    "memories": memories,
    "steps": events,
    "vectors": embeddings,
    "turns": turns,
    "conflicts": conflicts,
    "reviews": reviews,
    "lessons": lessons,
    "receipts": receipts,
    "answers": answer_owners,
}


class SqlHeld(Repository):
    """Implements ``HeldStore``."""

    def user_id(self, subject_id: str) -> str | None:
        """Return which user an opaque id stands for."""
        query = self._rows_of(subject).where(subject.c.id == subject_id)
        row = self._execute(query).one_or_none()
        return None if row is None else str(row.user_id)

    def state(self, subject_id: str) -> GroundState:
        """Return what a plan rests on."""
        about = select(func.max(entry.c.seq)).where(self._mine(entry))
        last = self._execute(about.where(entry.c.subject == subject_id)).scalar_one()
        newest = self._of(turns, subject_id).with_only_columns(func.max(turns.c.position))
        turn = self._execute(newest).scalar_one()
        return GroundState(-1 if last is None else int(last), -1 if turn is None else int(turn))

    def memories(self, subject_id: str) -> Sequence[HeldMemory]:
        """Return every memory of a user, oldest first."""
        rows = self._execute(self._of(memories, subject_id).order_by(memories.c.position))
        return [_memory_of(row) for row in rows]

    def turns(self, subject_id: str) -> Sequence[HeldTurn]:
        """Return every turn of a user, oldest first."""
        columns = (turns.c.id, turns.c.text, turns.c.observed_at)
        query = self._of(turns, subject_id).with_only_columns(*columns)
        rows = self._execute(query.order_by(turns.c.position))
        return [HeldTurn(row.id, row.text, parse_timestamp(row.observed_at)) for row in rows]

    def bodies(self, subject_id: str) -> Iterator[HeldBody]:
        """Go through the texts beside the log."""
        who = SubjectRef(self._session.scope.tenant, subject_id)
        there = select(body.c.seq).where(body.c.seq == entry.c.seq).exists()
        mine = select(entry.c.seq, entry.c.decision_id, entry.c.entry).where(self._mine(entry))
        mine = mine.where(entry.c.subject == subject_id, there).order_by(entry.c.seq)
        last = -1
        while rows := self._execute(mine.where(entry.c.seq > last).limit(_ENTRIES)).all():
            last = rows[-1].seq
            wanted = select(body).where(body.c.seq.in_([row.seq for row in rows]))
            owners = {row.seq: who for row in rows}
            found = stored_bodies(self._execute(wanted), owners, self._session.keys)
            for row in rows:
                first = _first_memory(row.entry)
                for name, one in found[row.seq].items():
                    text = one.text if isinstance(one, Body) else None
                    yield HeldBody(row.seq, row.decision_id, first, name, text)

    def events(self, subject_id: str) -> Sequence[HeldText]:
        """Return the steps that have a reason."""
        query = self._of(events, subject_id).where(events.c.reason.is_not(None))
        rows = self._execute(query.order_by(events.c.position))
        return [HeldText(str(row.position), (row.memory_id,), (row.reason,)) for row in rows]

    def conflicts(self, subject_id: str) -> Sequence[HeldText]:
        """Return the conflicts of every status."""
        rows = self._execute(self._of(conflicts, subject_id))
        return [HeldText(r.id, (r.first, r.second), _filled(r.reason, r.resolution)) for r in rows]

    def reviews(self, subject_id: str) -> Sequence[HeldText]:
        """Return the items of the review queue of every status."""
        rows = self._execute(self._of(reviews, subject_id))
        return [_review_of(row) for row in rows]

    def lessons(self, subject_id: str) -> Sequence[HeldText]:
        """Return the user's own lessons."""
        rows = self._execute(self._of(lessons, subject_id))
        return [HeldText(r.id, (), (r.text, r.evidence, r.applies_to)) for r in rows]

    def receipts(self, subject_id: str) -> Sequence[HeldText]:
        """Return the receipts, with the memories they name and the query."""
        rows = self._execute(self._of(receipts, subject_id))
        return [
            HeldText(r.id, tuple(from_json(r.memory_ids)), (str(from_json(r.body).get("query")),))
            for r in rows
        ]

    def answers(self, subject_id: str) -> Sequence[HeldText]:
        """Return the stored answers that are about a user."""
        keys = self._of(answer_owners, subject_id).with_only_columns(answer_owners.c.key)
        rows = self._execute(self._rows_of(idempotency).where(idempotency.c.key.in_(keys)))
        return [HeldText(r.key, _ids(r.body), tuple(_strings(r.body))) for r in rows]

    def counts(self, subject_id: str) -> Mapping[str, int]:
        """Return how many rows of each kind a user has."""
        found = {
            name: int(self._execute(_count(self._of(table, subject_id))).scalar_one())
            for name, table in _OWN.items()
        }
        mine = select(body.c.seq).join(entry, entry.c.seq == body.c.seq).where(self._mine(entry))
        found["texts"] = int(
            self._execute(_count(mine.where(entry.c.subject == subject_id))).scalar_one()
        )
        return found

    def holding(self, subject_id: str, texts: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return (table, value) of the user's rows that hold one of the texts as it is."""
        return [
            (table.name, value)
            for table in metadata.tables.values()
            if "subject_id" in table.c and texts
            for row in self._execute(_holding(self._of(table, subject_id), table, texts))
            for value in row
            if isinstance(value, str)
        ]

    def held_by_anybody(self, text: str) -> bool:
        """Return whether any row of any tenant holds a text; never told to anybody."""
        return any(
            self._execute(_holding(select(table), table, [text]).limit(1)).first() is not None
            for table in metadata.tables.values()
            if _text_columns(table)
        )

    def _of(self, table: Table, subject_id: str) -> Select[Any]:
        return self._rows_of(table).where(table.c.subject_id == subject_id)


def _holding(rows: Select[Any], table: Table, texts: Sequence[str]) -> Select[Any]:
    columns = _text_columns(table)
    found = (func.instr(column, text) > 0 for column in columns for text in texts)
    return rows.with_only_columns(*columns).where(or_(*found))


def _text_columns(table: Table) -> list[Column[Any]]:
    return [column for column in table.c if isinstance(column.type, Text)]


def _count(rows: Select[Any]) -> Select[Any]:
    return rows.with_only_columns(func.count(), maintain_column_froms=True)


def _memory_of(row: Row[Any]) -> HeldMemory:
    return HeldMemory(
        id=row.id,
        turn_id=row.turn_id,
        decision_id=row.decision_id,
        status=row.status,
        text=row.text,
        passage=row.origin_text,
        key=(row.triple_subject, row.attribute, row.value, bool(row.polarity)),
        more=_filled(row.metadata, row.evidence, row.authority),
        replaced_by=row.replaced_by,
        supersedes=tuple(from_json(row.supersedes)),
        reason=row.supersession_reason,
        observed_at=parse_timestamp(row.observed_at),
    )


def _review_of(row: Row[Any]) -> HeldText:
    candidate = from_json(row.candidate)
    about = (candidate.get("turn_id"), candidate.get("replaces"), row.memory_id)
    texts = (row.text, row.reason, row.note, *_strings(row.candidate.encode()))
    return HeldText(row.id, _filled(*about), _filled(*texts))


def _ids(data: bytes) -> tuple[str, ...]:
    return tuple(found.decode() for found in _IDS.findall(data))


def _filled(*values: str | None) -> tuple[str, ...]:
    return tuple(value for value in values if value)


def _first_memory(data: object) -> str | None:
    try:
        named = orjson.loads(stored_bytes(data))["memory"]
    except (ValueError, KeyError, TypeError):
        return None
    return str(named[0]) if isinstance(named, list) and named else None


def _strings(data: bytes) -> Iterator[str]:
    """Go through every text in JSON."""
    waiting: list[Any] = [orjson.loads(data)] if data else []
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
