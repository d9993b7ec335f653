"""The composition root: from settings to a running service.

The only module that imports adapters. Importing it connects to nothing, reads no environment and
starts no thread; ``build`` opens the database, ``Container.start`` begins loading the models.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio.to_thread
from fastapi import FastAPI

from service.adapters import verifying
from service.adapters.checkpoints.runtime import Cadence, CheckpointRuntime
from service.adapters.checkpoints.wiring import (
    CheckpointParts,
    adopt_log,
    checkpoint_parts,
    checkpoint_state,
    rotate_key,
)
from service.adapters.db.database import database_path, open_database
from service.adapters.deferred import (
    AnySlot,
    DeferredEmbedder,
    DeferredEntailment,
    DeferredLanguage,
    Loader,
    Slot,
)
from service.adapters.erasing import Around, ErasureRuntime, erasing, keys_probe
from service.adapters.exporting.wiring import Place
from service.adapters.inspection import database_state, versions
from service.adapters.onnx.loading import (
    ModelSettings,
    entry_for,
    load_embedder,
    load_entailment,
    load_models,
)
from service.adapters.proposer.chat import ChatProposer, ChatSettings
from service.adapters.reporting.renderings import RENDERINGS
from service.adapters.residue.search import Folders
from service.adapters.retaining import RetentionRuntime, retaining
from service.adapters.signing.ed25519 import open_signer
from service.adapters.subject_keys.store import open_subject_keys
from service.adapters.system import RandomIdentifiers, SystemClock
from service.adapters.telemetry.logging import configure_logging
from service.adapters.telemetry.metrics import PrometheusMetrics
from service.adapters.vectors.runtime import IndexRuntime, IndexSettings
from service.audit.verify import Report
from service.http.app import http_app
from service.http.assembly import Base, Models, assemble
from service.http.services import HttpLimits, HttpOptions, Services
from service.ports.language import LanguageAnalyser
from service.ports.models import Embedder, EntailmentModel
from service.ports.storage import Database
from service.settings import Settings
from service.usecases.authenticate import Keyring
from service.usecases.checkpoint_changes import Adopted, Rotated
from service.usecases.gate import Gate
from service.usecases.readiness import ProbeState, Readiness
from service.usecases.recall_services import Finding, recall_services
from service.usecases.reconcile import OnModelChange

DATABASE_NAME = "groundkeeper.db"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_READERS = 8


@dataclass(frozen=True, slots=True)
class Parts:
    """How to load what is slow to load; tests bring their own."""

    nli: Callable[[], EntailmentModel]
    embedder: Callable[[], Embedder]
    language: Callable[[], LanguageAnalyser]
    languages: frozenset[str] = frozenset({"en"})


@dataclass(frozen=True, slots=True)
class Container:
    """Everything that runs, and how to stop it."""

    database: Database
    services: Services
    gate: Gate
    loader: Loader
    index: IndexRuntime
    checkpoints: CheckpointRuntime
    erasures: ErasureRuntime
    retention: RetentionRuntime
    resources: ExitStack

    def start(self) -> None:
        """Begin to load the models, follow SQL, sign, and finish erasures, in the background."""
        self.loader.start()
        self.index.start()
        self.checkpoints.start()
        self.erasures.start()
        self.retention.start()

    def close(self) -> None:
        """Let go of everything; what is being worked on is finished first."""
        self.loader.wait()
        self.resources.close()


def _proposer(settings: Settings, resources: ExitStack) -> ChatProposer | None:
    """Return the optional proposer, when an endpoint is configured."""
    given = settings.extractor
    if given.url is None:
        return None
    key = given.key.get_secret_value() if given.key else None
    proposer = ChatProposer(ChatSettings(given.url, given.model, key, given.timeout))
    resources.callback(proposer.close)
    return proposer


def _models(
    settings: Settings, parts: Parts, resources: ExitStack
) -> tuple[Models, tuple[AnySlot, ...]]:
    nli = Slot("nli", parts.nli)
    embedder = Slot("embedder", parts.embedder)
    language = Slot("language", parts.language)
    slots = (language, embedder, nli)
    for slot in slots:
        resources.callback(slot.close)
    models = Models(
        DeferredEntailment(nli),
        DeferredEmbedder(embedder),
        DeferredLanguage(language, parts.languages),
        _proposer(settings, resources),
    )
    return models, slots


def _index_settings(settings: Settings) -> IndexSettings:
    return IndexSettings(
        settings.data_dir / "index",
        on_model_change=OnModelChange(settings.vectors.on_model_change),
        large=settings.vectors.large,
    )


def _around(
    settings: Settings,
    index: IndexRuntime,
    clear: tuple[Callable[[], None], ...],
    corpora: Callable[[str, str], None],
    ready: Callable[[], None],
) -> Around:
    database = database_path(database_location(settings))
    kept = _index_settings(settings).directory
    folders = Folders(database, settings.data_dir, kept, settings.key_dir, (settings.models_dir,))
    return Around(index, folders, clear, corpora, settings.extractor.url, ready)


def build(settings: Settings, parts: Parts | None = None) -> Container:
    """Open the database and put the use cases together.

    Raises:
        Unavailable: the data directory cannot be used, for example by a second process.
        InvalidInput: the database URL is none.
    """
    clock, identifiers = SystemClock(), RandomIdentifiers()
    signing = _checkpoint_parts(settings)
    with ExitStack() as resources:
        database = open_database(
            database_location(settings),
            clock=clock,
            identifiers=identifiers,
            origin=settings.origin,
            readers=_READERS,
            before_new_log=signing.new_log,
            checkpoint=signing.board.note,
            open_keys=partial(open_subject_keys, settings.key_dir),
        )
        resources.callback(database.close)
        checkpoints, signer = signing.runtime(database, clock, _cadence(settings))
        resources.callback(signer.close)
        chosen = parts or packaged_parts(settings)
        models, slots = _models(settings, chosen, resources)
        gate = Gate(nli=models.nli, embedder=models.embedder, language=models.language)
        index = IndexRuntime(database, models.embedder, _index_settings(settings))
        resources.callback(index.close)
        base = Base(database, clock, identifiers)
        readiness = Readiness(
            database=database,
            probes=[s.state for s in slots],
            others=[index.probe, signer.probe, partial(keys_probe, database)],
        )
        finding = Finding(index, models.embedder, models.nli, open_signer(settings.key_dir))
        recall = recall_services(database, clock, identifiers, finding)
        clear = tuple(slot.clear for slot in slots)
        loader = Loader(slots)
        around = _around(settings, index, clear, recall.corpora.forget, loader.wait)
        erasure, finishing = erasing(database, around)
        resources.callback(finishing.close)
        services = assemble(
            base,
            models,
            gate,
            readiness,
            recall,
            erasure=erasure,
            checkpoints=checkpoints,
            renderings=RENDERINGS,
            origin=settings.origin,
        )
        kept = settings.retention
        retention = retaining(
            database, erasure.finisher, kept.days if kept.daily else 0, loader.wait
        )
        resources.callback(retention.close)
        running = (index, signer, finishing, retention)
        return Container(database, services, gate, loader, *running, resources.pop_all())


def create_app(
    settings: Settings, build_container: Callable[[], Container] | None = None
) -> FastAPI:
    """Return the application; it builds its container when it starts, and closes it at the end."""
    make = build_container or (lambda: build(settings))

    @asynccontextmanager
    async def services() -> AsyncIterator[Services]:
        container = await anyio.to_thread.run_sync(make)
        try:
            container.start()
            yield container.services
        finally:
            await anyio.to_thread.run_sync(container.close)

    return http_app(services, http_options(settings))


def http_options(settings: Settings) -> HttpOptions:
    """Return what the HTTP layer needs to know before it starts."""
    return HttpOptions(
        metrics=PrometheusMetrics(),
        keyring=Keyring(settings.api_keys),
        limits=HttpLimits(**settings.limits.model_dump()),
        allowed_hosts=_hosts(settings),
        threads=settings.pool.threads,
        queue=settings.pool.queue,
    )


def database_location(settings: Settings) -> str | Path:
    """Return where the database is."""
    return settings.database_url or settings.data_dir / DATABASE_NAME


def packaged_parts(settings: Settings) -> Parts:
    """Return how to load the models that the settings name."""
    how = _model_settings(settings)
    return Parts(
        nli=lambda: load_entailment(entry_for("nli", how.nli_folder), how),
        embedder=lambda: load_embedder(entry_for("embedder", how.embedder_folder), how),
        language=_language,
    )


@contextmanager
def open_gate(settings: Settings) -> Iterator[Gate]:
    """Load the models now, for one command; raises ``Unavailable`` naming what is missing."""
    models = load_models(_model_settings(settings))
    with closing(models):
        yield Gate(nli=models.nli, embedder=models.embedder, language=_language())


def start_logging(settings: Settings) -> None:
    """Send log lines where they belong."""
    configure_logging(settings.log_level)


def verify_database(location: str | Path, origin: str | None) -> Report:
    """Verify the log of a database, which may be in use; raises ``Unavailable``."""
    return verifying.verify_database(location, verifying.Known(origin))


def verify_installation(settings: Settings, known: verifying.Known) -> Report:
    """Verify the configured database with its own keys, besides what else is known."""
    current, retired = log_keys(settings)
    own = (*((current,) if current else ()), *retired)
    with_own = replace(
        known,
        origin=known.origin or settings.origin,
        keys=known.keys or own,
        stored=latest_checkpoint(settings) or "",
        text_keys=known.text_keys or settings.key_dir,
    )
    return verifying.verify_database(database_location(settings), with_own)


def examine(settings: Settings) -> list[ProbeState]:
    """Return versions, and the state of the database and its checkpoints."""
    location = database_location(settings)
    signing = checkpoint_state(location, _checkpoint_parts(settings))
    return [*versions(), database_state(location), signing]


def adopt_checkpoint(settings: Settings, reason: str, kind: str = "checkpoint.adopted") -> Adopted:
    """Vouch for the log as it is now, and put the old checkpoints aside; the service is stopped.

    ``reason`` is kept with what was put aside; ``kind`` is that of the entry that records it.
    """
    return adopt_log(database_location(settings), _checkpoint_parts(settings), reason, kind)


def rotate_log_key(settings: Settings) -> Rotated:
    """Let a new key sign checkpoints from now on; the service is stopped."""
    return rotate_key(database_location(settings), _checkpoint_parts(settings))


def log_keys(settings: Settings) -> tuple[str | None, tuple[str, ...]]:
    """Return the public keys as text: the one that signs now, and those that signed before."""
    keys = _checkpoint_parts(settings).keys
    return keys.published(), keys.retired()


def latest_checkpoint(settings: Settings) -> str | None:
    """Return the last signed note."""
    stored = _checkpoint_parts(settings).store.read()
    return None if stored is None else stored.note


def installation(settings: Settings) -> Place:
    """Return where an operator's commands find everything; see ``exporting.wiring``."""
    return Place(
        location=database_location(settings),
        key_dir=settings.key_dir,
        checkpoint_file=settings.checkpoints_dir / "checkpoints.txt",
        parts=_checkpoint_parts(settings),
    )


def _checkpoint_parts(settings: Settings) -> CheckpointParts:
    return checkpoint_parts(settings.checkpoints_dir, settings.key_dir)


def _cadence(settings: Settings) -> Cadence:
    return Cadence(settings.checkpoint.entries, settings.checkpoint.seconds)


def _language() -> LanguageAnalyser:
    from service.adapters.language.analyser import (  # noqa: PLC0415 - spaCy takes seconds to import
        EnglishAnalyser,
    )

    return EnglishAnalyser()


def _model_settings(settings: Settings) -> ModelSettings:
    chosen = settings.models
    return ModelSettings(
        models_dir=settings.models_dir,
        threads=chosen.threads,
        workers=chosen.workers,
        queue_size=chosen.queue,
        cache_size=chosen.cache,
        nli_folder=chosen.nli,
        embedder_folder=chosen.embedder,
    )


def _hosts(settings: Settings) -> frozenset[str] | None:
    named = frozenset(settings.allowed_hosts)
    if settings.api_keys and not named:
        return None
    return named | LOOPBACK_NAMES
