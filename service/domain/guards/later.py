"""Does the source take back, further on, what the evidence says?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.domain.clauses import Clause, Tense
from service.domain.evidence import same_holder
from service.domain.holders import HolderKind

_TAKEN_BACK = re.compile(
    r"^\W*(?:scratch that|forget (?:it|that)|never ?mind|sorry,? (?:typo|i mean\w*)|typo|edit|"
    r"correction|(?:just |only )?(?:kidding|joking)|april fools?|i mean|not|well,? had|"
    r"i take (?:it|that) back|i was wrong|that was a (?:lie|joke))\b(?! only| just)",
    re.IGNORECASE,
)
_ENDINGS = frozenset(
    "divorce separate split quit leave stop sell die pass retire resign cancel lose return give "
    "donate break end close move".split()
)
_PAST = frozenset({Tense.PAST, Tense.PERFECT})
_NEAR = 2


def is_taken_back(
    claim: Clause, evidence: Clause, clauses: Sequence[Clause], sentences: Sequence[str]
) -> bool:
    """Return whether a later clause ends or withdraws what the evidence states.

    "I joined Siemens in 2010 and left in 2015", "I got a cat. She passed away", "I live in Rome.
    Scratch that, …". A claim about the past stays true whatever came later. ``sentences`` are the
    texts behind the evidence's own sentence, this turn's and later ones'.
    """
    if claim.tense in _PAST or claim.ended or claim.negative:
        return False
    if any(_TAKEN_BACK.match(text) for text in sentences[:_NEAR]):
        return True
    later = [c for c in clauses if c.start > evidence.start and c is not evidence]
    near = [c for c in later if c.sentence - evidence.sentence <= _NEAR]
    return any(_ends(c, evidence, claim) for c in near)


def _ends(later: Clause, evidence: Clause, claim: Clause) -> bool:
    over = later.tense in _PAST or later.tense is Tense.NONE
    if later.lemma not in _ENDINGS or not over or later.negative:
        return False
    if later.lemma in (evidence.lemma, claim.lemma):
        return False
    same = same_holder(later.holder, evidence.holder)
    named = bool(later.holder.names & claim.content) or later.holder.kind is HolderKind.PRONOUN
    if not (same or named):
        return False
    return not _new_object(later) or bool((later.content - {later.lemma}) & claim.content)


def _new_object(clause: Clause) -> bool:
    """Return whether a clause speaks of a thing of its own besides when it happened."""
    words = clause.content - {clause.lemma} - clause.holder.names - _TIMES
    return any(not w.isdigit() for w in words)


_TIMES = frozenset(
    "year month week day yesterday today last ago summer winter spring autumn then later away up "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december".split()
)
