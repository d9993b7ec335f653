"""Shared by all tests: the real models, loaded once, and real servers on free ports."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import structlog
import uvicorn

from service import bootstrap
from service.adapters.deferred import DeferredEmbedder, DeferredEntailment, DeferredLanguage, Slot
from service.adapters.telemetry.logging import safe_traceback
from service.bootstrap import Parts
from service.settings import Settings

# Without this, structlog would draw every traceback with its locals, which takes seconds.
structlog.configure(processors=[safe_traceback, structlog.processors.JSONRenderer()])


@dataclass(frozen=True)
class LiveServer:
    """A server that listens on a real socket."""

    url: str
    settings: Settings

    @property
    def database(self) -> Path:
        return self.settings.data_dir / bootstrap.DATABASE_NAME

    def wait(self) -> None:
        """Return once the models are loaded."""
        with self.client() as client:
            while client.get("/ready").status_code != 200:
                time.sleep(0.05)

    def client(self, **headers: str) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parts]:
    """The real models; servers share them and cannot close them."""
    folder = tmp_path_factory.mktemp("models")
    loading = bootstrap.packaged_parts(make_settings(folder))
    nli, embedder = Slot("nli", loading.nli), Slot("embedder", loading.embedder)
    language = Slot("language", loading.language)
    for slot in (nli, embedder, language):
        slot.fill()
        slot.get()
    yield Parts(
        nli=lambda: DeferredEntailment(nli),
        embedder=lambda: DeferredEmbedder(embedder),
        language=lambda: DeferredLanguage(language, loading.languages),
    )
    nli.close()
    embedder.close()


def make_settings(folder: Path, **given: object) -> Settings:
    """Settings that read neither the environment's ``.env`` nor this repository's folders."""
    places = {"data_dir": folder / "data", "key_dir": folder / "keys"}
    return Settings(_env_file=None, **{**places, **given})


@contextlib.contextmanager
def running(settings: Settings, parts: Parts | None) -> Iterator[LiveServer]:
    app = bootstrap.create_app(settings, lambda: bootstrap.build(settings, parts))
    config = uvicorn.Config(
        app, lifespan="on", ws="none", log_config=None, access_log=False, server_header=False
    )
    server = uvicorn.Server(config)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    assert server.started, "the server did not start"
    try:
        yield LiveServer(f"http://127.0.0.1:{listening.getsockname()[1]}", settings)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


StartServer = Callable[..., LiveServer]


@pytest.fixture
def start_server(tmp_path: Path, parts: Parts) -> Iterator[StartServer]:
    """Start servers with settings of their own; they stop with the test."""
    with contextlib.ExitStack() as stack:

        def start(*, with_parts: Parts | None = parts, **given: object) -> LiveServer:
            return stack.enter_context(running(make_settings(tmp_path, **given), with_parts))

        yield start


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, parts: Parts) -> Iterator[LiveServer]:
    """One server without keys for all tests that only ask."""
    with running(make_settings(tmp_path_factory.mktemp("server")), parts) as live:
        live.wait()
        yield live


@pytest.fixture
def client(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made
