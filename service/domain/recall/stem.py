"""Light English stemming: plural, -ed and -ing endings fall away, nothing else.

Steps 1a–1c of M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. The later
steps ("relational" → "relat") bring together words that differ in meaning, which a memory of a few
dozen short facts can afford less than a library can.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SHORT = 3
_VOWEL = re.compile(r"[aeiou]|(?<=[^aeiou])y")
_SYLLABLES = re.compile(r"(?:[aeiou]|(?<=[^aeiou])y)+[^aeiou]")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")
_CVC = re.compile(r"(?:^|[^aeiou])[aeiouy][^aeiouwxy]$")
_IRREGULAR = {
    "bought": "buy", "built": "build", "came": "come", "children": "child", "did": "do",
    "done": "do", "drank": "drink", "drove": "drive", "ate": "eat", "eaten": "eat", "feet": "foot",
    "flew": "fly", "found": "find", "gave": "give", "given": "give", "goes": "go", "gone": "go",
    "got": "get", "grew": "grow", "grown": "grow", "held": "hold", "kept": "keep", "knew": "know",
    "known": "know", "led": "lead", "left": "leave", "lost": "lose", "made": "make", "men": "man",
    "met": "meet", "mice": "mouse", "paid": "pay", "ran": "run", "said": "say", "sang": "sing",
    "saw": "see", "seen": "see", "sold": "sell", "sent": "send", "slept": "sleep", "spent": "spend",
    "spoke": "speak", "spoken": "speak", "swam": "swim", "taken": "take", "took": "take",
    "taught": "teach", "thought": "think", "told": "tell", "went": "go", "women": "woman",
    "won": "win", "wore": "wear", "wrote": "write", "written": "write",
}  # fmt: skip


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; words outside a–z stay as they are."""
    if len(word) < _SHORT or not (word.isascii() and word.isalpha()):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    found = _without_tense(_singular(word))
    if found.endswith("y") and _VOWEL.search(found[:-1]):
        return found[:-1] + "i"
    return found


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "i"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_tense(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _SYLLABLES.search(word[:-3]) else word
    for ending in ("ed", "ing"):
        base = word.removesuffix(ending)
        if base != word:
            return _repaired(base) if _VOWEL.search(base) else word
    return word


def _repaired(base: str) -> str:
    """Return a verb without its ending as it is written elsewhere: "hop" for "hopp-"."""
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _DOUBLE.search(base):
        return base[:-1]
    once = len(_SYLLABLES.findall(base)) == 1
    return base + "e" if once and _CVC.search(base) else base
