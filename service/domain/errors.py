"""Every error the service raises on purpose.

    GroundkeeperError
    ├── InvalidInput            a field breaks a rule; names the field and the limit
    │   └── TooLarge            the request as a whole is over a size limit
    ├── NotFound                unknown id, or one that belongs to somebody else
    ├── Conflict                the request clashes with what is stored
    │   └── IdempotencyMismatch the same Idempotency-Key came with another body
    ├── Unauthenticated         no API key, or an unknown one
    ├── Forbidden               the key's role does not allow this
    └── Unavailable             a dependency cannot serve now; names it
        ├── Damaged             what was stored cannot be read back
        ├── Overloaded          a bounded queue is full; says when to retry
        └── ReadOnly            the log refuses to grow until somebody looks at it

Which HTTP status each becomes is decided in one table in ``service.http.errors``; a test checks
that every class here has a row there.
"""

from __future__ import annotations


class GroundkeeperError(Exception):
    """Root of the tree; never raised itself."""


class InvalidInput(GroundkeeperError):  # noqa: N818 - the tree reads as a list of outcomes
    """A field breaks a rule."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class TooLarge(InvalidInput):
    """The request, or a part of it, is over a size limit."""


class NotFound(GroundkeeperError):  # noqa: N818
    """Nothing with this id exists for this tenant and user."""

    def __init__(self, what: str) -> None:
        super().__init__(f"No such {what}.")
        self.what = what


class Conflict(GroundkeeperError):  # noqa: N818
    """The request clashes with what is stored."""


class IdempotencyMismatch(Conflict):
    """The same Idempotency-Key was used before with another body."""


class Unauthenticated(GroundkeeperError):  # noqa: N818
    """No API key, or an unknown one."""


class Forbidden(GroundkeeperError):  # noqa: N818
    """The key's role does not allow this."""


class Unavailable(GroundkeeperError):  # noqa: N818
    """A dependency cannot serve now."""

    def __init__(self, dependency: str, detail: str) -> None:
        super().__init__(f"{dependency}: {detail}")
        self.dependency = dependency
        self.detail = detail


class Damaged(Unavailable):
    """What was stored cannot be read back: the file is broken or not one of ours."""


class Overloaded(Unavailable):
    """A bounded queue is full."""

    def __init__(self, dependency: str, retry_after: int = 1) -> None:
        super().__init__(dependency, f"the queue is full; retry in {retry_after} s")
        self.retry_after = retry_after


class ReadOnly(Unavailable):
    """The log refuses to grow until somebody has looked at it."""
