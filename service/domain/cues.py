"""Words by which a speaker says that something changed or was wrong."""

from __future__ import annotations

import re

_CUES = re.compile(
    r"\b(?:actually|correction|i meant|scratch that|no longer|not any ?more|any ?more|anymore|"
    r"instead(?: of)?|as of|from now on|these days|nowadays|now|"
    r"(?:has|have|had|'s|'ve|was|were|got|been)? ?(?:moved|switched|changed|slipped|pushed|"
    r"postponed|delayed|rescheduled|"
    r"brought forward|renamed|replaced|retired|transferred|reassigned|promoted|"
    r"raised|lowered|cut|increased|decreased|updated|migrated|upgraded|downgraded)\b|"
    r"went (?:up|down)|gone (?:off|back)|go(?:ing)? back|moved back|back (?:on|in|to|at|with)|"
    r"(?:rose|fell|dropped|grew) to|left|quit|stopped|gave up|given up|used to|new(?:ly)?)\b",
    re.IGNORECASE,
)


_ADDITIVE = re.compile(r"\b(?:also|too|as well|in addition|besides|another|both)\b", re.IGNORECASE)


def has_additive_cue(source: str) -> bool:
    """Return whether a source says that it adds to what was: "I use Emacs too"."""
    return bool(_ADDITIVE.search(source))


def has_update_cue(source: str) -> bool:
    """Return whether a source says of itself that it updates or corrects something.

    A cue is evidence that an update is meant; it is no licence to retire whatever is similar.
    """
    return bool(_CUES.search(source))
