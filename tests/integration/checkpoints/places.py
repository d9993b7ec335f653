"""One installation in a folder, and a look at its checkpoints that shares no code with it."""

from __future__ import annotations

import base64
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from service import bootstrap
from service.adapters.db.engine import choose_driver
from service.bootstrap import Container, Parts
from service.ports.storage import EntryDraft, Scope
from service.settings import Settings

# The same library as ours: two copies of SQLite in one process do not see each other's locks.
sqlite3 = choose_driver().module
SCOPE = Scope("default", "key_1")


@dataclass(frozen=True)
class Seen:
    """A note, read by hand."""

    origin: str
    size: int
    root: bytes
    signers: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """The folders of one installation, and its database while nothing has it open."""

    settings: Settings
    parts: Parts

    @property
    def store(self) -> Path:
        return self.settings.checkpoints_dir

    @property
    def database(self) -> Path:
        return self.settings.data_dir / bootstrap.DATABASE_NAME

    def build(self) -> Container:
        return bootstrap.build(self.settings, self.parts)

    @contextmanager
    def open(self) -> Iterator[Container]:
        """Everything that a server has, without its HTTP and without loading models."""
        container = self.build()
        try:
            yield container
        finally:
            container.close()

    def run(self, entries: int = 0) -> None:
        """Start, append, and stop cleanly."""
        with self.open() as container:
            append(container, entries)

    def latest(self) -> str:
        return (self.store / "latest.txt").read_text(encoding="utf-8")

    def published(self) -> str:
        return (self.store / "checkpoints.txt").read_text(encoding="utf-8")

    def vkey(self) -> str:
        return (self.settings.key_dir / "log.vkey").read_text(encoding="utf-8").strip()

    def leaves(self) -> list[bytes]:
        """Return the leaf hashes, computed from the stored bytes."""
        with closing(sqlite3.connect(self.database)) as raw:
            rows = raw.execute("SELECT entry FROM entry ORDER BY seq").fetchall()
        return [hashlib.sha256(b"\x00" + bytes(row[0])).digest() for row in rows]

    def kinds(self) -> list[str]:
        with closing(sqlite3.connect(self.database)) as raw:
            rows = raw.execute("SELECT kind FROM entry ORDER BY seq").fetchall()
        return [row[0] for row in rows]

    def copy_data(self, name: str) -> Path:
        target = self.settings.data_dir.parent / name
        shutil.copytree(self.settings.data_dir, target)
        return target

    def restore_data(self, copy: Path) -> None:
        shutil.rmtree(self.settings.data_dir)
        shutil.copytree(copy, self.settings.data_dir)

    def tamper(self, *statements: str) -> None:
        """Run statements without triggers, and put the triggers back."""
        with closing(sqlite3.connect(self.database, isolation_level=None)) as raw:
            rows = raw.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            triggers = rows.fetchall()
            for name, _ in triggers:
                raw.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                raw.execute(statement)
            for _, sql in triggers:
                raw.execute(sql)


def append(container: Container, count: int) -> None:
    """Append entries to the log, one commit each."""
    draft = EntryDraft(kind="evaluation.recorded", actor=SCOPE.actor)
    database = container.services.audit._database
    for _ in range(count):
        database.write(SCOPE, lambda tx: tx.audit.append(draft, {}))


def root_of(leaves: list[bytes]) -> bytes:
    """Return the Merkle tree hash as RFC 6962, section 2.1 defines it, recursively."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    middle = 1 << (len(leaves) - 1).bit_length() - 1
    left, right = root_of(leaves[:middle]), root_of(leaves[middle:])
    return hashlib.sha256(b"\x01" + left + right).digest()


def read_note(note: str, *vkeys: str) -> Seen:
    """Check every byte of a note against the C2SP forms; at least one of the keys has signed."""
    body, _, block = note.rpartition("\n\n")
    assert note.encode().decode() == note
    assert block.endswith("\n")
    origin, size, root, *more = body.split("\n")
    assert more == []
    assert size == str(int(size))
    signers = []
    for line in block.removesuffix("\n").split("\n"):
        dash, name, encoded = line.split(" ")
        assert dash == "\u2014"
        assert name == origin
        data = base64.b64decode(encoded, validate=True)
        assert base64.b64encode(data).decode() == encoded
        assert len(data) == 4 + 64
        for vkey in vkeys:
            if signed(vkey, name, data, f"{body}\n".encode()):
                signers.append(vkey)
    assert signers, "no key of ours has signed"
    assert len(base64.b64decode(root, validate=True)) == 32
    return Seen(origin, int(size), base64.b64decode(root), tuple(signers))


def signed(vkey: str, name: str, data: bytes, text: bytes) -> bool:
    key_name, key_id, encoded = vkey.split("+", 2)
    key = base64.b64decode(encoded, validate=True)
    assert key[:1] == b"\x01"
    digest = hashlib.sha256(key_name.encode() + b"\n" + key).digest()[:4]
    assert digest.hex() == key_id
    if (key_name, digest) != (name, data[:4]):
        return False
    Ed25519PublicKey.from_public_bytes(key[1:]).verify(data[4:], text)
    return True
