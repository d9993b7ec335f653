"""Pleasantries and acknowledgements, told by their words alone."""

from __future__ import annotations

import re

_CORE = frozenset(
    "ok okay k thanks thank thx ty cheers hello hi hey hiya yo howdy bye goodbye cool great nice "
    "perfect awesome lovely excellent brilliant wonderful fantastic amazing fine sure yes yeah yep "
    "yup no nope nah haha hahaha lol lmao wow oh ah hmm mhm alright right exactly indeed agreed "
    "welcome congrats congratulations sorry please worries problem morning evening afternoon night "
    "sounds good done understood noted correct absolutely definitely totally later soon fair "
    "interesting sweet neat super worked works helps helped goodnight ciao kudos understood".split()
)
_FILLER = frozenset(
    "a an the that this it it's that's its thats so very much lot lots you u your me for and but "
    "of to is was are one all really just then see got it! i'll i'm good bad day have be do now "
    "again there guys everyone everybody friend mate again works idea point makes sense talk speak "
    "how's going how enough too well i no not at in up my appreciate help helpful same here what "
    "were looking exactly awesome thing stuff tomorrow take care pleasure hope weekend".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_MAX_WORDS = 10


def is_small_talk(text: str) -> bool:
    """Return whether a text only greets, thanks, agrees or says goodbye."""
    words = [w.lower().replace("’", "'") for w in _WORD.findall(text)]
    if not words:
        return True
    if len(words) > _MAX_WORDS:
        return False
    known = all(w in _CORE or w in _FILLER for w in words)
    return known and any(w in _CORE for w in words)
