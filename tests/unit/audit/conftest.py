"""Logs to verify, and ways to forge them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from service.audit.chain import genesis, leaf_hash, search_columns
from service.audit.commitment import commit, new_salt
from service.audit.entry import Entry, EntryDraft, parse_entry, seal
from service.audit.notes import Checkpoint
from service.audit.rows import AuditRow, Body, Head
from service.audit.tree import TreeBuilder
from service.audit.verify import Report, verify

ORIGIN = "groundkeeper/test"
NOW = "2026-11-29T17:00:00.123456Z"


def decided(
    text: str = "I moved to Lyon.", **changes: object
) -> tuple[EntryDraft, dict[str, Body]]:
    bodies = {name: Body(new_salt(), f"{name}: {text}") for name in ("fact", "source")}
    draft = EntryDraft(
        kind="check.decided",
        actor="key_1",
        subject="sub_1",
        decision={
            "id": "chk_1",
            "verdict": "STORE",
            "reason_code": "supported",
            "scores_e6": {"entailment": 987_654, "contradiction": 0},
        },
        models={"nli": f"sha256:{'a' * 64}"},
        commitments={name: commit(b.salt, b.text.encode()) for name, b in bodies.items()},
    )
    return replace(draft, **changes), bodies


@dataclass
class Log:
    """A log in memory that an attacker can write to."""

    rows: list[AuditRow]
    head: Head

    @classmethod
    def of(cls, drafts: list[tuple[EntryDraft, dict[str, Body]]]) -> "Log":
        log = cls([], Head(0, genesis(ORIGIN), ORIGIN))
        for seq, (draft, bodies) in enumerate(drafts):
            sealed = seal(draft, log=ORIGIN, seq=seq, ts=NOW, prev=log.head.leaf)
            leaf = leaf_hash(sealed.data)
            log.rows.append(AuditRow(seq, sealed.data, leaf, bodies, search_columns(sealed)))
            log.head = Head(seq + 1, leaf, ORIGIN)
        return log

    def entry(self, at: int) -> Entry:
        return parse_entry(self.rows[at].entry)

    def put(self, at: int, entry: Entry, *, rehash: bool = True) -> None:
        row = self.rows[at]
        leaf = leaf_hash(entry.data) if rehash else row.leaf
        self.rows[at] = replace(row, entry=entry.data, leaf=leaf, columns=search_columns(entry))

    def edit(self, at: int, *, rehash: bool = True, prev: str | None = None) -> None:
        """Turn a decision into its opposite, or only give it another ``prev``."""
        old = self.entry(at)
        decision = dict(old.draft.decision or {})
        if prev is None:
            decision["verdict"] = "REJECT"
        new = seal(
            replace(old.draft, decision=decision),
            log=old.log,
            seq=old.seq,
            ts=old.ts,
            prev=prev or old.prev,
        )
        self.put(at, new, rehash=rehash)

    def relink(self, start: int) -> None:
        """Recompute every hash from here to the end."""
        for at in range(start, len(self.rows)):
            prev = self.rows[at - 1].leaf if at else genesis(ORIGIN)
            self.edit(at, prev=prev)

    def fix_head(self) -> None:
        self.head = Head(self.rows[-1].seq + 1, self.rows[-1].leaf, ORIGIN)

    def verify(self, **given: object) -> Report:
        return verify(self.rows, origin=ORIGIN, head=self.head, **given)

    def checkpoint(self, size: int | None = None) -> Checkpoint:
        """What somebody outside keeps of the log as it is now."""
        builder = TreeBuilder()
        for row in self.rows[:size]:
            builder.add(bytes.fromhex(row.leaf))
        return Checkpoint(ORIGIN, builder.size, builder.root())


@pytest.fixture
def make_log() -> Callable[[int], Log]:
    return lambda count: Log.of([decided(f"{number}") for number in range(count)])


@pytest.fixture
def log(make_log: Callable[[int], Log]) -> Log:
    return make_log(7)


@pytest.fixture
def log_of() -> Callable[..., Log]:
    return lambda *drafts: Log.of(list(drafts))


@pytest.fixture
def make_decided() -> Callable[..., tuple[EntryDraft, dict[str, Body]]]:
    return decided
