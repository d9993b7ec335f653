"""The levels of a verification that one check each decides."""

from __future__ import annotations

from collections.abc import Mapping

from service.audit.bodies import BodyCheck
from service.audit.chain import ChainCheck
from service.audit.report import Level, level, unchecked
from service.audit.rows import FileState

LEVELS = ("file and triggers", "chain", "tree", "outside checkpoints", "bodies", "business tables")
NO_BODIES = "there are no texts here"


def file_level(file: FileState | None) -> Level:
    """Return level 0: what the storage says about itself, and its triggers."""
    if file is None:
        return unchecked(0, LEVELS[0], "there is no database file here")
    changed = [
        f"trigger {name} is {'changed' if name in file.triggers else 'missing'}"
        for name, text in file.expected_triggers.items()
        if file.triggers.get(name) != text
    ]
    strange = [f"trigger {n} is not ours" for n in file.triggers.keys() - file.expected_triggers]
    return level(0, LEVELS[0], [*file.problems, *changed, *sorted(strange)])


def chain_level(chain: ChainCheck, *, has_head: bool) -> Level:
    """Return level 1 of a chain that was followed to its end."""
    problems = [*_numbered(chain.broken)]
    if chain.missing:
        problems.append(f"{len(chain.missing)} entries are missing, from {chain.missing[0]}")
    if chain.head_fault is not None:
        problems.append(chain.head_fault)
    notes = () if has_head else ("no head to compare the last entry with",)
    return level(1, LEVELS[1], problems, *notes)


def body_level(bodies: BodyCheck) -> Level:
    """Return level 4; what could not be decrypted for lack of keys was not checked."""
    gone = [f"entry {seq}: a body is missing and was not erased" for seq in bodies.missing]
    notes = [f"{bodies.checked} bodies open their commitments"] if bodies.checked else []
    if bodies.locked:
        notes.append(f"{bodies.locked} bodies are encrypted and no keys were given: not checked")
    problems = [*_numbered(bodies.broken), *gone]
    return level(4, LEVELS[4], problems, *notes, whole=not bodies.locked)


def _numbered(faults: Mapping[int, str]) -> tuple[str, ...]:
    return tuple(f"entry {seq}: {fault}" for seq, fault in sorted(faults.items()))
