"""Whether a text repeats one that is erased: the same whatever its case, width and spacing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Final

from service.domain.recall.stem import stem
from service.domain.recall.tokens import tokens

_LEAST: Final = 8  # characters
_WORDS: Final = 3
"""Shorter statements ("Yes.", "Arch Linux.") are only looked for as whole texts."""
_EDGES: Final = " .,;:!?\"'“”‘’()[]。！？、，"
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff]")
_RUN: Final = 3
_SHARE: Final = 0.5
_EVERYDAY: Final = frozenset(
    "a about account ago all also am an and any app are as ask asked at be because been being but "
    "by can client complaint consent correct correction could customer data day days delete "
    "deleted deletion did do does done down email entry erase erased erasure error every fact for "
    "forget forgotten from gdpr had has have he her here him his i if in inaccurate is it its law "
    "legal longer made mail may me memory message mistake month more my name no not note now of on "
    "one or other our out outdated over person phone please policy privacy record remove removed "
    "removal request requested retention right said say see she should so some support than that "
    "the their them then there they thing this ticket to today too under up upon use user want "
    "wanted was we week were when which who will wish with withdrawn would wrong year years yes "
    "yesterday you your".split()
)


def normal(text: str) -> str:
    """Return a statement as statements are compared: NFKC, case folded, single spaces, no edges."""
    if text.isascii():
        return " ".join(text.lower().split()).strip(_EDGES)
    wide = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", wide).split()).strip(_EDGES)


class Statements:
    """Erased statements, to look for in other texts of the same user."""

    def __init__(self, texts: Iterable[str]) -> None:
        found = {normal(text) for text in texts} - {""}
        self._whole = frozenset(found)
        self._inside = tuple(sorted(filter(_says_something, found)))

    def __bool__(self) -> bool:
        return bool(self._whole)

    def are(self, text: str) -> bool:
        """Return whether a text is one of the statements."""
        return normal(text) in self._whole

    def are_in(self, text: str | None) -> bool:
        """Return whether a text is, or holds as whole words, one of the statements."""
        if not text:
            return False
        plain = normal(text)
        return plain in self._whole or any(_holds(plain, s) for s in self._inside)

    def are_in_json(self, value: Any) -> bool:  # noqa: ANN401 - whatever JSON can hold
        """Return whether any text in a JSON value holds one of the statements."""
        return any(self.are_in(text) for text in _texts(value))


def _says_something(statement: str) -> bool:
    return len(statement) >= _LEAST and (statement.count(" ") + 1 >= _WORDS or _unspaced(statement))


def _holds(text: str, statement: str) -> bool:
    start = text.find(statement)
    while start >= 0:
        end = start + len(statement)
        if _is_edge(text[start - 1 : start], statement[0]) and _is_edge(
            text[end : end + 1], statement[-1]
        ):
            return True
        start = text.find(statement, start + 1)
    return False


def _is_edge(outside: str, inside: str) -> bool:
    """Return whether a word ends between two characters; those of Han or kana always do."""
    joined = outside.isalnum() and inside.isalnum()
    return not joined or _unspaced(outside) or _unspaced(inside)


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - whatever JSON can hold
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def repeats(reason: str, texts: Iterable[str], values: Iterable[str]) -> bool:
    """Return whether a reason gives away what it erases; a paraphrase is not noticed.

    It does if it names the value of an erased fact, repeats three words in a row of an erased text,
    or half of the words in it that say something. Everyday words of requests do not count.
    """
    said = _words(reason)
    spoken = " ".join(said)
    for value in values:
        telling = _telling(_words(value))
        if telling and telling <= set(said):
            return True
        if _unspaced(value) and normal(value) in normal(reason):
            return True
    for text in texts:
        words = _words(text)
        telling = _telling(words)
        shared = telling & set(said)
        if shared and len(shared) >= _SHARE * len(telling) and len(shared) > (len(telling) > 1):
            return True
        if any(_telling(run) and f" {' '.join(run)} " in f" {spoken} " for run in _runs(words)):
            return True
    return False


def _words(text: str) -> list[str]:
    return tokens(text)


def _runs(words: list[str]) -> Iterator[list[str]]:
    return (words[i : i + _RUN] for i in range(len(words) - _RUN + 1))


def _telling(words: Iterable[str]) -> set[str]:
    return {w for w in words if w not in _EVERYDAY_STEMS and (len(w) > 1 or not w.isascii())}


def _unspaced(text: str) -> bool:
    return _UNSPACED.search(text) is not None


_EVERYDAY_STEMS: Final = frozenset(map(stem, _EVERYDAY)) | _EVERYDAY
