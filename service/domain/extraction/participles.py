"""Past participles of English verbs, and back from "-ing"."""

from __future__ import annotations

import re

_IRREGULAR = dict(
    pair.split(":")
    for pair in """be:been become:become begin:begun break:broken bring:brought build:built
    buy:bought catch:caught choose:chosen cut:cut do:done draw:drawn drive:driven eat:eaten
    find:found forget:forgotten get:got give:given go:gone hear:heard hide:hidden hold:held
    keep:kept know:known leave:left let:let make:made mean:meant meet:met pay:paid put:put
    read:read run:run say:said see:seen sell:sold send:sent set:set show:shown shut:shut
    speak:spoken spell:spelled spend:spent split:split take:taken teach:taught tell:told
    think:thought throw:thrown understand:understood wake:woken wear:worn write:written
    rewrite:rewritten""".split()
)
_DOUBLING = re.compile(r"^[^aeiou]*[aeiou][bdgklmnprt]$")


def past_participle(lemma: str) -> str:
    """Return the past participle of a base form."""
    word = lemma.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ied"
    return word + (word[-1] if _DOUBLING.match(word) else "") + "ed"


_E_DROPPED = re.compile(r"(?:^|[^aeiou])[aeiou][bcdfgkmnprstvz]$")
_DOUBLED = re.compile(r"([bdgmnprt])\1$")


def base_of(gerund: str) -> str:
    """Return the base form of a word in "-ing": "smoking" gives "smoke"."""
    stem = gerund.lower().removesuffix("ing")
    if _DOUBLED.search(stem):
        return stem[:-1]
    return stem + "e" if _E_DROPPED.search(stem) else stem
