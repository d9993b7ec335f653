"""Taking a MiniEval log into ours as what it is: somebody else's earlier evaluations.

An entry becomes ``evaluation.recorded``, with its verdict, scores and hash, and how far its own
chain vouches for it. It is no decision of this service and never becomes a memory: for that, its
fact has to pass the gate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from service.audit.canonical import JsonValue
from service.audit.commitment import commit, new_salt
from service.audit.minieval import MiniEvalEntry, MiniEvalReport, Standing, verify_minieval
from service.domain.guards.secrets import holds_secret
from service.ports.storage import AuditFilter, Body, Database, EntryDraft, Scope, Transaction

KIND: Final = "evaluation.recorded"
CODES: Final = {
    Standing.VERIFIED: "imported",
    Standing.BROKEN: "imported_broken",
    Standing.COMPROMISED: "imported_compromised",
    Standing.UNHASHED: "imported_unhashed",
}
"""The reason code of an imported entry, by its standing in its own log."""

_BATCH: Final = 200
_PAGE: Final = 500
_MILLION: Final = 1_000_000
_ID_DIGITS: Final = 40
_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "fact": ("fact", "incoming_fact"),
    "source": ("source", "incoming_source"),
    "evidence": ("evidence_span",),
}
_SCORES: Final[Mapping[str, tuple[str, ...]]] = {
    "faithfulness": ("faithfulness", "incoming_faithfulness"),
    "entailment": ("entailment",),
    "neutral": ("neutral",),
    "contradiction": ("contradiction",),
    "relatedness": ("relatedness",),
}
_VERDICT: Final = re.compile(r"[A-Z_]{1,32}").fullmatch
_FINGERPRINT: Final = re.compile(r"[0-9a-f]{1,64}").fullmatch


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a log.

    ``imported`` entries are new in ours, ``known`` ones were there already; of ``withheld`` ones no
    text was kept, because they hold a credential. ``refused`` says why nothing was taken in.
    """

    report: MiniEvalReport
    imported: int = 0
    known: int = 0
    withheld: int = 0
    refused: str | None = None


class ImportMiniEval:
    """The use case behind ``groundkeeper import-minieval``."""

    def __init__(self, *, database: Database) -> None:
        self._database = database

    def run(
        self,
        scope: Scope,
        lines: Iterable[bytes],
        *,
        user_id: str | None = None,
        accept_broken: bool = False,
    ) -> Imported:
        """Verify a log and take in those of its entries that are not there yet.

        Without ``user_id`` no text is kept. A log that does not verify is refused as a whole;
        with ``accept_broken`` its entries come in, each marked with its standing. Running it again
        goes on where an interrupted run stopped.
        """
        entries, report = verify_minieval(lines)
        if not report.ok and not accept_broken:
            return Imported(report, refused=report.reason)
        known = self._database.read(scope, _known)
        fresh = list({_id(e): e for e in entries if _id(e) not in known}.values())
        withheld = 0
        for batch in _batches(fresh):
            withheld += self._database.write(scope, _Batch(batch, user_id).write)
        return Imported(report, len(fresh), len(entries) - len(fresh), withheld)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Some entries, to be written in one transaction."""

    entries: Sequence[MiniEvalEntry]
    user_id: str | None

    def write(self, tx: Transaction) -> int:
        """Append them; return of how many the texts were withheld."""
        subject = tx.subjects.id_for(self.user_id) if self.user_id is not None else None
        withheld = 0
        for entry in self.entries:
            texts = _texts(entry) if subject is not None else {}
            if any(holds_secret(text) for text in texts.values()):
                withheld, texts = withheld + 1, {}
            bodies = {name: Body(new_salt(), text) for name, text in texts.items()}
            tx.audit.append(_draft(tx.scope, subject, entry, bodies), bodies)
        return withheld


def _batches(entries: Sequence[MiniEvalEntry]) -> Iterator[Sequence[MiniEvalEntry]]:
    return (entries[n : n + _BATCH] for n in range(0, len(entries), _BATCH))


def _known(tx: Transaction) -> frozenset[str]:
    """Return the ids of what was imported before."""
    return frozenset(_recorded_ids(tx))


def _recorded_ids(tx: Transaction) -> Iterator[str]:
    last = -1
    while rows := tx.audit.after(AuditFilter(action=KIND), last, _PAGE):
        for row in rows:
            found = (row.columns or {}).get("decision_id")
            if found is not None:
                yield found
        last = rows[-1].seq


def _id(entry: MiniEvalEntry) -> str:
    return f"mev_{entry.digest[:_ID_DIGITS]}"


def _draft(
    scope: Scope, subject: str | None, entry: MiniEvalEntry, bodies: Mapping[str, Body]
) -> EntryDraft:
    verdict, fingerprint = entry.fields.get("verdict"), entry.fields.get("policy_fingerprint")
    return EntryDraft(
        kind=KIND,
        actor=scope.actor,
        subject=subject,
        decision={
            "id": _id(entry),
            "verdict": verdict if isinstance(verdict, str) and _VERDICT(verdict) else None,
            "reason_code": CODES[entry.standing],
            "scores_e6": _scores(entry.fields),
        },
        state_after=entry.digest,
        policy=(
            f"minieval:{fingerprint}"
            if isinstance(fingerprint, str) and _FINGERPRINT(fingerprint)
            else None
        ),
        commitments={name: commit(body.salt, body.text.encode()) for name, body in bodies.items()},
    )


def _scores(fields: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return the scores that are numbers between 0 and 1, in millionths."""
    found: dict[str, JsonValue] = {}
    for name, value in _first(fields, _SCORES):
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            found[name] = round(value * _MILLION)
    return found


def _texts(entry: MiniEvalEntry) -> dict[str, str]:
    """Return the texts of an entry, and as its result the whole line, as it was."""
    texts = {n: v for n, v in _first(entry.fields, _TEXTS) if isinstance(v, str) and _is_text(v)}
    return {**texts, "result": entry.line.decode("utf-8")}


def _first(
    fields: Mapping[str, Any], names: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, Any]]:
    """Return our names with what the entry has under one of theirs."""
    for name, theirs in names.items():
        given = next((fields[t] for t in theirs if fields.get(t) is not None), None)
        if given is not None:
            yield name, given


def _is_text(value: str) -> bool:
    """Tell text from half of a surrogate pair, which JSON can spell and UTF-8 cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return bool(value)
