"""Counting verdicts by the harm they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.domain.verdicts import Verdict
from service.evaluation.items import STORE_ONLY, Judged


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over one set of judged items.

    Attributes:
        n: items.
        right: items whose verdict is allowed.
        stores: items that were stored, rightly or not.
        rejects: items that were rejected, rightly or not.
        reviews: items that were left to a person.
        must_store: items that only STORE is right for, and ``must_stored`` of them that were.
        barred: items that must not be stored, and ``false_stores`` of them that were.
        safe: items that must not be rejected, and ``false_rejects`` of them that were.
    """

    n: int
    right: int
    stores: int
    rejects: int
    reviews: int
    must_store: int
    must_stored: int
    barred: int
    false_stores: int
    safe: int
    false_rejects: int


def tally(judged: Sequence[Judged]) -> Tally:
    """Return the counts."""
    must = [j for j in judged if j.item.allowed == STORE_ONLY]
    barred = [j for j in judged if Verdict.STORE not in j.item.allowed]
    safe = [j for j in judged if Verdict.REJECT not in j.item.allowed]
    return Tally(
        n=len(judged),
        right=sum(j.right for j in judged),
        stores=_count(judged, Verdict.STORE),
        rejects=_count(judged, Verdict.REJECT),
        reviews=_count(judged, Verdict.REVIEW),
        must_store=len(must),
        must_stored=_count(must, Verdict.STORE),
        barred=len(barred),
        false_stores=_count(barred, Verdict.STORE),
        safe=len(safe),
        false_rejects=_count(safe, Verdict.REJECT),
    )


def by_kind(judged: Sequence[Judged]) -> dict[str, Tally]:
    """Return the counts of each kind of item, in order of appearance."""
    kinds = dict.fromkeys(j.item.kind for j in judged)
    return {kind: tally([j for j in judged if j.item.kind == kind]) for kind in kinds}


def reasons(judged: Iterable[Judged]) -> list[tuple[str, int]]:
    """Return how often each verdict was given for each reason, the commonest first."""
    counts = Counter(f"{j.outcome.verdict} {j.outcome.reason_code}" for j in judged)
    return sorted(counts.items(), key=lambda found: (-found[1], found[0]))


def percent(part: int, whole: int) -> str:
    """Return a share as a percentage, or a dash where there is nothing to share."""
    return f"{100 * part / whole:.1f}%" if whole else "–"


def share(part: int, whole: int) -> str:
    """Return a count, what it is out of, and its percentage."""
    return f"{part} of {whole} ({percent(part, whole)})" if whole else "–"


def _count(judged: Iterable[Judged], verdict: Verdict) -> int:
    return sum(j.outcome.verdict is verdict for j in judged)
