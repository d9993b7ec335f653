"""Passwords, keys, card and national numbers."""

from __future__ import annotations

import re

_LABELLED = re.compile(
    r"\b(?:pass(?:word|code|phrase|wd)?|pwd|pin(?: code| number)?|api[ _-]?key|secret(?: key)?|"
    r"access[ _-]?(?:key|token)|auth[ _-]?token|token|private key|credentials?|cvv|cvc|"
    r"security code|ssn|social security(?: number)?|passport(?: number)?|"
    r"national insurance(?: number)?|iban|account number|routing number|login|"
    r"seed phrase|recovery (?:code|phrase))\b"
    r"[^.\n]{0,24}?(?:\bis\b|\bare\b|[:=])\s*[\"'“`]?(?P<value>\S{3,})",
    re.IGNORECASE,
)
_SHAPES = (
    re.compile(r"(?i)\b(?:code|combination)\b[^.\n]{0,40}\bis\s+[\"'“]?\d{3,}"),
    re.compile(r"(?i)\bwi-?fi\b[^.\n]{0,24}(?:\bis\b|[:=])\s*[\"'“]?[^\s.,]{8,}"),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    re.compile(r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bgh[pousr]_[A-Za-z0-9]{20,}\b"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\bAIza[0-9A-Za-z_-]{30,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s:/@]+:[^\s:/@]+@"),
    re.compile(r"(?i)(?:--?password|-p|PASSWORD|TOKEN|SECRET|API_KEY)[= ]['\"]?[^\s'\"]{6,}"),
    re.compile(r"\b(?!000|666|9\d\d)\d{3}-\d{2}-\d{4}\b"),
    re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"),
)
_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){13,19}(?!\d)")
_HARMLESS = frozenset(
    "a an the not no my your his her their our very too so being that what in on at strong weak "
    "long short forgotten lost expired required needed wrong correct safe secure".split()
)
_LUHN_DOUBLE = 9


def holds_secret(text: str) -> bool:
    """Return whether a text carries a credential or an identity number.

    Labelled values ("the password is …"), the published shapes of common tokens, and payment card
    numbers that pass the Luhn check (ISO/IEC 7812-1).
    """
    if any(shape.search(text) for shape in _SHAPES):
        return True
    if any(_luhn(m.group(0)) for m in _CARD.finditer(text)):
        return True
    return any(_looks_secret(m.group("value")) for m in _LABELLED.finditer(text))


def _looks_secret(value: str) -> bool:
    return value.strip(".,;!?\"'”").lower() not in _HARMLESS


def _luhn(text: str) -> bool:
    digits = [int(c) for c in text if c.isdigit()]
    if len(set(digits)) < 2:  # noqa: PLR2004 - a run of one digit is no card number
        return False
    total = 0
    for position, digit in enumerate(reversed(digits)):
        doubled = digit * 2 if position % 2 else digit
        total += doubled - 9 if doubled > _LUHN_DOUBLE else doubled
    return total % 10 == 0
