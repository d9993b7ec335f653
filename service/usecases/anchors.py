"""Checkpoints to compare a log with, opened with the keys that the verifier brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.audit.errors import VerificationError
from service.audit.notes import (
    Check,
    Checkpoint,
    VerifierKey,
    claims,
    open_checkpoint,
    parse_verifier_key,
    split_notes,
)
from service.audit.verify import Anchors
from service.domain.errors import InvalidInput, Unavailable


@dataclass(frozen=True, slots=True)
class Evidence:
    """Opened checkpoints, and the name of the log that keys and verifier agree on."""

    anchors: Anchors
    origin: str | None


def anchors_from(
    keys: Sequence[str],
    outside: Sequence[str],
    stored: str,
    check: Check,
    origin: str | None = None,
) -> Evidence:
    """Open checkpoints that were held elsewhere (``outside``) and that are kept with the log.

    Each text holds one note, or several with a blank line between two. ``keys`` are public keys as
    text; their name is that of the log, which has to be ``origin`` where that is given.

    Raises:
        InvalidInput: a key that is none, names that differ, or outside checkpoints without a key.
        Unavailable: an outside checkpoint that the keys have not signed: it decides nothing.
    """
    known = _keys(keys, origin)
    if outside and not known:
        raise InvalidInput("key", "checkpoints can only be opened with the public key of the log")
    opened = tuple(c for text in outside for c in _opened(text, known, check))
    kept, faults, unopened = _stored(stored, known, check)
    anchors = Anchors(opened, kept, faults, unopened)
    return Evidence(anchors, origin or (known[0].name if known else None))


def _keys(texts: Sequence[str], origin: str | None) -> tuple[VerifierKey, ...]:
    try:
        found = tuple(dict.fromkeys(parse_verifier_key(text) for text in texts))
    except VerificationError as error:
        raise InvalidInput("key", str(error)) from error
    names = sorted({key.name for key in found} | ({origin} if origin else set()))
    if len(names) > 1:
        raise InvalidInput("key", f"keys and origin name different logs: {', '.join(names)}")
    return found


def _opened(text: str, known: Sequence[VerifierKey], check: Check) -> list[Checkpoint]:
    try:
        return [open_checkpoint(note, known, check) for note in split_notes(text)]
    except VerificationError as error:
        raise Unavailable("checkpoint", f"cannot be used: {error}") from error


def _stored(
    text: str, known: Sequence[VerifierKey], check: Check
) -> tuple[tuple[Checkpoint, ...], tuple[str, ...], str | None]:
    """Return what opens, what is wrong, and what could not be looked at for lack of its key."""
    if not text.strip():
        return (), (), None
    opened: list[Checkpoint] = []
    faults: list[str] = []
    foreign = 0
    try:
        notes = split_notes(text)
    except VerificationError as error:
        return (), (f"stored checkpoints: {error}",), None
    for note in notes:
        try:
            if any(claims(note, key) for key in known):
                opened.append(open_checkpoint(note, known, check))
            else:
                foreign += 1
        except VerificationError as error:
            faults.append(f"stored checkpoint: {error}")
    unopened = f"{foreign} stored checkpoints are of keys that were not given: not checked"
    return tuple(opened), tuple(faults), unopened if foreign else None
