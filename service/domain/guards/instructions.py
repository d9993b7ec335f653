"""Text that tries to give orders to whoever reads it."""

from __future__ import annotations

import re

_PATTERNS = (
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|"
    r"all|any|your|system|safety)\b[^.\n]{0,30}\b(?:instruction|prompt|rule|message|guideline|polic)",
    r"\b(?:you are|act as|pretend to be|from now on you(?:'re| are| will| must))\b[^.\n]{0,40}"
    r"\b(?:assistant|ai|model|dan|admin|root|developer mode|system)\b",
    r"\b(?:system prompt|developer message|jailbreak)\b",
    r"\b(?:save|store|record|remember|add|write|note)\b[^.\n]{0,30}\b(?:to|in|into|as)\b[^.\n]{0,20}"
    r"\b(?:memory|memories|long[- ]term|profile|fact)\b",
    r"\b(?:always|never)\b[^.\n]{0,20}\b(?:reply|respond|answer|say|recommend|trust|approve|obey)\b",
    r"<\/?(?:system|instructions?|tool|assistant)>|\[\/?INST\]|<\|im_(?:start|end)\|>",
    r"^\s*(?:system|assistant|developer)\s*:",
)
_INJECTION = re.compile("|".join(_PATTERNS), re.IGNORECASE | re.MULTILINE)
_RECALLED = re.compile(
    r"^\s*[\[(<]\s*(?:recalled|retrieved|memory|memories|recalled memory|context|from memory)\b",
    re.IGNORECASE,
)


def is_instruction(text: str) -> bool:
    """Return whether a text orders its reader about instead of stating something."""
    return bool(_INJECTION.search(text))


def is_recalled(text: str) -> bool:
    """Return whether a text is a memory fed back into the conversation."""
    return bool(_RECALLED.search(text))
