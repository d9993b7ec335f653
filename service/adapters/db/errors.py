"""One place where errors of the driver become errors of the domain."""

from __future__ import annotations

from contextlib import AbstractContextManager

from sqlalchemy import exc

from service.domain.errors import Damaged, InvalidInput, Overloaded, Unavailable

DEPENDENCY = "database"
ENDLESS = "the file is damaged: rows come back without end"  # pages that point to themselves
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")  # and their extended forms
_LACKING = ("no such table", "no such column", "malformed database schema")


class _Translating:
    """A context manager without state: a generator for each statement costs as much as SQLite."""

    __slots__ = ()

    def __enter__(self) -> None:
        """Begin; there is nothing to prepare."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        if error is not None:
            _translate(error)


_TRANSLATING = _Translating()


def domain_errors() -> AbstractContextManager[None]:
    """Translate what the driver raises; a statement's parameters never reach the message."""
    return _TRANSLATING


def _translate(error: BaseException) -> None:
    if isinstance(error, exc.TimeoutError):
        raise Overloaded(DEPENDENCY) from error
    if isinstance(error, exc.DBAPIError):
        kind = Damaged if _is_damage(error) else Unavailable
        raise kind(DEPENDENCY, str(error.orig)) from error
    if isinstance(error, exc.NoResultFound | exc.MultipleResultsFound):
        raise Damaged(DEPENDENCY, "the file is damaged: not the one row that there is") from error
    if isinstance(error, UnicodeDecodeError):
        # The driver cannot even read what SQLite says about a schema with damaged names.
        raise Damaged(DEPENDENCY, "the file is damaged: a name in it is not text") from error
    if isinstance(error, UnicodeEncodeError | OverflowError):
        raise InvalidInput("text", "holds a character or number that cannot be stored") from error


def _is_damage(error: exc.DBAPIError) -> bool:
    name = str(getattr(error.orig, "sqlite_errorname", ""))
    return name.startswith(_DAMAGED) or str(error.orig).startswith(_LACKING)
