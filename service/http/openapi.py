"""The committed ``openapi.yaml``, made from the code."""

from __future__ import annotations

import yaml
from fastapi import FastAPI

_WIDTH = 100


def openapi_yaml(app: FastAPI) -> str:
    """Return the API's description as YAML with sorted keys, the same on every run."""
    return yaml.safe_dump(app.openapi(), sort_keys=True, allow_unicode=True, width=_WIDTH)
