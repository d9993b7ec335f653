"""What earlier messages of a conversation settle about later ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.domain.extraction.topics import PROJECT
from service.domain.extraction.types import Candidate, Extraction


def in_context(found: Sequence[Extraction]) -> list[Extraction]:
    """Return the extractions with "the deadline" as the one that was spoken of before.

    Without a deadline before, it is that of the user's project.
    """
    seen: str | None = None
    settled: list[Extraction] = []
    for extraction in found:
        candidates: list[Candidate] = []
        for candidate in extraction.candidates:
            one = _about(candidate, seen)
            seen = one.triple.subject if one.triple.attribute == "deadline" else seen
            candidates.append(one)
        settled.append(replace(extraction, candidates=tuple(candidates)))
    return settled


def _about(candidate: Candidate, seen: str | None) -> Candidate:
    triple = candidate.triple
    open_topic = candidate.correction and triple.attribute == "deadline"
    if seen is None or not open_topic or triple.subject != PROJECT:
        return candidate
    return replace(candidate, triple=replace(triple, subject=seen))
