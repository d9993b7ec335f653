"""Loads the service part by part and prints what the process holds after each, as JSON.

Started by ``footprint.py`` in a process of its own.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    """Print one line."""
    found: list[dict[str, Any]] = [{"part": "Python", "mb": resident_mb(), "seconds": 0.0}]
    kept: dict[str, Any] = {}
    with ExitStack() as stack:
        for name, load in steps(kept, stack):
            started = time.perf_counter()
            load()
            took = round(time.perf_counter() - started, 2)
            gc.collect()
            found.append({"part": name, "mb": resident_mb(), "seconds": took})
        kept.clear()
        print(json.dumps(found), flush=True)


def steps(kept: dict[str, Any], stack: ExitStack) -> list[tuple[str, Callable[[], Any]]]:
    """Return the parts in the order in which they are loaded."""
    return [
        ("numpy", lambda: import_module("numpy")),
        ("FastAPI, uvicorn, pydantic", lambda: imported("fastapi", "uvicorn", "pydantic_settings")),
        ("SQLAlchemy, Alembic", lambda: imported("sqlalchemy", "alembic.command")),
        ("ONNX Runtime and onnx, imported", lambda: imported("onnxruntime", "onnx")),
        ("Chroma, imported", lambda: imported("service.adapters.vectors.runtime", "chromadb")),
        ("the service's own modules", lambda: imported("service.bootstrap", "service.cli.app")),
        ("database and routes", lambda: opened(kept, stack)),
        ("spaCy and its model", lambda: filled(kept, "language")),
        ("entailment model", lambda: filled(kept, "nli")),
        ("embedding model", lambda: filled(kept, "embedder")),
        ("one check and one recall", lambda: used(kept)),
    ]


def imported(*names: str) -> None:
    for name in names:
        import_module(name)


def opened(kept: dict[str, Any], stack: ExitStack) -> None:
    bootstrap = import_module("service.bootstrap")
    settings = import_module("service.settings").load_settings()
    bootstrap.start_logging(settings)
    parts = bootstrap.packaged_parts(settings)
    for name in ("nli", "embedder", "language"):
        kept[name] = getattr(parts, name)
    container = bootstrap.build(settings, stand_ins(bootstrap, kept))
    stack.callback(container.close)
    kept["container"] = container
    kept["app"] = bootstrap.create_app(settings, lambda: container)
    kept["app"].openapi()


def stand_ins(bootstrap: Any, kept: dict[str, Any]) -> Any:
    """Let the container have what this process loads, once it is loaded."""
    return bootstrap.Parts(
        nli=lambda: kept["nli"],
        embedder=lambda: kept["embedder"],
        language=lambda: kept["language"],
    )


def filled(kept: dict[str, Any], name: str) -> None:
    kept[name] = kept[name]()


def used(kept: dict[str, Any]) -> None:
    container = kept["container"]
    container.loader.start()
    container.loader.wait()
    check = import_module("service.domain.check")
    policies = import_module("service.usecases.policies")
    recall = import_module("service.usecases.recall")
    scope = import_module("service.ports.storage").Scope("default", "local")
    source = check.CheckInput("I moved to Oslo in May.", "The user lives in Oslo.")
    container.gate.judge([(source, policies.BUILT_IN)])
    container.services.recall.run(scope, recall.RecallCommand("ana", "Where do I live?"))


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


if __name__ == "__main__":
    main()
