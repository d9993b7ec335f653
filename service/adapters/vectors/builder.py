"""Building a generation beside the one that serves, and trying it before it may."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from service.adapters.vectors.canary import WEAK
from service.adapters.vectors.serving import Serving
from service.domain.errors import Unavailable
from service.ports.index import IndexKey
from service.ports.storage import Database


@dataclass(frozen=True, slots=True)
class Built:
    """An open generation that was tried; ``recall`` is that of its worst user.

    ``weak`` are users whose vectors the index does not find well enough: with any, the generation
    must not serve.
    """

    serving: Serving
    recall: float
    weak: frozenset[IndexKey]


def build(
    folder: Path,
    database: Database,
    digest: str,
    users: Iterable[IndexKey],
    stopping: Callable[[], bool] = lambda: False,
) -> Built:
    """Fill a folder from SQL, close it, open it again and compare it with SQL.

    Raises ``Unavailable`` when something fails; the folder is then closed, and for the caller to
    delete.
    """
    keys = tuple(users)
    filling = Serving(folder, digest)
    try:
        for key in keys:
            _unless(stopping)
            filling.follow(database, key)
    except Unavailable:
        filling.close(properly=False)
        raise
    filling.close(properly=True)
    serving = Serving.reopen(folder, digest, keys)
    try:
        return _tried(serving, database, keys)
    except Unavailable:
        serving.close(properly=False)
        raise


def _tried(serving: Serving, database: Database, keys: Iterable[IndexKey]) -> Built:
    findings = {key: serving.check(database, key) for key in keys}
    weak = frozenset(key for key, finding in findings.items() if finding.problem == WEAK)
    for finding in findings.values():
        if finding.problem not in ("", WEAK):
            raise Unavailable("index", finding.problem)
    return Built(serving, min((f.recall for f in findings.values()), default=1.0), weak)


def _unless(stopping: Callable[[], bool]) -> None:
    if stopping():
        raise Unavailable("index", "stopping")
