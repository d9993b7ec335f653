"""A report as JSON: the figures that HTML and Markdown show, by name."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import orjson

from service.usecases.report_model import LogReport
from service.usecases.report_summary import summary

MEDIA_TYPE: Final = "application/json"


def render_json(report: LogReport) -> bytes:
    """Return the report as JSON; times are RFC 3339 in UTC."""
    body: dict[str, Any] = {
        "summary": list(summary(report)),
        "decisions": {**asdict(report.decisions), "total": report.decisions.total},
        **asdict(report),
    }
    return orjson.dumps(body, default=_replaced, option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2)


def _replaced(value: object) -> str:
    """Return text that is not Unicode with its damaged characters replaced."""
    return str(value).encode("utf-8", "replace").decode()
