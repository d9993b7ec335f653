"""Words by which a message says that it corrects something."""

from __future__ import annotations

import re

_CUES = re.compile(
    r"\b(?:actually|correction|i meant|scratch that|my mistake|i was wrong|turns out|no longer|"
    r"any ?more|instead|not any longer|switched (?:from|to)|changed (?:from|to)|moved (?:from|to)|"
    r"gone off|my new|changed (?:my|our)|"
    r"these days)\b|^(?:sorry|wait|no)\b[,.:; ]|(?<!right )(?<!for )(?<!by )(?<!until )"
    r"(?<!from )(?<!up to )\bnow\b(?! that)",
    re.IGNORECASE,
)


def has_cue(text: str) -> bool:
    """Return whether a text says that it changes or corrects what was said before."""
    return bool(_CUES.search(text.strip()))
