"""Errors about a part of the request, named after that part."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from service.domain.errors import InvalidInput, NotFound, TooLarge


@contextmanager
def as_input(field: str, fact: str = "fact") -> Iterator[None]:
    """Let an unknown policy be a wrong ``field``, and a model's own limit be one on ``fact``."""
    try:
        yield
    except NotFound as error:
        raise InvalidInput(field, str(error)) from error
    except TooLarge as error:
        name = fact if error.field == "hypothesis" else error.field
        raise TooLarge(name, error.message) from error
