"""The eight attacks on a log, by somebody who can write to the database and knows the format.

The attacker recomputes hashes, tree, head, search columns and business rows as each attack needs.
Without a checkpoint from outside, a history that was rewritten as a whole cannot be told from a
true one: those attacks have to be caught with one, and the table says which they are.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from service.adapters.verifying import Known, verify_database
from service.audit.canonical import canonicalise
from service.audit.entry import EntryDraft, parse_entry, seal
from service.audit.notes import Checkpoint, VerifierKey, checkpoint_text, sign_note
from service.audit.verify import Report
from tests.faults.attacker import Attacker, attacking
from tests.faults.deeds import SCOPE, open_log, remember

CASES = Path(__file__).parents[1] / "cases" / "audit.jsonl"
TARGET, LATER = 4, 6  # two decisions in a log of nine entries
LAST = 8


def edit(attacker: Attacker) -> None:
    attacker.turn(TARGET)


def edit_and_relink(attacker: Attacker) -> None:
    attacker.turn(TARGET)
    attacker.relink(TARGET + 1)
    attacker.finish()


def delete(attacker: Attacker) -> None:
    attacker.remove(TARGET)


def delete_and_relink(attacker: Attacker) -> None:
    attacker.remove(TARGET)
    attacker.close_gap(TARGET)
    attacker.relink(TARGET)
    attacker.finish()


def cut_the_tail(attacker: Attacker) -> None:
    for seq in range(LAST, LATER, -1):
        attacker.remove(seq)


def cut_and_fix_the_head(attacker: Attacker) -> None:
    cut_the_tail(attacker)
    attacker.finish()


def decision_without_entry(attacker: Attacker) -> None:
    attacker.invent_decision()


def swap(attacker: Attacker) -> None:
    attacker.exchange(TARGET, LATER)


ATTACKS = (
    edit,
    edit_and_relink,
    delete,
    delete_and_relink,
    cut_the_tail,
    cut_and_fix_the_head,
    decision_without_entry,
    swap,
)
ONLY_FROM_OUTSIDE = {edit_and_relink, delete_and_relink, cut_and_fix_the_head}


@dataclass(frozen=True)
class Kept:
    """What somebody outside knows: the log's name and key, and its last checkpoint."""

    origin: str
    key: str
    note: str

    @property
    def nothing(self) -> Known:
        return Known(self.origin)

    @property
    def all(self) -> Known:
        return Known(self.origin, keys=(self.key,), outside=(self.note,))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Kept]:
    """A log of nine entries, and the checkpoint that somebody kept of it."""
    path = tmp_path_factory.mktemp("attacks") / "data" / "groundkeeper.db"
    database = open_log(path)
    for number in range(4):
        remember(database, f"key {number}", f"I have {number} cats.")
    head, root = database.read(SCOPE, lambda tx: (tx.audit.head(), tx.audit.root()))
    database.close()
    assert head.size == LAST + 1
    private = Ed25519PrivateKey.generate()
    key = VerifierKey(head.origin, private.public_key().public_bytes_raw())
    text = checkpoint_text(Checkpoint(head.origin, head.size, root))
    return path, Kept(head.origin, key.text(), sign_note(text, key, private.sign))


@pytest.fixture
def attacked(log, tmp_path) -> Callable[[Callable[[Attacker], None]], Path]:
    """Attack a copy of the log; returns where it is."""

    def attacked(attack: Callable[[Attacker], None]) -> Path:
        path = tmp_path / f"{attack.__name__}.db"
        shutil.copyfile(log[0], path)
        with attacking(path) as attacker:
            attack(attacker)
        return path

    return attacked


def test_an_untouched_log_is_good_either_way(log):
    path, kept = log
    for known in (kept.nothing, kept.all):
        report = verify_database(path, known)
        assert report.ok, report
        assert report.verified == report.total == LAST + 1


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_every_attack_is_caught_with_a_checkpoint_from_outside(attacked, log, attack):
    report = verify_database(attacked(attack), log[1].all)
    assert not report.ok
    assert report.reason != "intact"


def test_which_attacks_are_caught_without_one(attacked, log, capsys):
    kept = log[1]
    reports = {attack: verify_database(attacked(attack), kept.nothing) for attack in ATTACKS}
    with capsys.disabled():
        print(f"\n{'attack':24} {'without a checkpoint':34} with one from outside")
        for attack, report in reports.items():
            outside = verify_database(attacked(attack), kept.all)
            print(f"{attack.__name__:24} {told(report):34} {told(outside)}")
    assert {attack for attack, report in reports.items() if report.ok} == ONLY_FROM_OUTSIDE
    for attack in ONLY_FROM_OUTSIDE:
        assert reports[attack].not_excluded == ("rewriting", "truncation")
        assert "NOT excluded" in " ".join(reports[attack].statements)


def told(report: Report) -> str:
    if report.ok:
        return "NOT caught (not excluded)"
    levels = ", ".join(str(level.number) for level in report.levels if level.ok is False)
    return f"caught: {report.reason} ({levels})"


def test_the_changed_the_missing_and_the_downstream_are_told_apart(attacked, log):
    found = {
        attack: verify_database(attacked(attack), log[1].nothing)
        for attack in (edit, delete, cut_the_tail, swap)
    }
    after = tuple(range(TARGET + 1, LAST + 1))
    assert (found[edit].broken_at, found[edit].compromised) == ((TARGET,), after)
    assert (found[delete].missing, found[delete].compromised) == ((TARGET,), after)
    assert found[cut_the_tail].missing == tuple(range(LATER + 1, LAST + 1))
    assert {TARGET, LATER} <= set(found[swap].broken_at)


def load(case_id: str) -> dict:
    cases = map(json.loads, CASES.read_text(encoding="utf-8").splitlines())
    return next(case for case in cases if case["id"] == case_id)


def test_case_a_deleted_entry_whose_neighbours_were_relinked(attacked, log):
    expected = load("aud-001")["expect"]

    def delete_third_and_link_fourth(attacker: Attacker) -> None:
        before = attacker.entry(3)
        old = attacker.entry(4)
        attacker.put(4, seal(old.draft, log=old.log, seq=4, ts=old.ts, prev=before.prev))
        attacker.remove(3)

    report = verify_database(attacked(delete_third_and_link_fourth), log[1].nothing)
    assert report.ok is expected["valid"]
    assert report.broken_at[0] == expected["first_bad_seq"]
    assert report.missing == (3,)


def test_case_a_recomputed_suffix_of_the_same_length(attacked, log):
    expected = load("aud-003")["expect"]
    report = verify_database(attacked(edit_and_relink), log[1].all)
    assert report.ok is expected["valid"]
    assert report.total == LAST + 1
    assert report.reason == "checkpoint_mismatch"


def test_case_the_order_of_keys_changes_nothing(path):
    case = load("aud-008")
    one, other = case["request"]["entries"]
    assert (canonicalise(one) == canonicalise(other)) is case["expect"]["same_hash_payload"]
    scores = [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
    drafts = [
        EntryDraft(
            "check.decided",
            SCOPE.actor,
            decision={"id": None, "verdict": None, "reason_code": None, "scores_e6": given},
        )
        for given in scores
    ]
    place = {"log": "o", "seq": 0, "ts": "2026-11-29T17:00:00.123456Z", "prev": "0" * 64}
    assert seal(drafts[0], **place).data == seal(drafts[1], **place).data
    database = open_log(path)
    for draft in drafts:
        database.write(SCOPE, lambda tx, given=draft: tx.audit.append(given, {}))
    database.close()
    again = open_log(path)
    rows = again.read(SCOPE, lambda tx: list(tx.audit.scan()))
    again.close()
    assert [parse_entry(row.entry).data for row in rows] == [row.entry for row in rows]
    report = verify_database(path, Known())
    assert report.levels[1].ok is case["expect"]["valid_after_restart"]
