"""``/`` and ``/docs``: pages that load nothing from elsewhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

router = APIRouter(include_in_schema=False)
_STATIC = Path(__file__).parent.parent / "static"


@router.get("/")
async def dashboard() -> FileResponse:
    """Return the dashboard."""
    return FileResponse(_STATIC / "index.html")


@router.get("/docs")
async def docs() -> FileResponse:
    """Return Swagger UI."""
    return FileResponse(_STATIC / "docs.html")


def mount(app: FastAPI) -> None:
    """Serve the pages' scripts and styles, and the Swagger UI that ``fastapi-offline`` ships."""
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.mount("/swagger", StaticFiles(directory=_swagger_ui()), name="swagger")


def _swagger_ui() -> Path:
    found = importlib.util.find_spec("fastapi_offline")
    places = found.submodule_search_locations if found is not None else None
    return Path(places[0]) / "static" if places else _STATIC
