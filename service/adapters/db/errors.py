"""One place where errors of the driver become errors of the domain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from service.domain.errors import InvalidInput, Overloaded, Unavailable

DEPENDENCY = "database"


@contextmanager
def domain_errors() -> Iterator[None]:
    """Translate what the driver raises; a statement's parameters never reach the message."""
    try:
        yield
    except exc.TimeoutError as error:
        raise Overloaded(DEPENDENCY) from error
    except exc.DBAPIError as error:
        raise Unavailable(DEPENDENCY, str(error.orig)) from error
    except (UnicodeEncodeError, OverflowError) as error:
        raise InvalidInput("text", "holds a character or number that cannot be stored") from error
