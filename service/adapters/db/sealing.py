"""Bodies on their way into and out of the database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from service.audit.commitment import opens
from service.audit.entry import EntryDraft
from service.audit.rows import Body
from service.domain.errors import InvalidInput

Bodies: TypeAlias = Mapping[int, Mapping[str, Body]]


def check_bodies(draft: EntryDraft, bodies: Mapping[str, Body]) -> list[dict[str, object]]:
    """Return the rows for an entry's bodies; refuse any that verification would find wrong."""
    expected = draft.commitments.keys() if draft.subject is not None else ()
    if bodies.keys() != set(expected):
        raise InvalidInput(
            "bodies", "must match the commitments of an entry with a subject, and be empty without"
        )
    rows: list[dict[str, object]] = []
    for name, body in bodies.items():
        try:
            text = body.text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(name, "holds a lone surrogate, which is not text") from error
        if not opens(draft.commitments[name], body):
            raise InvalidInput(name, "the body does not open its commitment")
        rows.append({"name": name, "salt": body.salt, "text": text})
    return rows


def stored_bodies(rows: Iterable[Sequence[Any]]) -> Bodies:
    """Return bodies by entry and name; damaged text comes back as surrogates, never as an error."""
    bodies: defaultdict[int, dict[str, Body]] = defaultdict(dict)
    for seq, name, salt, text in rows:
        bodies[seq][name] = Body(salt, text.decode("utf-8", "surrogateescape"))
    return bodies
