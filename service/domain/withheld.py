"""Keeping secrets out: a passage that holds one is blacked out before anything is stored."""

from __future__ import annotations

import re

from service.domain.guards.secrets import holds_secret

BLACK = "█"
_PASSAGE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?\n]*")


def without_secrets(text: str) -> tuple[str, bool]:
    """Return the text, as long as before, with every passage that holds a secret blacked out.

    The second value tells whether there was one. If it only shows across passages, all is black.
    """
    if not holds_secret(text):
        return text, False
    masked = _PASSAGE.sub(lambda m: _black(m[0]) if holds_secret(m[0]) else m[0], text)
    return (_black(text) if holds_secret(masked) else masked), True


def _black(text: str) -> str:
    """Return a passage in black; its last marks stay, so that sentences end where they did."""
    body = text.rstrip(".!?\n")
    return re.sub(r"\S", BLACK, body) + text[len(body) :]
