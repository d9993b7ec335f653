"""The database that backups are made of: verified and copied in one snapshot."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

from sqlalchemy import Connection

from service.adapters.backup.columns import LEFT_OUT
from service.adapters.backup.copying import Raw, copy_rows
from service.adapters.backup.rows import Sealer
from service.adapters.backup.sealing import DEPENDENCY
from service.adapters.db.errors import domain_errors
from service.adapters.db.keystore import keys_name
from service.adapters.db.migrate import current_revision, head_revision
from service.adapters.db.read_only import read_only
from service.adapters.db.repository import Session
from service.adapters.db.transaction import SqlTransaction
from service.adapters.subject_keys.store import open_subject_keys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.audit.verify import Anchors
from service.domain.errors import Damaged, Unavailable
from service.ports.backup import Copied
from service.ports.storage import SYSTEM
from service.ports.subject_keys import SubjectKeys
from service.usecases.verification import verify_log


class DatabaseSource:
    """Implements ``BackupSource``; nothing is written to the database or beside it."""

    def __init__(self, path: Path, key_dir: Path, origin: str | None = None) -> None:
        self._path = path
        self._key_dir = key_dir
        self._origin = origin

    def copy(self, target: Path, anchors: Anchors) -> Copied:
        """Copy one state of the database into a new file, with everything personal encrypted."""
        with ExitStack() as resources:
            connection = resources.enter_context(read_only(self._path))
            resources.enter_context(domain_errors())
            resources.enter_context(connection.begin())
            revision = _require_current(connection)
            keys = resources.enter_context(closing(self._keys(connection)))
            tx = SqlTransaction(_session(connection, keys))
            report = verify_log(tx, self._origin or anchors.stored[0].origin, anchors)
            if not report.ok:
                raise Damaged(
                    DEPENDENCY,
                    f"the database does not verify ({report.reason}), and a copy of it would be "
                    "no use. Run groundkeeper verify",
                )
            sealer = Sealer(keys)
            rows = copy_rows(_raw(connection), target, sealer)
            head = tx.audit.head()
            return Copied(
                origin=head.origin,
                size=head.size,
                root=tx.audit.root(head.size).hex(),
                schema_revision=revision,
                key_file=keys.name,
                rows=rows,
                encrypted=sealer.sealed,
                left_out=tuple(sorted(LEFT_OUT)),
            )

    def _keys(self, connection: Connection) -> SubjectKeys:
        name = keys_name(connection)
        if name is None:
            raise Unavailable(
                DEPENDENCY, "the database has no keys of users yet; start the service once"
            )
        return open_subject_keys(self._key_dir, name)


def _session(connection: Connection, keys: SubjectKeys) -> Session:
    return Session(connection, SYSTEM, SystemClock(), RandomIdentifiers(), keys=keys)


def _require_current(connection: Connection) -> str:
    revision, needed = current_revision(connection), head_revision()
    if revision is None or revision != needed:
        raise Unavailable(
            DEPENDENCY,
            f"the database is of revision {revision} and this program copies {needed}: start the "
            "service once, or use the version that wrote it",
        )
    return revision


def _raw(connection: Connection) -> Raw:
    return connection.connection.driver_connection
