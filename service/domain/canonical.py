"""RFC 8785 canonical JSON, quickly.

The standard library's encoder is written in C and agrees with RFC 8785 on most values; what it
would write differently (keys outside ASCII, floats that ECMAScript writes in another way, large
integers) goes to the ``rfc8785`` package. A property test holds the two together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import rfc8785

MAX_INT: Final = 2**53 - 1
_ENCODER: Final = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_SMALL, _BIG = 1e-4, 1e16
"""Between these Python and ECMAScript write a float that is no whole number alike."""


class _NotAlikeError(Exception):
    """The standard library would not write this value as RFC 8785 says."""


def canonical_json(value: Mapping[str, Any]) -> bytes:
    """Return the RFC 8785 bytes of a JSON object.

    Raises:
        ValueError: the value, or a part of it, cannot be JSON.
    """
    try:
        return _ENCODER.encode(_alike(value)).encode()
    except (_NotAlikeError, UnicodeEncodeError, RecursionError):
        pass
    try:
        return rfc8785.dumps(dict(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise ValueError(f"not canonicalisable: {error}") from error


def _alike(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value that the standard library writes as RFC 8785 says."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind is int and -MAX_INT <= value <= MAX_INT:
        return value
    if kind is float:
        return _number(value)
    if kind is list or kind is tuple:
        return [_alike(item) for item in value]
    if isinstance(value, Mapping):
        if not all(type(key) is str and key.isascii() for key in value):
            raise _NotAlikeError
        return {key: _alike(item) for key, item in value.items()}
    raise _NotAlikeError


def _number(value: float) -> float | int:
    if value.is_integer():
        if abs(value) <= MAX_INT:
            return int(value)
    elif _SMALL <= abs(value) < _BIG:
        return value
    raise _NotAlikeError
