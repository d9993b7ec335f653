"""Somebody who can write to the database file, knows the format, and does not have the key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from service.adapters.db.engine import choose_driver
from service.audit.chain import genesis, leaf_hash, search_columns
from service.audit.entry import Entry, parse_entry, seal
from service.audit.tree import TreeBuilder

MEMORY_ROWS = {"memory_event": "memory_id", "outbox": "memory_id", "embedding": "memory_id"}


@contextmanager
def attacking(path: Path) -> Iterator[Attacker]:
    """Drop the triggers, let the attacker work, and put the triggers back as they were."""
    connection = choose_driver().module.connect(str(path), isolation_level=None)
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    found = triggers.fetchall()
    for name, _ in found:
        connection.execute(f"DROP TRIGGER {name}")
    yield Attacker(connection)
    for _, sql in found:
        connection.execute(sql)
    connection.close()


class Attacker:
    """What such a person can do, step by step."""

    def __init__(self, connection: Any) -> None:
        self.run = connection.execute

    def entry(self, seq: int) -> Entry:
        return parse_entry(self._one("SELECT entry FROM entry WHERE seq = ?", seq))

    def size(self) -> int:
        return self._one("SELECT max(seq) FROM entry") + 1

    def put(self, seq: int, entry: Entry) -> None:
        """Write an entry with its hash and columns, so that its row agrees with itself."""
        columns = search_columns(entry)
        names = ", ".join(f"{name} = ?" for name in ("entry", "leaf", *columns))
        values = (entry.data, leaf_hash(entry.data), *columns.values())
        self.run(f"UPDATE entry SET {names} WHERE seq = ?", (*values, seq))

    def turn(self, seq: int) -> None:
        """Make a decision its opposite, in the log and in the business table."""
        old = self.entry(seq)
        decision = dict(old.draft.decision or {}) | {"verdict": "REJECT"}
        draft = replace(old.draft, decision=decision)
        self.put(seq, seal(draft, log=old.log, seq=seq, ts=old.ts, prev=old.prev))
        self.run("UPDATE decision SET verdict = 'REJECT' WHERE seq = ?", (seq,))

    def relink(self, start: int) -> None:
        """Recompute numbers and hashes from here to the end."""
        prev = self._one("SELECT leaf FROM entry WHERE seq = ?", start - 1) if start else None
        for seq in range(start, self.size()):
            old = self.entry(seq)
            made = seal(old.draft, log=old.log, seq=seq, ts=old.ts, prev=prev or genesis(old.log))
            self.put(seq, made)
            prev = leaf_hash(made.data)

    def finish(self) -> None:
        """Make the tree and the head those of the entries that there are now."""
        self.run("DELETE FROM node")
        builder = TreeBuilder()
        for (leaf,) in self.run("SELECT leaf FROM entry ORDER BY seq").fetchall():
            for node in builder.add(bytes.fromhex(leaf)):
                self.run("INSERT INTO node VALUES (?, ?, ?)", node)
        last = self.run("SELECT seq + 1, leaf, ts FROM entry ORDER BY seq DESC LIMIT 1").fetchone()
        self.run("UPDATE head SET size = ?, leaf = ?, ts = ?", last)

    def remove(self, seq: int) -> None:
        """Take out an entry and everything that points to it."""
        draft = self.entry(seq).draft
        self.run("DELETE FROM decision WHERE seq = ?", (seq,))
        if draft.kind == "memory.created":
            for table, column in MEMORY_ROWS.items():
                self.run(f"DELETE FROM {table} WHERE {column} = ?", draft.memory[:1])
            self.run("DELETE FROM memory WHERE id = ?", draft.memory[:1])
        self.run("DELETE FROM body WHERE seq = ?", (seq,))
        self.run("DELETE FROM entry WHERE seq = ?", (seq,))

    def close_gap(self, gap: int) -> None:
        """Give everything after a missing number the number before it."""
        tables = ("entry", "body", "decision", "memory_event")
        for seq in range(gap + 1, self.size()):
            for table in tables:
                self.run(f"UPDATE {table} SET seq = ? WHERE seq = ?", (seq - 1, seq))

    def exchange(self, one: int, other: int) -> None:
        """Let two entries, with their texts and decisions, take each other's place."""
        for table in ("entry", "body", "decision", "memory_event"):
            for old, new in ((one, -1), (other, one), (-1, other)):
                self.run(f"UPDATE {table} SET seq = ? WHERE seq = ?", (new, old))

    def invent_decision(self) -> None:
        """Add a decision that was never made."""
        self.run(
            "INSERT INTO decision SELECT tenant, 'chk_forged', kind, subject_id, seq, 'STORE',"
            " reason_code, policy_fingerprint, recorded_at FROM decision ORDER BY seq LIMIT 1"
        )

    def _one(self, statement: str, *values: object) -> Any:
        return self.run(statement, values).fetchone()[0]
