"""Rules as an immutable, fingerprinted object that every decision refers to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import rfc8785

from service.domain.errors import InvalidInput
from service.domain.verdicts import (
    CONTRADICTION_KINDS,
    REJECTABLE_GUARDS,
    GuardAction,
    ReasonCode,
)

_LEGACY_FIELDS = (
    "name",
    "version",
    "store_threshold",
    "reject_on",
    "overwrite_requires_faithful",
    "min_relatedness",
    "check_attribution",
)
_LEGACY_REJECT = {"contradicts": ReasonCode.CONTRADICTED.value}
_NAME_LIMIT = 64
_DECIMALS = 6

GUARDS: tuple[str, ...] = (
    "speech_act",
    "speaker",
    "values",
    "tense",
    "instruction",
    "secret",
    "toxicity",
    "language",
)
"""The guards that a policy can set to review, reject (where that is allowed) or off."""

_GUARD_CAN_REJECT = frozenset({"values", "tense", "instruction", "secret", "toxicity"})


def _default_guards() -> dict[str, str]:
    rejecting = ("values", "tense")
    return {g: ("reject" if g in rejecting else "review") for g in GUARDS}


@dataclass(frozen=True)
class Policy:
    """One version of the rules. Thresholds are 0–1, with at most six decimals.

    Defaults come from measurements in ``docs/evaluation.md``; ``min_relatedness`` is on the scale
    (cosine + 1) / 2, as in the seed.
    """

    name: str = "default"
    version: str = "1"
    store_threshold: float = 0.4
    contradiction_threshold: float = 0.5
    reject_on: tuple[str, ...] = tuple(sorted(k.value for k in CONTRADICTION_KINDS))
    min_relatedness: float = 0.58
    check_attribution: bool = True
    guards: Mapping[str, str] = field(default_factory=_default_guards)
    toxicity_threshold: float = 0.7
    overwrite_requires_faithful: bool = True
    overwrite_margin: float = 0.1
    authority_order: tuple[str, ...] = ("policy", "owner", "user", "peer", "inferred")
    recall_threshold: float = 0.52
    alpha: float = 0.85
    beta: float = 0.1
    conflict_threshold: float = 0.5
    languages: tuple[str, ...] = ("en",)
    legacy_fingerprint: str | None = None

    def __post_init__(self) -> None:
        """Refuse values that make no sense; raises ``InvalidInput`` naming the field."""
        _validate(self)

    def body(self) -> dict[str, Any]:
        """Return the policy as JSON values: exactly what the fingerprint covers."""
        return {
            f.name: _plain(getattr(self, f.name))
            for f in fields(self)
            if f.name != "legacy_fingerprint"
        }

    def canonical_body(self) -> str:
        """Return the body as RFC 8785 canonical JSON."""
        return rfc8785.dumps(self.body()).decode()

    @cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 (64 hex digits) of the canonical body."""
        return hashlib.sha256(self.canonical_body().encode()).hexdigest()

    def guard(self, name: str) -> GuardAction:
        """Return what this policy lets a guard do."""
        return GuardAction(self.guards[name])


def policy_from_body(body: Mapping[str, Any]) -> Policy:
    """Return the policy that a body describes; missing fields take their defaults.

    A MiniEval policy (only its seven fields, ``reject_on`` naming "contradicts") is recognised and
    keeps its 12-hex fingerprint as ``legacy_fingerprint``.

    Raises:
        InvalidInput: an unknown field, or a value out of range.
    """
    known = {f.name for f in fields(Policy)} - {"legacy_fingerprint"}
    for name in body:
        if name not in known:
            raise InvalidInput(f"body.{name}", "no such policy field")
    if _is_legacy(body):
        return _from_legacy(body)
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in body.items()}
    if isinstance(values.get("guards"), Mapping):
        values["guards"] = _default_guards() | dict(values["guards"])
    return Policy(**values)


def legacy_fingerprint(body: Mapping[str, Any]) -> str:
    """Return MiniEval's 12-hex fingerprint of its seven policy fields.

    Source: MiniEval 1.2.1 ``Policy.fingerprint``: the first 12 hex digits of the SHA-256 of the
    JSON of the fields, keys sorted, default separators.
    """
    content = {name: body[name] for name in _LEGACY_FIELDS}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


LEGACY_DEFAULT: Mapping[str, Any] = {
    "name": "default",
    "version": "1.0",
    "store_threshold": 0.5,
    "reject_on": ["contradicts"],
    "overwrite_requires_faithful": True,
    "min_relatedness": 0.58,
    "check_attribution": True,
}
"""MiniEval's default policy; its fingerprint is ``e7403d698e00``."""


def diff(first: Policy, second: Policy) -> list[dict[str, Any]]:
    """Return the fields in which two policies differ, each with both values."""
    a, b = _flat(first.body()), _flat(second.body())
    return [
        {"field": name, "a": a.get(name), "b": b.get(name)}
        for name in sorted(a.keys() | b.keys())
        if a.get(name) != b.get(name)
    ]


def _flat(body: Mapping[str, Any]) -> dict[str, Any]:
    guards = {f"guards.{k}": v for k, v in body["guards"].items()}
    return {k: v for k, v in body.items() if k != "guards"} | guards


def _is_legacy(body: Mapping[str, Any]) -> bool:
    rejects = body.get("reject_on")
    return isinstance(rejects, list | tuple) and "contradicts" in rejects


def _from_legacy(body: Mapping[str, Any]) -> Policy:
    full = dict(LEGACY_DEFAULT) | dict(body)
    full["reject_on"] = list(full["reject_on"])
    rejects = tuple(_LEGACY_REJECT.get(r, r) for r in full["reject_on"])
    known = set(_LEGACY_FIELDS)
    extra = {k: v for k, v in full.items() if k not in known}
    values = {k: full[k] for k in known} | {"reject_on": rejects} | extra
    return Policy(**values, legacy_fingerprint=legacy_fingerprint(full))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value


def _validate(policy: Policy) -> None:
    for name in ("name", "version"):
        value = getattr(policy, name)
        if not isinstance(value, str) or not 1 <= len(value) <= _NAME_LIMIT:
            raise InvalidInput(f"body.{name}", f"must be 1 to {_NAME_LIMIT} characters")
    for f in fields(policy):
        _validate_field(policy, f.name, f.default)
    _validate_rejects(policy)
    _validate_guards(policy)


def _validate_field(policy: Policy, name: str, default: object) -> None:
    value = getattr(policy, name)
    if isinstance(default, float):
        _validate_number(name, value)
    elif isinstance(default, bool) and not isinstance(value, bool):
        raise InvalidInput(f"body.{name}", "must be true or false")
    elif isinstance(default, tuple):
        _validate_names(name, value)


def _validate_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"body.{name}", "must be a number from 0 to 1")
    if round(value, _DECIMALS) != value:
        raise InvalidInput(f"body.{name}", f"must have at most {_DECIMALS} decimals")


def _validate_names(name: str, value: object) -> None:
    if not isinstance(value, tuple) or not all(isinstance(v, str) and v for v in value):
        raise InvalidInput(f"body.{name}", "must be a list of non-empty strings")
    if len(set(value)) != len(value):
        raise InvalidInput(f"body.{name}", "must not repeat a value")


def _validate_rejects(policy: Policy) -> None:
    allowed = {k.value for k in CONTRADICTION_KINDS | REJECTABLE_GUARDS}
    for code in policy.reject_on:
        if code not in allowed:
            raise InvalidInput("body.reject_on", f"{code!r} is not one of {sorted(allowed)}")


def _validate_guards(policy: Policy) -> None:
    if not isinstance(policy.guards, Mapping) or set(policy.guards) != set(GUARDS):
        raise InvalidInput("body.guards", f"must name exactly {sorted(GUARDS)}")
    for name, action in policy.guards.items():
        allowed = ("review", "off", "reject") if name in _GUARD_CAN_REJECT else ("review", "off")
        if action not in allowed:
            raise InvalidInput(f"body.guards.{name}", f"must be one of {sorted(allowed)}")
