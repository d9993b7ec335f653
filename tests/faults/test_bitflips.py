"""A single flipped bit: where content changed, verification says so; it never ends in a crash.

Content is what the log consists of: entries, bodies, head and tree. A change of it is a difference
in a full dump of those tables, see ``filebits``. Free space, unused bytes and indexes are not
content: verification may complain about them, and must not stumble over them. Decisions, memories
and users are vouched for by the log, and tried value by value; other tables are not.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from service.domain.errors import Unavailable
from tests.faults.books import verify
from tests.faults.deeds import open_log, remember
from tests.faults.filebits import REFUSED, SQLITE, Victim
from tests.faults.flips import LOG, STATES, Bit, bits, open_to_change, report_with
from tests.faults.marks import HOURS, LONG

SOME_VALUES, SOME_BYTES = 500, 250
NOT_IN_THE_LOG = {("decision", "recorded_at"), ("memory", "position"), ("memory", "folded")}
"""Columns to search and sort by, and the time of a decision, for which its entry's counts."""
SEPARATORS = (10, 19)
"""Places in a stored time where other characters give the same moment."""
BITS_OF_A_BYTE = 8
EACH_BYTE = int(os.environ.get("FAULTS_BITS_OF_A_BYTE", "1"))


@pytest.fixture
def small(path) -> Path:
    """A closed database with a handful of entries."""
    database = open_log(path)
    for number in range(3):
        remember(database, f"{number}")
    database.close()
    return path


def missed(path: Path, chosen: Iterable[Bit]) -> list[Bit]:
    """Return the bits whose flip verification does not find."""
    with open_to_change(path) as opened:
        reports = ((bit, report_with(opened, bit)) for bit in chosen)
        return [bit for bit, report in reports if report is not None and report.ok]


def bits_of_the_log(path: Path) -> list[Bit]:
    with open_to_change(path) as opened:
        return bits(opened, LOG)


def bits_of_states(path: Path) -> list[Bit]:
    """Return the bits of decisions, memories and users that the log vouches for."""
    with open_to_change(path) as opened:
        return [bit for bit in bits(opened, STATES) if not _is_free(bit)]


def _is_free(bit: Bit) -> bool:
    separator = bit.column.endswith("_at") and bit.number // BITS_OF_A_BYTE in SEPARATORS
    return separator or (bit.table, bit.column) in NOT_IN_THE_LOG


def test_a_bit_of_any_value_of_the_log_is_found(small):
    everything = bits_of_the_log(small)
    assert {bit.table for bit in everything} == {"entry", "body", "head", "node"}
    rare = [bit for bit in everything if bit.table in ("head", "node")]
    chosen = random.sample(everything, SOME_VALUES) + random.sample(rare, SOME_VALUES // 4)
    assert missed(small, chosen) == []


def test_a_bit_of_any_decision_memory_or_user_is_found(small):
    assert missed(small, random.sample(bits_of_states(small), SOME_VALUES // 2)) == []


@pytest.mark.parametrize(
    "every",
    [pytest.param(bits_of_the_log, marks=LONG), pytest.param(bits_of_states, marks=LONG)],
)
def test_every_bit_of_every_value_is_found(small, every):
    assert missed(small, every(small)) == []


def flip(victim: Victim, where: Iterable[tuple[int, int]]) -> Counter[tuple[str, str]]:
    """Flip bits of the file; count what happened, and fail on the first that nobody noticed."""
    counts: Counter[tuple[str, str]] = Counter()
    for offset, bit in where:
        flipped = victim.flip(offset, bit)
        assert not flipped.missed(victim.original), flipped
        change = "same" if flipped.dump == victim.original else "changed"
        counts[REFUSED if flipped.dump.startswith(REFUSED) else change, flipped.verdict] += 1
    return counts


def test_a_bit_of_any_byte_of_the_file_is_found_or_changes_nothing(small, tmp_path):
    victim = Victim(small, tmp_path / "copy" / "copy.db")
    used = [offset for offset, byte in enumerate(victim.data) if byte]
    places = random.choices(used, k=SOME_BYTES)
    places += random.choices(range(len(victim.data)), k=SOME_BYTES // 4)
    counts = flip(victim, ((place, random.randrange(BITS_OF_A_BYTE)) for place in places))
    assert counts["changed", "not ok"]
    assert counts["same", "ok"]
    assert {change for change, _ in counts} == {"same", "changed", REFUSED}


@pytest.mark.faults_long
@pytest.mark.timeout(HOURS * 3600)
def test_a_bit_of_every_byte_of_the_file_is_found_or_changes_nothing(small, tmp_path, capsys):
    victim = Victim(small, tmp_path / "copy" / "copy.db")
    each = range(BITS_OF_A_BYTE)
    counts = flip(
        victim,
        ((at, bit) for at in range(len(victim.data)) for bit in random.sample(each, EACH_BYTE)),
    )
    with capsys.disabled():
        print(f"\n{len(victim.data)} bytes, {EACH_BYTE} bit(s) each: {dict(counts)}")


LATER = "UPDATE head SET ts = '2036-11-29T17:00:00.000000Z'"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE head SET id = 3",
        "INSERT INTO head SELECT 2, origin, size, leaf, ts FROM head",
        "UPDATE head SET origin = CAST(x'ff' AS TEXT)",
        "UPDATE head SET leaf = 'no hash'",
        LATER,
    ],
)
def test_a_head_that_is_not_as_it_should_be(small, statement):
    """What single flips led to: each of these was once taken for good, or ended in a crash."""
    with closing(SQLITE.connect(small, isolation_level=None)) as attacker:
        attacker.execute("PRAGMA ignore_check_constraints = ON")
        guards = attacker.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'head'"
        ).fetchall()
        for name, _ in guards:
            attacker.execute(f"DROP TRIGGER {name}")
        attacker.execute(statement)
        for _, text in guards:
            attacker.execute(text)
    assert not verify(small).ok
    if statement != LATER:  # which only verification knows
        with pytest.raises(Unavailable, match="head of the audit log is damaged"):
            open_log(small)
