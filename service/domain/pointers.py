"""Evidence pointers: where something can be looked up."""

from __future__ import annotations

import re
from datetime import date

from service.domain.errors import InvalidInput

_LIMIT = 500
_FILE = re.compile(
    r"repo://(?!(?:[^#]*/)?\.\.(?:/|#))[\w.@+-]+(?:/[\w.@+-]+)*#L(?P<first>[1-9]\d{0,6})"
    r"(?:-L(?P<last>[1-9]\d{0,6}))?"
)
_URL = re.compile(r"https?://(?![^/]*@)[\w.-]+(?::\d{1,5})?(?:/[^\s<>\"]*)?", re.IGNORECASE)
_ISSUE = re.compile(r"[\w.-]+/[\w.-]+#[1-9]\d{0,9}|[A-Z][A-Z0-9]{1,9}-[1-9]\d{0,9}")
_SAID = re.compile(r"(?:user|assistant|system|tool|other) said (?P<day>\d{4}-\d{2}-\d{2})")

FORMS = (
    "a file range (repo://path#L40-L82), a URL, an issue id (owner/repo#12 or ABC-123), "
    "or `user said 2026-11-29`"
)
"""What a pointer may be, for messages."""


def check_pointer(pointer: str, field: str = "evidence") -> str:
    """Return a well-formed evidence pointer; raises ``InvalidInput`` for anything else."""
    if len(pointer) <= _LIMIT and (
        _file(pointer) or _said(pointer) or _URL.fullmatch(pointer) or _ISSUE.fullmatch(pointer)
    ):
        return pointer
    raise InvalidInput(field, f"must be {FORMS}, of at most {_LIMIT} characters")


def said(role: str, day: date) -> str:
    """Return the pointer to something that was said."""
    return f"{role} said {day.isoformat()}"


def _file(pointer: str) -> bool:
    found = _FILE.fullmatch(pointer)
    if found is None:
        return False
    return found["last"] is None or int(found["first"]) <= int(found["last"])


def _said(pointer: str) -> bool:
    found = _SAID.fullmatch(pointer)
    if found is None:
        return False
    try:
        date.fromisoformat(found["day"])
    except ValueError:
        return False
    return True
