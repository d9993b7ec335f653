"""Words of a text as BM25 counts them, for any script.

Text is folded with Unicode NFKC (UAX #15), case folding and the removal of combining marks, so that
"Zürich", "ZURICH" and "Ｚurich" meet. Scripts that are written without spaces (Han, kana, Thai …)
are cut into overlapping bigrams, as Lucene's CJKBigramFilter does; a lone character stands for
itself. English words are stemmed lightly, see ``stem``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from service.domain.recall.glossary import glosses
from service.domain.recall.stem import stem

# Han, kana, bopomofo, Hangul syllables are spaced but agglutinative; Thai, Lao, Khmer, Burmese.
_UNSPACED = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
    "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|(?P<word>(?:(?![{_UNSPACED}])[^\W_])+)")
END = "\0"
"""Stands after the tokens of a text, see ``all_tokens``; is in no token."""
_BETWEEN = {n: " " for n in range(128) if not chr(n).isalnum()}  # words, where all is ASCII
_BETWEEN_ENDS = {n: space for n, space in _BETWEEN.items() if chr(n) != END}
_LETTERS = {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"}
_SPECIAL = str.maketrans(_LETTERS)
_POSSESSIVE = re.compile(r"[’'ʼ]s\b|[’'ʼ](?=\w)")
_PLAIN_POSSESSIVE = re.compile(r"'(?:s\b|(?=\w))")  # the same, looked for faster


def folded(text: str) -> str:
    """Return text without differences of width, case and diacritics."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    bare = "".join(c for c in spread if not _is_latin_mark(c))
    return unicodedata.normalize("NFC", bare).translate(_SPECIAL)


def tokens(text: str) -> list[str]:
    """Return the tokens of a text to find it by, repeated as often as they occur.

    Unspaced scripts give both every character and every pair, so that a query of one character
    finds its place as well; everyday Chinese words give their English too, see ``glossary``.
    """
    return _plain(text) if text.isascii() else list(_tokens(text, singles=True))


def query_tokens(text: str) -> list[str]:
    """Return the tokens to search for: pairs, and a lone character as itself."""
    return _plain(text) if text.isascii() else list(_tokens(text, singles=False))


def all_tokens(texts: Sequence[str]) -> list[str]:
    """Return the tokens of every text one after another, with ``END`` after each text."""
    joined = END.join([*texts, ""])
    if joined.isascii() and joined.count(END) == len(texts):
        return _plain(joined, ends=True)
    return [token for text in texts for token in (*tokens(text), END)]


def _plain(text: str, *, ends: bool = False) -> list[str]:
    """Return the same as ``_tokens`` for ASCII, several times as fast, and each ``END``."""
    bare = _PLAIN_POSSESSIVE.sub("", text.lower())
    spaced = (
        bare.replace(END, f" {END} ").translate(_BETWEEN_ENDS) if ends else bare.translate(_BETWEEN)
    )
    return list(map(stem, spaced.split()))


def _tokens(text: str, *, singles: bool) -> Iterator[str]:
    for run in _RUN.finditer(_POSSESSIVE.sub("", folded(text))):
        whole = run.group()
        if run.lastgroup == "word":
            yield stem(whole)
            continue
        if singles or len(whole) == 1:
            yield from whole
        if singles:
            yield from map(stem, glosses(whole))
        yield from (whole[i : i + 2] for i in range(len(whole) - 1))


def _is_latin_mark(character: str) -> bool:
    """Return whether this is a combining diacritic, and not a vowel sign of a script's own."""
    return "\u0300" <= character <= "\u036f"
