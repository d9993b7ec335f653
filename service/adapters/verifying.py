"""Verification put together: a database or an export, with what the verifier brings along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from service.adapters.exporting.reader import open_export
from service.adapters.inspection import reading
from service.adapters.signing.log_keys import check_signature
from service.adapters.subject_keys.store import open_subject_keys
from service.audit.errors import VerificationError
from service.audit.verify import Report
from service.domain.errors import Damaged, Unavailable
from service.ports.subject_keys import SubjectKeys
from service.usecases.anchors import Evidence, anchors_from
from service.usecases.verification import unreadable, verify_log, verify_rows


@dataclass(frozen=True, slots=True)
class Known:
    """What the verifier brings; nothing of it comes from the data that is verified.

    Attributes:
        origin: the name that the log must have.
        keys: public keys as text, each under the name of the log.
        outside: texts with checkpoints that were held elsewhere.
        stored: text with the checkpoints that are kept with the log.
        text_keys: the folder with the keys that texts are encrypted under.
    """

    origin: str | None = None
    keys: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    stored: str = ""
    text_keys: Path | None = None

    def evidence(self, stored: str) -> Evidence:
        """Return what the log is compared with, the ``stored`` checkpoints included."""
        return anchors_from(self.keys, self.outside, stored, check_signature, self.origin)


def verify_database(location: str | Path, known: Known) -> Report:
    """Verify the log of a database, which may be in use, without writing to it.

    Raises:
        InvalidInput: what the verifier brings is no key, or does not go together.
        Unavailable: there is no database, it cannot be reached, or a checkpoint cannot be opened.
    """
    found = known.evidence(known.stored)
    try:
        with reading(location, open_keys=_opener(known.text_keys)) as tx:
            return verify_log(tx, found.origin, found.anchors)
    except Damaged as error:
        return unreadable(found.origin, error.detail)


def verify_export(folder: Path, known: Known) -> Report:
    """Verify an exported folder, its checkpoints included; errors as for a database."""
    try:
        export = open_export(folder)
        found = known.evidence(export.notes)
        return verify_rows(
            export.rows(), found.origin, found.anchors, with_bodies=export.has_bodies
        )
    except VerificationError as error:
        return unreadable(known.origin, str(error))


def _opener(folder: Path | None) -> Callable[[str], SubjectKeys | None]:
    """Return what opens the database's keys of that name, if they can be opened at all."""

    def open_keys(name: str) -> SubjectKeys | None:
        if folder is None:
            return None
        try:
            return open_subject_keys(folder, name)
        except Unavailable:  # the report says what could not be checked
            return None

    return open_keys
