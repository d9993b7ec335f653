"""The database and its key file: bound to each other by the file's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection, insert, literal_column, select

from service.adapters.db.erasure_tables import keystore
from service.adapters.db.tables import subject
from service.domain.errors import Unavailable
from service.ports.subject_keys import KeyState, SubjectKeys, SubjectRef

OpenKeys = Callable[[str | None], SubjectKeys]
"""Opens the key file of that name; without a name, whichever is there or a new one."""

_NEWEST: Final = 1_000


def keys_name(connection: Connection) -> str | None:
    """Return the name of the key file that the database remembers, if it has one."""
    found = connection.execute(select(keystore.c.name)).scalar_one_or_none()
    return found if found is None else str(found)


def bind_keys(connection: Connection, open_keys: OpenKeys) -> SubjectKeys:
    """Return the database's keys; the first time, every user that it has gets one.

    Raises ``Unavailable`` if the file is missing, another one's, or older than the database.
    """
    expected = keys_name(connection)
    keys = open_keys(expected)
    users = select(subject.c.tenant, subject.c.id)
    if expected is None:
        for tenant, subject_id in connection.execute(users):
            keys.make(SubjectRef(tenant, subject_id))
        connection.execute(insert(keystore).values(id=1, name=keys.name))
        return keys
    newest = users.order_by(literal_column("rowid").desc()).limit(_NEWEST)
    known = [keys.state(SubjectRef(*row)) for row in connection.execute(newest)]
    lost = sum(state is KeyState.UNKNOWN for state in known)
    if lost:
        keys.close()
        raise Unavailable(
            "user keys",
            f"the key file is older than the database: {lost} of the newest users have no key in "
            "it. Put back the newest copy of the key directory; keys are never made anew",
        )
    return keys
