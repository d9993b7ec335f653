"""Erasure put together: what it forgets, where it searches, and a thread for what is left over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import structlog

from service.adapters.backup.ledger import ErasureLedger
from service.adapters.db.database import SqlDatabase
from service.adapters.residue.search import FileResidue, Folders
from service.adapters.system import RandomIdentifiers, SystemClock
from service.adapters.vectors.runtime import IndexRuntime
from service.domain.errors import GroundkeeperError, Unavailable
from service.domain.recall.stem import stem
from service.ports.subject_keys import SubjectKeys, SubjectRef
from service.usecases.erasure.finish import Finisher, Steps
from service.usecases.erasure.services import ErasureServices, erasure_services
from service.usecases.readiness import ProbeState

_AGAIN_SECONDS: Final = 15.0
_RARELY_SECONDS: Final = 1_800.0
_ALWAYS: Final = (
    "Backups and exports made before, wherever they are. Everything personal in a backup is "
    "encrypted, and unreadable once everything of its user was erased: then the key is destroyed. "
    "Restoring one erases again what was erased since.",
    "Checkpoints that were published: they hold hashes of the log, no text.",
    "Log lines that were shipped elsewhere: they hold ids and codes, no text.",
    "Answers that clients received, and whatever they did with them.",
    "Memory of this process, swap, and temporary files of the operating system.",
    "Blocks that the file system or the disk has freed or copied (snapshots, wear levelling).",
)
_PROPOSER: Final = "The language model at {url}, which messages were sent to."

_log = structlog.get_logger("groundkeeper.erasure")


@dataclass(frozen=True, slots=True)
class Around:
    """What erasure touches beside the database.

    Attributes:
        clear: forgets every text that a model remembers.
        corpora: drops a user's memories that recall keeps.
        proposer: the endpoint that messages are sent to, if there is one.
        ready: waits until the models were loaded, which the index needs.
    """

    index: IndexRuntime
    folders: Folders
    clear: tuple[Callable[[], None], ...]
    corpora: Callable[[str, str], None]
    proposer: str | None
    ready: Callable[[], None]


class ErasureRuntime:
    """Finishes in the background what could not be finished at once; ``start`` begins."""

    def __init__(
        self, finisher: Finisher, later: threading.Event, ready: Callable[[], None]
    ) -> None:
        self._finisher = finisher
        self._wake = later
        self._ready = ready
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="erasure", daemon=True)

    def start(self) -> None:
        """Begin with what an earlier run left, and return at once."""
        self._thread.start()

    def close(self) -> None:
        """Stop the thread."""
        self._closing.set()
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        self._ready()
        pause = _AGAIN_SECONDS
        while not self._closing.is_set():
            self._wake.clear()
            left = self._resume()
            pause = min(2 * pause, _RARELY_SECONDS) if left else _AGAIN_SECONDS
            self._wake.wait(pause if left else None)

    def _resume(self) -> int:
        try:
            left = self._finisher.resume()
        except GroundkeeperError as error:
            _log.warning("erasures wait", reason=str(error))
            return 1
        if left:
            _log.warning("erasures are not complete", count=left)
        return left


def erasing(database: SqlDatabase, around: Around) -> tuple[ErasureServices, ErasureRuntime]:
    """Return the use cases, and the thread behind them."""
    later = threading.Event()
    steps = Steps(
        upkeep=database.upkeep,
        keys=_keys_of(database),
        residue=FileResidue(around.folders),
        forget=(*_forgetting(around),),
        purge=around.index.purge,
        renew=around.index.reindex,
        remember=ErasureLedger(around.folders.keys, around.folders.database),
        later=later.set,
    )
    told = (*_ALWAYS, *_proposer(around.proposer))
    services = erasure_services(database, SystemClock(), RandomIdentifiers(), steps, told)
    return services, ErasureRuntime(services.finisher, later, around.ready)


def keys_probe(database: SqlDatabase) -> ProbeState:
    """Return whether the keys of users can be used."""
    fault = _keys_of(database).fault()
    return ProbeState("user keys", ok=not fault, detail=fault or "in place")


def _keys_of(database: SqlDatabase) -> SubjectKeys:
    if database.keys is None:
        raise Unavailable("user keys", "the database was opened without them")
    return database.keys


def _forgetting(around: Around) -> Iterable[Callable[[SubjectRef], None]]:
    yield lambda who: around.corpora(who.tenant, who.subject_id)
    yield lambda who: around.index.forget(who.tenant, who.subject_id)
    everything = (*around.clear, stem.cache_clear)

    def clear(_who: SubjectRef) -> None:
        for forget in everything:
            forget()

    yield clear


def _proposer(url: str | None) -> tuple[str, ...]:
    return () if url is None else (_PROPOSER.format(url=url),)
