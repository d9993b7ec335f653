"""Who is asking: API keys, what they may do, and whose data they reach.

A key is ``gk_<id>_<secret>`` with 256 random bits of secret, so neither a salt nor a slow hash is
needed. Settings hold ``tenant:role:id:<hmac>``. The HMAC is keyed by the tenant, role and id it
stands beside: a hash that is moved to another tenant or role fits no key.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from service.domain.errors import Unauthenticated
from service.ports.storage import Scope

_ENTRY = re.compile(
    r"(?P<tenant>[a-z0-9][a-z0-9_-]{0,63}):(?P<role>reader|writer|admin)"
    r":(?P<key_id>[a-z0-9]{8}):(?P<digest>[0-9a-f]{64})"
)
_KEY = re.compile(r"gk_(?P<key_id>[a-z0-9]{8})_[A-Za-z0-9_-]{43}")
_LABEL = "groundkeeper-api-key-v1"


class Role(IntEnum):
    """What a key may do; each role includes the ones before it."""

    READER = 1
    WRITER = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One configured key, as it is stored: without its secret."""

    tenant: str
    role: Role
    key_id: str
    digest: str

    def entry(self) -> str:
        """Return the form that goes into the settings."""
        return f"{self.tenant}:{self.role.name.lower()}:{self.key_id}:{self.digest}"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who was recognised."""

    scope: Scope
    role: Role


ANONYMOUS = Principal(Scope(tenant="default", key="anonymous"), Role.ADMIN)
"""Everybody, when no keys are configured."""


def parse_entry(text: str) -> ApiKey:
    """Read one settings entry; raises ``ValueError`` that does not repeat the entry."""
    found = _ENTRY.fullmatch(text.strip())
    if found is None:
        raise ValueError(
            "an API key entry must be tenant:role:id:hash with the role reader, writer or admin; "
            "make one with: groundkeeper keygen"
        )
    role = Role[found["role"].upper()]
    return ApiKey(found["tenant"], role, found["key_id"], found["digest"])


def new_key(tenant: str, role: Role) -> tuple[str, ApiKey]:
    """Return a new key, which is shown once, and what to configure for it."""
    key_id = secrets.token_hex(4)
    key = f"gk_{key_id}_{secrets.token_urlsafe(32)}"
    made = ApiKey(tenant, role, key_id, _digest(tenant, role, key_id, key))
    return key, parse_entry(made.entry())


class Keyring:
    """The configured keys."""

    def __init__(self, keys: Iterable[ApiKey] = ()) -> None:
        self._keys: Mapping[str, ApiKey] = {k.key_id: k for k in keys}

    def __bool__(self) -> bool:
        """Return whether any key is configured."""
        return bool(self._keys)

    def authenticate(self, presented: str | None) -> Principal:
        """Return who presents this key.

        Raises:
            Unauthenticated: no key, or an unknown one.
        """
        if not self._keys:
            return ANONYMOUS
        found = _KEY.fullmatch(presented or "")
        known = self._keys.get(found["key_id"]) if found else None
        if known is None or presented is None:
            raise Unauthenticated("Send a valid API key.")
        expected = _digest(known.tenant, known.role, known.key_id, presented)
        if not hmac.compare_digest(expected, known.digest):
            raise Unauthenticated("Send a valid API key.")
        return Principal(Scope(known.tenant, f"key_{known.key_id}"), known.role)


def _digest(tenant: str, role: Role, key_id: str, key: str) -> str:
    place = f"{_LABEL}:{tenant}:{role.name}:{key_id}"
    return hmac.new(place.encode(), key.encode(), hashlib.sha256).hexdigest()
