"""How a report becomes a file; who reads the log does not know what it will look like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from service.usecases.report_model import LogReport


@dataclass(frozen=True, slots=True)
class Rendering:
    """One form of a report.

    ``policy`` is the content security policy to answer with, where the form needs one of its own.
    """

    media_type: str
    render: Callable[[LogReport], bytes]
    policy: str | None = None
