"""Making a stranger's text harmless where it is shown."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

_DIRECTION: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)
_BLANK: Final = frozenset("\t\n\r")
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>#|~&!$@^=]|:(?=//)|(?<=www)\.)", re.IGNORECASE)


def visible(text: str) -> str:
    """Return the text with what would hide or turn other text around spelt out.

    Control characters, lone surrogates and marks of direction become ``[U+202E]``; a sentence in a
    right-to-left script does not need such marks.
    """
    return "".join(f"[U+{ord(c):04X}]" if _is_hidden(c) else c for c in text)


def as_html(text: object) -> str:
    """Return text for an element or a quoted attribute."""
    return html.escape(visible(str(text)), quote=True)


def as_markdown(text: object) -> str:
    """Return text for a table cell or behind a label: one line, without any markup left.

    Marks that only mean something at the start of a line stay as they are; a stranger's text is
    never put there.
    """
    one_line = " ".join(visible(str(text)).split())
    return _MARKUP.sub(r"\\\1", one_line)


def _is_hidden(character: str) -> bool:
    if character in _DIRECTION:
        return True
    return unicodedata.category(character) in ("Cc", "Cs", "Co") and character not in _BLANK
