"""The one error of this package."""

from __future__ import annotations


class VerificationError(Exception):
    """Bytes, a field or a commitment break the documented format of the audit log."""
