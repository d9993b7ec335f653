"""RFC 8785 canonical JSON, quickly.

orjson agrees with RFC 8785 on most values; what it would write differently (keys outside ASCII,
floats that ECMAScript writes in another way, large integers) goes to the ``rfc8785`` package. A
property test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
import rfc8785

MAX_INT: Final = 2**53 - 1
_AS_IS: Final = frozenset({str, bool, type(None)})
_SMALL, _BIG = 1e-4, 1e16
"""Between these orjson and ECMAScript write a float that is no whole number alike."""


class _NotAlikeError(Exception):
    """The quick encoder would not write this value as RFC 8785 says."""


def canonical_json(value: Mapping[str, Any]) -> bytes:
    """Return the RFC 8785 bytes of a JSON object.

    Raises:
        ValueError: the value, or a part of it, cannot be JSON.
    """
    try:
        return orjson.dumps(_object(value), option=orjson.OPT_SORT_KEYS)
    except (_NotAlikeError, TypeError, RecursionError):  # also orjson's own error
        pass
    try:
        return rfc8785.dumps(dict(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise ValueError(f"not canonicalisable: {error}") from error


def _object(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object that the quick encoder writes as RFC 8785 says."""
    found = value if type(value) is dict else dict(value)
    if not "".join(found).isascii():
        raise _NotAlikeError
    changed: dict[str, Any] | None = None
    for key, item in found.items():
        if type(item) not in _AS_IS:
            alike = _alike(item)
            if alike is not item:
                changed = changed if changed is not None else dict(found)
                changed[key] = alike
    return found if changed is None else changed


def _alike(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value that the quick encoder writes as RFC 8785 says, the same one if it can be."""
    kind = type(value)
    if kind in _AS_IS or (kind is int and -MAX_INT <= value <= MAX_INT):
        return value
    if kind is float:
        return _number(value)
    if kind is list or kind is tuple:
        return value if _AS_IS.issuperset(map(type, value)) else [_alike(item) for item in value]
    if isinstance(value, Mapping):
        return _object(value)
    raise _NotAlikeError


def _number(value: float) -> float | int:
    if value.is_integer():
        if abs(value) <= MAX_INT:
            return int(value)
    elif _SMALL <= abs(value) < _BIG:
        return value
    raise _NotAlikeError
