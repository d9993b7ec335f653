"""Verifying a log, level by level.

0  the file is whole and the triggers that stop accidents are there;
1  the chain: every entry is canonical, in its place, and linked from the genesis to the head;
4  every text opens its commitment, and a missing one was erased on the record.

Levels 2 and 3 (the tree, checkpoints held elsewhere) need a signed checkpoint. Without one, whoever
can write to the database can recompute the chain from any point to its end, or cut it and fix the
head; ``not_excluded`` says so in every report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.audit.bodies import BodyCheck
from service.audit.chain import ChainCheck
from service.audit.rows import AuditRow, FileState, Head


@dataclass(frozen=True, slots=True)
class Level:
    """The outcome of one level; ``ok`` is ``None`` when there was nothing to check it on."""

    number: int
    name: str
    ok: bool | None
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a verification.

    ``broken_at`` were changed, ``compromised`` are untouched but downstream of a change or gap,
    ``missing`` lack their entry, or a body that no erasure accounts for. ``reason`` is ``intact``
    or a code for the first thing found wrong.
    """

    ok: bool
    total: int
    verified: int
    broken_at: tuple[int, ...]
    compromised: tuple[int, ...]
    missing: tuple[int, ...]
    reason: str
    levels: tuple[Level, ...]
    not_excluded: tuple[str, ...] = ("rewriting", "truncation")


def verify(
    rows: Iterable[AuditRow], *, origin: str, head: Head | None, file: FileState | None = None
) -> Report:
    """Verify a log that claims to be ``origin``, which the caller knows from elsewhere.

    ``rows`` are all entries in order of ``seq``. Without ``head`` or ``file`` (an export has
    neither), what depends on them is reported as not checked.
    """
    chain, bodies = ChainCheck(origin), BodyCheck()
    for row in rows:
        entry = chain.feed(row)
        if entry is not None:
            bodies.feed(row.seq, entry, row.bodies)
    chain.finish(head)
    bodies.finish()
    return _report(chain, bodies, file)


def _report(chain: ChainCheck, bodies: BodyCheck, file: FileState | None) -> Report:
    broken = chain.broken.keys() | bodies.broken.keys()
    compromised = chain.compromised - broken
    levels = (_file_level(file), _chain_level(chain), _body_level(bodies))
    return Report(
        ok=not any(level.ok is False for level in levels),
        total=chain.total,
        verified=chain.total - len(broken) - len(compromised),
        broken_at=tuple(sorted(broken)),
        compromised=tuple(sorted(compromised)),
        missing=tuple(sorted({*chain.missing, *bodies.missing})),
        reason=_reason(chain, bodies, levels[0]),
        levels=levels,
    )


def _reason(chain: ChainCheck, bodies: BodyCheck, file: Level) -> str:
    found = {
        "chain_broken": bool(chain.broken),
        "entries_missing": bool(chain.missing),
        "head_mismatch": chain.head_fault is not None,
        "body_changed": bool(bodies.broken),
        "body_missing": bool(bodies.missing),
        "file_damaged": file.ok is False,
    }
    return next((code for code, wrong in found.items() if wrong), "intact")


def _file_level(file: FileState | None) -> Level:
    if file is None:
        return Level(0, "file and triggers", None, ())
    problems = (*file.problems, *_trigger_problems(file))
    return Level(0, "file and triggers", not problems, problems)


def _trigger_problems(file: FileState) -> tuple[str, ...]:
    return tuple(
        f"trigger {name} is {'changed' if name in file.triggers else 'missing'}"
        for name, text in file.expected_triggers.items()
        if file.triggers.get(name) != text
    )


def _chain_level(chain: ChainCheck) -> Level:
    problems = [*_numbered(chain.broken)]
    if chain.missing:
        problems.append(f"{len(chain.missing)} entries are missing, from {chain.missing[0]}")
    if chain.head_fault is not None:
        problems.append(chain.head_fault)
    return Level(1, "chain", not problems, tuple(problems))


def _body_level(bodies: BodyCheck) -> Level:
    gone = (f"entry {seq}: a body is missing and was not erased" for seq in bodies.missing)
    problems = (*_numbered(bodies.broken), *gone)
    return Level(4, "bodies", not problems, problems)


def _numbered(faults: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(f"entry {seq}: {fault}" for seq, fault in sorted(faults.items()))
