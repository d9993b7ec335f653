"""Canonical JSON: the one byte string that stands for a value.

The form is that of RFC 8785 (JSON Canonicalization Scheme). Entries of the log use a subset of it
without floating-point numbers and with integers that every language reads alike (RFC 8785,
appendix D). On this subset (ASCII keys, integers) orjson and the standard library's encoder agree
with the ``rfc8785`` package and are several times faster, so they are used where entries are
written and read; a property test holds them together.
"""

from __future__ import annotations

import json
from typing import Final, NoReturn, TypeAlias

import orjson
import rfc8785

from service.audit.errors import VerificationError

Scalar: TypeAlias = bool | int | float | str | None
JsonValue: TypeAlias = "Scalar | list[JsonValue] | tuple[JsonValue, ...] | dict[str, JsonValue]"

MAX_BYTES = 8 * 1024
MAX_INT = 2**53 - 1
MAX_DIGITS = len(str(-MAX_INT))


def canonicalise(value: JsonValue, *, floats: bool = False) -> bytes:
    """Return the RFC 8785 bytes of a value; ``floats`` allows them (policies, not entries)."""
    try:
        if not floats:
            _refuse_floats(value)
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise VerificationError(f"not canonicalisable: {error}") from error


def encode_entry(value: JsonValue) -> bytes:
    """Return the bytes of an entry, unchecked: the caller has to parse them before they count.

    What is not of the allowed kind, the strict parser refuses.
    """
    try:
        return orjson.dumps(value, option=_PLAIN)
    except (ValueError, TypeError, RecursionError) as error:
        raise VerificationError(f"not canonicalisable: {error}") from error


def parse_strict(data: bytes) -> JsonValue:
    """Parse canonical bytes of an entry; anything that is not exactly canonical is refused.

    Encoding again and comparing also finds duplicate keys (one of them is lost) and keys outside
    ASCII (written as they are they are not ASCII bytes, and escaped they are not canonical).
    """
    if len(data) > MAX_BYTES:
        raise VerificationError(f"longer than {MAX_BYTES} bytes")
    try:
        text = data.decode("ascii")
        value: JsonValue = _DECODER.decode(text)
        again = _ENCODER.encode(value)
    except (ValueError, RecursionError) as error:
        raise VerificationError(f"not JSON of the allowed kind: {error}") from error
    if again != text:
        raise VerificationError("not in canonical form")
    return value


def _refuse_floats(value: JsonValue) -> None:
    if isinstance(value, float):
        raise VerificationError("a floating-point number")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_floats(item)


def _integer(digits: str) -> int:
    # A longer text is never turned into a number: that takes quadratic time.
    if len(digits) <= MAX_DIGITS and -MAX_INT <= (value := int(digits)) <= MAX_INT:
        return value
    raise VerificationError("an integer beyond ±(2^53-1)")


def _not_allowed(text: str) -> NoReturn:
    raise VerificationError(f"a number that is not an integer: {text[:32]}")


# No dataclass, time or subclass of a JSON type is turned into one quietly.
_PLAIN: Final = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_DECODER = json.JSONDecoder(
    parse_int=_integer, parse_float=_not_allowed, parse_constant=_not_allowed
)
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
