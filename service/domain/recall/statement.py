"""A question as the statement that an answer would make true: what the entailment model is asked.

"Where does the user live" becomes "the user live somewhere". The grammar is rough, which the model
does not mind; measured against asking the question itself it lets less noise through and hides
fewer answers (``docs/recall.md``). For the idea see D. Demszky, K. Guu and P. Liang, "Transforming
question answering datasets into natural language inference datasets", 2018.
"""

from __future__ import annotations

import re
from typing import Final

_AUXILIARY: Final = (
    "is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|must|may"
)
_WH: Final = re.compile(
    r"(when|where|who|whom|why|what|which|how(?: (?:many|much|often|long|old|tall|big|far))?)"
    r"(['’]s)?\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
_YES_NO: Final = re.compile(
    rf"({_AUXILIARY}) (the user(?:['’]s \w+)?|\w+) (.*)", re.IGNORECASE | re.DOTALL
)
_INVERTED: Final = re.compile(
    rf"((?:[\w'’-]+ )*?)\b({_AUXILIARY})\b(.*)", re.IGNORECASE | re.DOTALL
)
_FILLERS: Final = {
    "when": "at some time",
    "where": "somewhere",
    "who": "someone",
    "whom": "someone",
    "why": "for some reason",
    "how": "somehow",
    "how many": "some number of",
    "how much": "some amount",
    "how often": "regularly",
    "how long": "for some time",
}
_BE: Final = frozenset({"is", "are", "was", "were", "am"})
_DO: Final = frozenset({"do", "does", "did"})


def statement(spoken: str) -> str:
    """Return the statement that answers to a question share; a mere topic stays as it is."""
    text = " ".join(spoken.split()).rstrip("?").strip()
    question = _WH.fullmatch(text)
    if question is not None:
        is_ = "is" if question[2] else ""
        return _of_wh(question[1].lower(), f"{is_} {question[3].strip()}".strip())
    asked = _YES_NO.fullmatch(text)
    return f"{asked[2]} {asked[1].lower()} {asked[3]}" if asked else text


def _of_wh(word: str, rest: str) -> str:
    inverted = _INVERTED.fullmatch(rest)
    if inverted is None:
        return f"{_filler(word)} {rest}" if word in ("who", "what") else rest
    noun, auxiliary, tail = inverted[1].strip(), inverted[2].lower(), inverted[3].strip()
    filler = _filler(word)
    if noun:
        filler = f"{filler} {noun}" if word.startswith("how") else f"some {noun}"
    if auxiliary in _BE:
        return f"{tail} {auxiliary} {filler}"
    return f"{tail} {filler}" if auxiliary in _DO else f"{tail} {auxiliary} {filler}"


def _filler(word: str) -> str:
    return _FILLERS.get(word, "some amount" if word.startswith("how ") else "something")
