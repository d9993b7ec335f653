"""What happens to a user's row on its way into a backup, and out of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from service.adapters.backup.copying import Record
from service.adapters.backup.sealing import DEPENDENCY, Place, is_sealed, seal, unseal
from service.domain.errors import Conflict, Damaged, Unavailable
from service.ports.subject_keys import KeyState, SubjectKeys, SubjectRef

Sealed = dict[str, tuple[str, ...]]
"""The columns that are encrypted together, by table; the first carries the ciphertext."""

_NOTHING: Final = b""


class Sealer:
    """Encrypts rows; call it for each."""

    def __init__(self, keys: SubjectKeys) -> None:
        self._keys = keys
        self.sealed: Sealed = {}

    def __call__(self, record: Record) -> None:
        """Encrypt the personal columns of a row.

        Raises ``Conflict`` if its user was erased since the database was looked at.
        """
        table, columns = record.layout.name, _columns(record)
        self.sealed[table] = columns
        carrier = columns[0]
        place = Place(table, columns, record.name, record.who)
        values = [record[column] for column in columns]
        as_text = record.layout.is_text(carrier)
        sealed = seal(self._key(record.who), place, values, as_text=as_text)
        for column in columns:
            record[column] = _NOTHING if record.layout.is_required(column) else None
        record[carrier] = sealed

    def _key(self, who: SubjectRef) -> bytes:
        key = self._keys.find(who)
        if key is not None:
            return key
        if self._keys.state(who) is KeyState.DESTROYED:
            raise Conflict(f"{who.subject_id} was erased while the database was copied.")
        return self._keys.key_for(who)  # says which key is missing


class Unsealer:
    """Decrypts rows; call it for each. Those whose key was destroyed stay as they are."""

    def __init__(self, keys: SubjectKeys, sealed: Mapping[str, tuple[str, ...]]) -> None:
        self._keys = keys
        self._sealed = sealed
        self.destroyed: set[SubjectRef] = set()

    def __call__(self, record: Record) -> None:
        """Put the values of a row back.

        Raises:
            Damaged: the row is not what was encrypted.
            Unavailable: the key file is older than the backup.
        """
        table = record.layout.name
        columns = self._sealed.get(table, ())
        if not columns or not is_sealed(record[columns[0]]):
            raise Damaged(DEPENDENCY, f"a row of {table} is not encrypted")
        key = self._keys.find(record.who)
        if key is None:
            self._require_destroyed(record.who)
            self.destroyed.add(record.who)
            return
        place = Place(table, columns, record.name, record.who)
        values = unseal(key, place, record[columns[0]])
        for column, value in zip(columns, values, strict=True):
            record[column] = value

    def _require_destroyed(self, who: SubjectRef) -> None:
        if self._keys.state(who) is KeyState.UNKNOWN:
            raise Unavailable(
                DEPENDENCY,
                f"the key file has no key for {who.subject_id}: it is older than the backup, or "
                "another one's. Put back a copy of the key directory that was made after the "
                "backup",
            )


def _columns(record: Record) -> tuple[str, ...]:
    there = record.layout.columns
    return tuple(name for name in record.personal.columns if name in there)
