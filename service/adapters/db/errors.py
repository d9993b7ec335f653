"""One place where errors of the driver become errors of the domain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from service.domain.errors import Damaged, InvalidInput, Overloaded, Unavailable

DEPENDENCY = "database"
ENDLESS = "the file is damaged: rows come back without end"  # pages that point to themselves
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")  # and their extended forms
_LACKING = ("no such table", "no such column", "malformed database schema")


@contextmanager
def domain_errors() -> Iterator[None]:
    """Translate what the driver raises; a statement's parameters never reach the message."""
    try:
        yield
    except exc.TimeoutError as error:
        raise Overloaded(DEPENDENCY) from error
    except exc.DBAPIError as error:
        kind = Damaged if _is_damage(error) else Unavailable
        raise kind(DEPENDENCY, str(error.orig)) from error
    except (exc.NoResultFound, exc.MultipleResultsFound) as error:
        raise Damaged(DEPENDENCY, "the file is damaged: not the one row that there is") from error
    except UnicodeDecodeError as error:
        # The driver cannot even read what SQLite says about a schema with damaged names.
        raise Damaged(DEPENDENCY, "the file is damaged: a name in it is not text") from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise InvalidInput("text", "holds a character or number that cannot be stored") from error


def _is_damage(error: exc.DBAPIError) -> bool:
    name = str(getattr(error.orig, "sqlite_errorname", ""))
    return name.startswith(_DAMAGED) or str(error.orig).startswith(_LACKING)
