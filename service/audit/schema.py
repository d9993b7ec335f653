"""What the fields of an entry may hold. The set of kinds is closed; nothing is ever ignored."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final, TypedDict, cast

from service.audit.canonical import JsonValue
from service.audit.errors import VerificationError

VERSION: Final = 1

KINDS: Final = frozenset(
    {
        "log.opened",
        "log.sealed",
        "check.decided",
        "adjudication.decided",
        "evaluation.recorded",
        "turn.recorded",
        "memory.created",
        "memory.confirmed",
        "memory.superseded",
        "memory.retracted",
        "memory.deleted",
        "memory.restored",
        "conflict.marked",
        "conflict.resolved",
        "review.opened",
        "review.approved",
        "review.rejected",
        "attribute.declared",
        "lesson.recorded",
        "policy.added",
        "policy.changed",
        "erasure.done",
        "key.rotated",
        "checkpoint.adopted",
        "index.rebuilt",
        "backup.made",
        "backup.restored",
    }
)

COMMITMENTS: Final = frozenset({"fact", "source", "evidence", "result"})


class State(TypedDict):
    """Hashes of what the entry changed, before and after."""

    before: str | None
    after: str | None


class Fields(TypedDict):
    """The keys of an entry."""

    v: int
    log: str
    seq: int
    ts: str
    kind: str
    actor: str
    subject: str | None
    decision: dict[str, JsonValue] | None
    memory: list[str]
    state: State
    policy: str | None
    models: dict[str, str]
    commit: dict[str, str]
    prev: str


_TOKEN = re.compile(r"[\x21-\x7e]{1,128}").fullmatch
_NAME = re.compile(r"[a-z][a-z0-9_.]{0,63}").fullmatch
_HASH = re.compile(r"[0-9a-f]{64}").fullmatch
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}").fullmatch
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z"
).fullmatch

Check = Callable[[JsonValue], bool]


def _token(value: JsonValue) -> bool:
    return isinstance(value, str) and _TOKEN(value) is not None


def _hash(value: JsonValue) -> bool:
    return isinstance(value, str) and _HASH(value) is not None


def _digest(value: JsonValue) -> bool:
    return isinstance(value, str) and _DIGEST(value) is not None


def _name(value: JsonValue) -> bool:
    return isinstance(value, str) and _NAME(value) is not None


def _integer(value: JsonValue) -> bool:
    return type(value) is int


def _sequence(value: JsonValue) -> bool:
    return type(value) is int and value >= 0


def is_timestamp(value: JsonValue) -> bool:
    """Tell whether a value is a time in the fixed-width UTC form."""
    if not isinstance(value, str) or _TIMESTAMP(value) is None:
        return False
    try:
        datetime.fromisoformat(value[:-1])
    except ValueError:
        return False
    return True


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _map(key: Check, item: Check) -> Check:
    return lambda value: (
        isinstance(value, dict) and all(map(key, value)) and all(map(item, value.values()))
    )


def _record(**checks: Check) -> Check:
    keys, pairs = checks.keys(), tuple(checks.items())
    return lambda value: (
        isinstance(value, dict)
        and value.keys() == keys
        and all(check(value[key]) for key, check in pairs)
    )


def _tokens(value: JsonValue) -> bool:
    return isinstance(value, list) and all(map(_token, value))


_CHECKS: Final[dict[str, Check]] = {
    "v": lambda value: type(value) is int and value == VERSION,
    "log": _token,
    "seq": _sequence,
    "ts": is_timestamp,
    "kind": lambda value: isinstance(value, str) and value in KINDS,
    "actor": _token,
    "subject": _optional(_token),
    "decision": _optional(
        _record(
            id=_optional(_token),
            verdict=_optional(_token),
            reason_code=_optional(_token),
            scores_e6=_map(_name, _integer),
        )
    ),
    "memory": _tokens,
    "state": _record(before=_optional(_hash), after=_optional(_hash)),
    "policy": _optional(_token),
    "models": _map(_name, _digest),
    "commit": _map(lambda key: key in COMMITMENTS, _hash),
    "prev": _hash,
}


def check_fields(value: JsonValue) -> Fields:
    """Return a parsed value as the fields of an entry, or say which of them is wrong."""
    if not isinstance(value, dict):
        raise VerificationError("not an object")
    if value.keys() != _CHECKS.keys():
        different = sorted(value.keys() ^ _CHECKS.keys())
        raise VerificationError(f"missing or unknown keys: {', '.join(different)[:200]}")
    for name, check in _CHECKS.items():
        if not check(value[name]):
            raise VerificationError(f"{name}: not of the documented form")
    return cast("Fields", value)
