"""The canonical text of a fact: a whole sentence in the third person."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from service.domain.extraction.lexicon import ASIDES, OPENERS
from service.domain.extraction.phrases import trimmed
from service.domain.syntax import ParsedText, Token
from service.domain.third_person import to_third_person

_LOOSE = frozenset({"INTJ", "PUNCT", "SPACE", "CCONJ"})
_CONTRACTED = re.compile(r"(?<=\buser)['’](m|ve|re)\b")
_WHOLE = {"m": "is", "ve": "has", "re": "is"}
_KEPT_ADVERBS = frozenset({"still", "then"})


def sentence(text: str) -> str:
    """Return a text as a sentence: capital first, full stop last."""
    plain = " ".join(text.split()).strip(" ,;:-–—")
    if not plain:
        return ""
    return plain[:1].upper() + plain[1:] + ("" if plain[-1] in ".!" else ".")


def third_person(
    parsed: ParsedText, tokens: Sequence[Token], words: Mapping[int, str] | None = None
) -> str:
    """Return tokens of a parse in the third person, with gaps where others were left out.

    ``words`` are other words to put for some tokens, by index.
    """
    given = words or {}
    pieces: list[str] = []
    for run in _runs(tokens, given):
        if run[0].index in given:
            pieces.append(f" {given[run[0].index]}" if pieces else given[run[0].index])
            continue
        text = to_third_person(parsed, run[0].start, run[-1].end)
        original = run[0].text
        if original[:1].islower() or original == "I" or not _is_name(run[0]):
            keep = original[:1].isupper() and original != "I" and run[0].pos == "PROPN"
            text = text if keep else text[:1].lower() + text[1:]
        before = parsed.tokens[run[0].index - 1] if run[0].index else None
        joined = before is not None and before.end == run[0].start and before in tokens
        attached = bool(pieces) and (joined or text[:1] in ",'’")
        pieces.append(text if attached or not pieces else f" {text}")
    return _CONTRACTED.sub(lambda m: f" {_WHOLE[m.group(1)]}", "".join(pieces))


def _is_name(token: Token) -> bool:
    return token.pos == "PROPN" or token.entity != ""


def _runs(tokens: Sequence[Token], given: Mapping[int, str]) -> list[list[Token]]:
    runs: list[list[Token]] = []
    for token in tokens:
        follows = bool(runs) and token.index == runs[-1][-1].index + 1
        if follows and token.index not in given and runs[-1][-1].index not in given:
            runs[-1].append(token)
        else:
            runs.append([token])
    return runs


def without_asides(tokens: Sequence[Token]) -> list[Token]:
    """Return a clause without what opens it ("Actually, and, well") and asides beside it."""
    words = _cut_asides(list(tokens))
    while words and _is_opener(words):
        words.pop(0)
    while words and words[-1].pos in _LOOSE and words[-1].text not in "%)]\"'”":
        words.pop()
    return words


def _is_opener(words: Sequence[Token]) -> bool:
    token = words[0]
    if token.pos in _LOOSE and token.text not in '$£€("“':
        return True
    if token.lower not in OPENERS or token.lower in _KEPT_ADVERBS:
        return False
    determiner = token.dep == "det" or token.dep in ("nsubj", "neg")
    return not determiner


def _cut_asides(words: list[Token]) -> list[Token]:
    for aside in ASIDES:
        wanted = aside.split()
        for place in range(len(words) - len(wanted) + 1):
            if [t.lower for t in words[place : place + len(wanted)]] == wanted:
                words = words[:place] + words[place + len(wanted) :]
                break
    return words


def without(tokens: Sequence[Token], dropped: frozenset[int]) -> list[Token]:
    """Return tokens without some, and without punctuation that is left hanging."""
    kept = [t for t in tokens if t.index not in dropped]
    return trimmed(
        [
            t
            for place, t in enumerate(kept)
            if not (t.text == "," and place + 1 < len(kept) and kept[place + 1].text in ",.;")
        ]
    )
