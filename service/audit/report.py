"""The outcome of a verification, and what it means in plain words."""

from __future__ import annotations

from dataclasses import dataclass

PROBLEMS_LISTED = 100
"""At most this many problems of one level are spelt out; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Level:
    """The outcome of one level; ``ok`` is ``None`` when not (or not all of) it could be checked.

    ``notes`` say what was left out; they are not problems.
    """

    number: int
    name: str
    ok: bool | None
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """The newest checkpoint that the log was compared with.

    ``root`` is hex; ``outside`` tells whether it was held elsewhere (or kept with the log);
    ``fits`` whether the log's first ``size`` entries are the ones that were signed.
    """

    size: int
    root: str
    outside: bool
    fits: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a verification.

    ``broken_at`` were changed, ``compromised`` are untouched but downstream of a change or gap,
    ``missing`` lack their entry, or a body that no erasure accounts for. ``reason`` is ``intact``
    or a code for the first thing found wrong. ``covered`` counts the entries, from the first, that
    a checkpoint held elsewhere vouches for. ``not_excluded`` names what this verification cannot
    see, and ``statements`` say in words what was excluded and what was not. ``root`` (hex) is that
    of the tree over the entries up to the first gap.
    """

    ok: bool
    total: int
    verified: int
    broken_at: tuple[int, ...]
    compromised: tuple[int, ...]
    missing: tuple[int, ...]
    reason: str
    levels: tuple[Level, ...]
    not_excluded: tuple[str, ...]
    statements: tuple[str, ...]
    origin: str
    root: str
    covered: int
    checkpoint: Compared | None


def level(number: int, name: str, problems: list[str], *notes: str, whole: bool = True) -> Level:
    """Return a level that was looked at; ``whole`` is false if a part could not be checked."""
    ok = False if problems else True if whole else None
    more = len(problems) - PROBLEMS_LISTED
    if more > 0:
        problems = [*problems[:PROBLEMS_LISTED], f"and {more} more"]
    return Level(number, name, ok, tuple(problems), notes)


def unchecked(number: int, name: str, why: str) -> Level:
    """Return a level that there was nothing to check on."""
    return Level(number, name, None, (), (why,))


def not_excluded(covered: int, total: int) -> tuple[str, ...]:
    """Return codes for the attacks that nothing speaks against."""
    if covered == 0:
        return ("rewriting", "truncation")
    later = ("rewriting_after_checkpoint",) if covered < total else ()
    return (*later, "truncation_after_checkpoint")


def statements(covered: int, total: int, signed: int) -> tuple[str, ...]:
    """Say what was excluded, and what was not.

    ``covered`` and ``signed`` count the entries that fit a checkpoint held elsewhere, and a signed
    one that is kept with the log.
    """
    said: list[str] = []
    if signed > covered:
        said.append(
            f"A signed checkpoint kept with the log fits entries 0 to {signed - 1}: only somebody "
            "with the signing key could have changed them. That log and checkpoint together were "
            "replaced by an earlier state of both is not excluded."
        )
    if covered == 0:
        return (
            *said,
            "No checkpoint from outside was compared. Rewriting (entries changed and everything "
            "after them recomputed) and truncation (entries cut off the end) are NOT excluded.",
        )
    said.append(
        f"Entries 0 to {covered - 1} are exactly those of a checkpoint held elsewhere: that they "
        "were rewritten, or any of them cut off, is excluded."
    )
    if covered < total:
        said.append(
            f"Entries {covered} to {total - 1} came after that checkpoint: that they were "
            "rewritten is NOT excluded."
        )
    said.append(
        f"That there once were more than {total} entries, cut off since, is NOT excluded: no "
        "checkpoint says so."
    )
    return tuple(said)
