"""A fast way to read an ordinary entry: one regular expression instead of JSON, then its checks.

It accepts only what ``parse_strict`` and ``check_fields`` accept, with the same result: entries in
canonical form whose texts need no escapes and whose integers are short. Everything else, right or
wrong, is left to them. A property test holds the two ways together. Verifying reads every entry,
and this takes a third of the time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, TypeVar

from service.audit.canonical import MAX_BYTES, JsonValue
from service.audit.schema import COMMITMENTS, KINDS, Fields, is_timestamp

T = TypeVar("T")
_WORD: Final = r"[\x21\x23-\x5b\x5d-\x7e]{1,128}"  # printable, without quote and backslash
_HASH: Final = "[0-9a-f]{64}"
_NAME: Final = "[a-z][a-z0-9_.]{0,63}"
_INTEGER: Final = "(?:0|-?[1-9][0-9]{0,14})"
_TIME: Final = "[0-9TZ:.-]{27}"


def _some(item: str) -> str:
    """Return the pattern of any number of items with commas between them."""
    return f"(?:{item}(?:,{item})*)?"


def _maybe(item: str) -> str:
    return f'(?:null|"{item}")'


_NAMED: Final = {
    "T": _maybe(_WORD),
    "H": _maybe(_HASH),
    "COMMIT": _some(f'"(?:{"|".join(sorted(COMMITMENTS))})":"{_HASH}"'),
    "SCORES": _some(f'"{_NAME}":{_INTEGER}'),
    "MEMORY": _some(f'"{_WORD}"'),
    "MODELS": _some(f'"{_NAME}":"sha256:{_HASH}"'),
}
_DECISION: Final = (
    r'\{"id":(?P<id>%(T)s),"reason_code":(?P<reason>%(T)s),'
    r'"scores_e6":\{(?P<scores>%(SCORES)s)\},"verdict":(?P<verdict>%(T)s)\}'
)
_ENTRY: Final = re.compile(
    (
        rf'\{{"actor":"(?P<actor>{_WORD})","commit":\{{(?P<commit>%(COMMIT)s)\}},'
        rf'"decision":(?:null|{_DECISION}),"kind":"(?P<kind>{_NAME})","log":"(?P<log>{_WORD})",'
        r'"memory":\[(?P<memory>%(MEMORY)s)\],"models":\{(?P<models>%(MODELS)s)\},'
        rf'"policy":(?P<policy>%(T)s),"prev":"(?P<prev>{_HASH})",'
        r'"seq":(?P<seq>0|[1-9][0-9]{0,14}),'
        r'"state":\{"after":(?P<after>%(H)s),"before":(?P<before>%(H)s)\},'
        rf'"subject":(?P<subject>%(T)s),"ts":"(?P<ts>{_TIME})","v":1\}}'
    )
    % _NAMED
).fullmatch


def is_ordinary(data: bytes, kind: str, ts: str) -> bool:
    """Tell whether an entry just encoded is one that ``quick_fields`` would read back.

    The encoder sorts keys and a dictionary has each once, so that their order needs no look.
    """
    ordinary = len(data) <= MAX_BYTES and data.isascii() and _ENTRY(data.decode("ascii"))
    return bool(ordinary) and kind in KINDS and is_timestamp(ts)


def quick_fields(data: bytes) -> Fields | None:
    """Return the fields of an ordinary entry, or ``None`` for one to be read the strict way."""
    if len(data) > MAX_BYTES or not data.isascii():
        return None
    found = _ENTRY(data.decode("ascii"))
    if found is None:
        return None
    part = found.groupdict()
    commit, models = _strings(part["commit"]), _models(part["models"])
    scores = _numbers(part["scores"] or "")
    known = part["kind"] in KINDS and is_timestamp(part["ts"])
    if not known or commit is None or models is None or scores is None:
        return None
    decision: dict[str, JsonValue] | None = None
    if part["id"] is not None:
        decision = {
            "id": _text(part["id"]),
            "reason_code": _text(part["reason"]),
            "scores_e6": {**scores},
            "verdict": _text(part["verdict"]),
        }
    return {
        "v": 1,
        "log": part["log"],
        "seq": int(part["seq"]),
        "ts": part["ts"],
        "kind": part["kind"],
        "actor": part["actor"],
        "subject": _text(part["subject"]),
        "decision": decision,
        "memory": part["memory"][1:-1].split('","') if part["memory"] else [],
        "state": {"before": _text(part["before"]), "after": _text(part["after"])},
        "policy": _text(part["policy"]),
        "models": dict(models),
        "commit": commit,
        "prev": part["prev"],
    }


def _text(quoted: str) -> str | None:
    return None if quoted == "null" else quoted[1:-1]


def _strings(members: str) -> dict[str, str] | None:
    """Return the members of an object of strings, unless a key is out of order or comes twice."""
    if not members:
        return {}
    pairs = [member.split('":"') for member in members[1:-1].split('","')]
    return _ordered(dict(pairs), len(pairs))


@lru_cache(maxsize=256)
def _models(members: str) -> Mapping[str, str] | None:
    found = _strings(members)
    return None if found is None else MappingProxyType(found)


def _numbers(members: str) -> dict[str, int] | None:
    """Return the members of an object of integers; as ``_strings``."""
    if not members:
        return {}
    pairs = [member.split('":') for member in members[1:].split(',"')]
    return _ordered({name: int(number) for name, number in pairs}, len(pairs))


def _ordered(found: dict[str, T], count: int) -> dict[str, T] | None:
    return found if len(found) == count and list(found) == sorted(found) else None
