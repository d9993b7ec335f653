"""Bodies on their way into and out of the database, encrypted under their user's key.

AES-256-GCM (NIST SP 800-38D) over the salt and the text together: with the salt readable in an old
copy, a text of few possibilities could be guessed and compared with the commitment in the log. The
nonce is random, 96 bits; the associated data binds a body to its user, entry and name. A body
without a nonce was stored as it is, before there were keys or where none are kept.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from service.audit.commitment import SALT_BYTES, opens
from service.audit.entry import EntryDraft
from service.audit.rows import AnyBody, Body, Unreadable, UnreadableBody
from service.domain.errors import InvalidInput
from service.ports.subject_keys import SubjectKeys, SubjectRef

Bodies: TypeAlias = Mapping[int, Mapping[str, AnyBody]]
Owners: TypeAlias = Mapping[int, SubjectRef]
NONCE_BYTES: Final = 12
_LABEL: Final = b"groundkeeper/body/v1"


def check_bodies(draft: EntryDraft, bodies: Mapping[str, Body]) -> list[dict[str, Any]]:
    """Return the rows for an entry's bodies; refuse any that verification would find wrong."""
    expected = draft.commitments.keys() if draft.subject is not None else ()
    if bodies.keys() != set(expected):
        raise InvalidInput(
            "bodies", "must match the commitments of an entry with a subject, and be empty without"
        )
    rows: list[dict[str, Any]] = []
    for name, body in bodies.items():
        try:
            text = body.text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(name, "holds a lone surrogate, which is not text") from error
        if not opens(draft.commitments[name], body):
            raise InvalidInput(name, "the body does not open its commitment")
        rows.append({"name": name, "salt": body.salt, "text": text})
    return rows


def encrypted(
    rows: Sequence[dict[str, Any]], keys: SubjectKeys | None, who: SubjectRef | None, seq: int
) -> list[dict[str, Any]]:
    """Return rows of bodies for entry ``seq``, encrypted if there are keys.

    Raises ``Unavailable`` if the user's key is not there.
    """
    if keys is None or who is None or not rows:
        return [{"seq": seq, **row} for row in rows]
    cipher = AESGCM(keys.key_for(who))
    made = []
    random = os.urandom(NONCE_BYTES * len(rows))
    for number, row in enumerate(rows):
        nonce = random[number * NONCE_BYTES : (number + 1) * NONCE_BYTES]
        text = cipher.encrypt(nonce, row["salt"] + row["text"], _bound(who, seq, row["name"]))
        made.append({"seq": seq, "name": row["name"], "salt": b"", "text": text, "nonce": nonce})
    return made


def stored_bodies(
    rows: Iterable[Sequence[Any]], owners: Owners, keys: SubjectKeys | None
) -> Bodies:
    """Return bodies by entry and name; damaged text comes back as surrogates, never as an error.

    ``owners`` says whose each entry is. A body that cannot be read says why.
    """
    bodies: defaultdict[int, dict[str, AnyBody]] = defaultdict(dict)
    ciphers: dict[SubjectRef, AESGCM | None] = {}
    for seq, name, salt, text, nonce in rows:
        who = owners.get(seq)
        if nonce is None:
            bodies[seq][name] = _plain(salt, text)
        elif keys is None:
            bodies[seq][name] = UnreadableBody(Unreadable.LOCKED)
        elif who is None:
            bodies[seq][name] = UnreadableBody(Unreadable.KEY_GONE)
        else:
            if who not in ciphers:
                ciphers[who] = _cipher(keys, who)
            bodies[seq][name] = _opened(ciphers[who], (text, nonce), _bound(who, seq, str(name)))
    return bodies


def stored_bytes(value: object) -> bytes:
    """Return what a column of bytes holds; a damaged file can hold anything, which is no bytes."""
    return value if isinstance(value, bytes) else b""


def _plain(salt: object, text: object) -> Body:
    if isinstance(salt, bytes) and isinstance(text, bytes):
        return Body(salt, text.decode("utf-8", "surrogateescape"))
    return Body(b"", "")  # opens no commitment


def _cipher(keys: SubjectKeys, who: SubjectRef) -> AESGCM | None:
    key = keys.find(who)
    return None if key is None else AESGCM(key)


def _opened(cipher: AESGCM | None, stored: tuple[object, object], bound: bytes) -> AnyBody:
    if cipher is None:
        return UnreadableBody(Unreadable.KEY_GONE)
    text, nonce = map(stored_bytes, stored)
    try:
        both = cipher.decrypt(nonce, text, bound)
    except (InvalidTag, ValueError):
        return UnreadableBody(Unreadable.DAMAGED)
    return Body(both[:SALT_BYTES], both[SALT_BYTES:].decode("utf-8", "surrogateescape"))


def _bound(who: SubjectRef, seq: int, name: str) -> bytes:
    """Return the associated data: no two bodies share it, and none fits another's place."""
    framed = _framed(who.tenant) + _framed(who.subject_id) + _framed(name)
    return _LABEL + seq.to_bytes(8, "big", signed=True) + framed


@lru_cache(maxsize=4_096)
def _framed(part: str) -> bytes:
    """Return an id or a name so that what follows it cannot be taken for a part of it."""
    data = part.encode("utf-8", "surrogateescape")
    return len(data).to_bytes(4, "big") + data
