"""Which language a text is in, told by its script and its function words.

Statistical identifiers guess on short texts ("lawyer", "ok thanks" come back as Tswana or
Estonian) and need hundreds of megabytes to do better. A gate needs something else: to notice when
a text is plainly not English. Script settles most of it; for the Latin script, function words do.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from importlib import import_module

_LATIN_LANGUAGES = "fr de es it pt nl sv da nb fi pl cs sk hu ro tr hr sl id ca et lv lt is".split()
_SCRIPTS = {
    "CJK": "zh", "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CYRILLIC": "ru",
    "GREEK": "el", "ARABIC": "ar", "HEBREW": "he", "DEVANAGARI": "hi", "THAI": "th",
    "BENGALI": "bn", "TAMIL": "ta", "TELUGU": "te", "GEORGIAN": "ka", "ARMENIAN": "hy",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_QUOTED = re.compile(r"[\"“«].*?[\"”»]")
_FOREIGN_SHARE = 0.3
_MIN_LEAD = 2
_SHORT = 5
_TELLING_LENGTH = 4
_SHORT_ENGLISH = frozenset(
    "man men war die hat son con den era ten les sin bin fin pan per die dan van pro ad on us ma "
    "pa hen her ham san al ben ali tim jan max art bar ski sky sea tea".split()
)
_ENGLISH_ALSO = frozenset(
    "yes no ok okay thanks hello hi hey please i'm i've i'd i'll it's don't can't my mine since "
    "without lives works loves likes wants has have user had moved".split()
)


class LanguageIdentifier:
    """Names the language of a text: ISO 639-1, and a confidence from 0 to 1."""

    def __init__(self, english_vocabulary: frozenset[str]) -> None:
        """Take the English words that never count as a sign of another language."""
        self._english = _stop_words("en") | _ENGLISH_ALSO
        self._vocabulary = self._english | english_vocabulary
        long_words = {w for w in english_vocabulary if len(w) >= _TELLING_LENGTH}
        known = self._english | long_words | _SHORT_ENGLISH
        self._shared = {code: _stop_words(code) for code in _LATIN_LANGUAGES}
        self._others = {code: words - known for code, words in self._shared.items()}
        self._signs: dict[str, list[str]] = {}
        for code, words in self._others.items():
            for word in words:
                self._signs.setdefault(word, []).append(code)

    def identify(self, text: str) -> tuple[str, float]:
        """Return (language, confidence); text without a sign of any language counts as English."""
        script = _foreign_script(text)
        if script is not None:
            return script
        written = [w.replace("’", "'") for w in _WORD.findall(_QUOTED.sub(" ", text))]
        words = [w if w.lower() not in self._english else w.lower() for w in written]
        if not words:
            return "en", 0.0
        folded = [w.lower() for w in words]
        signs = Counter(code for w in folded for code in self._signs.get(w, ()))
        best = max(self._others, key=signs.__getitem__)
        other = signs[best]
        english = sum(w in self._vocabulary and w not in self._shared[best] for w in words)
        strange = sum(w not in self._vocabulary for w in folded)
        if _outweighs(other, english, len(words)) and strange >= min(_MIN_LEAD, len(words)):
            return best, other / (other + english)
        return "en", (english + 1) / (english + other + 1)


def _outweighs(other: int, english: int, words: int) -> bool:
    if other - english >= _MIN_LEAD:
        return True
    return other > english and words <= _SHORT


def _stop_words(code: str) -> frozenset[str]:
    module = import_module(f"spacy.lang.{code}.stop_words")
    return frozenset(w.lower().replace("’", "'") for w in module.STOP_WORDS)


def _foreign_script(text: str) -> tuple[str, float] | None:
    """Return the language of a text of which a third or more is not in the Latin script."""
    letters = [c for c in text if c.isalpha()]
    counts: dict[str, int] = {}
    for c in letters:
        if not c.isascii():
            name = unicodedata.name(c, "").split(" ")[0]
            if name != "LATIN":
                code = _SCRIPTS.get(name, "und")
                counts[code] = counts.get(code, 0) + 1
    share = sum(counts.values()) / len(letters) if letters else 0.0
    if share < _FOREIGN_SHARE:
        return None
    code = "ja" if counts.get("ja") else max(counts, key=lambda k: counts[k])
    return code, share
