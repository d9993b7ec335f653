"""The composition root: from settings to a running service.

The only module that imports adapters. Importing it connects to nothing, reads no environment and
starts no thread; ``build`` opens the database, ``Container.start`` begins loading the models.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio.to_thread
from fastapi import FastAPI

from service.adapters.db.database import open_database
from service.adapters.deferred import (
    DeferredEmbedder,
    DeferredEntailment,
    DeferredLanguage,
    Loader,
    Slot,
)
from service.adapters.inspection import database_state, reading, versions
from service.adapters.onnx.loading import (
    ModelSettings,
    entry_for,
    load_embedder,
    load_entailment,
    load_models,
)
from service.adapters.proposer.chat import ChatProposer, ChatSettings
from service.adapters.signing.ed25519 import open_signer
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
from service.settings import Settings
from service.usecases.authenticate import Keyring
from service.usecases.gate import Gate
from service.usecases.read_audit import verify_log
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

    services: Services
    gate: Gate
    loader: Loader
    index: IndexRuntime
    resources: ExitStack

    def start(self) -> None:
        """Begin loading the models, and following SQL with the index, in the background."""
        self.loader.start()
        self.index.start()

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


def _index_settings(settings: Settings) -> IndexSettings:
    return IndexSettings(
        settings.data_dir / "index",
        on_model_change=OnModelChange(settings.vectors.on_model_change),
        large=settings.vectors.large,
    )


def build(settings: Settings, parts: Parts | None = None) -> Container:
    """Open the database and put the use cases together.

    Raises:
        Unavailable: the data directory cannot be used, for example by a second process.
        InvalidInput: the database URL is none.
    """
    clock, identifiers = SystemClock(), RandomIdentifiers()
    with ExitStack() as resources:
        database = open_database(
            database_location(settings),
            clock=clock,
            identifiers=identifiers,
            origin=settings.origin,
            readers=_READERS,
        )
        resources.callback(database.close)
        chosen = parts or packaged_parts(settings)
        nli = Slot("nli", chosen.nli)
        embedder = Slot("embedder", chosen.embedder)
        language = Slot("language", chosen.language)
        slots = (language, embedder, nli)
        for slot in slots:
            resources.callback(slot.close)
        models = Models(
            DeferredEntailment(nli),
            DeferredEmbedder(embedder),
            DeferredLanguage(language, chosen.languages),
            _proposer(settings, resources),
        )
        gate = Gate(nli=models.nli, embedder=models.embedder, language=models.language)
        index = IndexRuntime(database, models.embedder, _index_settings(settings))
        resources.callback(index.close)
        base = Base(database, clock, identifiers)
        readiness = Readiness(
            database=database, probes=[s.state for s in slots], others=[index.probe]
        )
        finding = Finding(index, models.embedder, models.nli, open_signer(settings.key_dir))
        recall = recall_services(database, clock, identifiers, finding)
        services = assemble(base, models, gate, readiness, recall, origin=settings.origin)
        return Container(services, gate, Loader(slots), index, resources.pop_all())


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
    with reading(location) as tx:
        return verify_log(tx, origin)


def examine(settings: Settings) -> list[ProbeState]:
    """Return versions and the state of the database."""
    return [*versions(), database_state(database_location(settings))]


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
