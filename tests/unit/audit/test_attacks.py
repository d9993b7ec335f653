"""What somebody who can write to the database might try. Numbering starts at 0."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit.chain import ChainCheck, leaf_hash
from service.audit.entry import parse_entry
from service.audit.rows import AuditRow, FileState, Head
from service.audit.verify import verify


def test_an_untouched_log_is_intact(log):
    report = log.verify()
    assert report.ok
    assert report.reason == "intact"
    assert (report.total, report.verified) == (7, 7)
    assert report.broken_at == report.compromised == report.missing == ()


def test_an_empty_log_is_intact(make_log):
    assert make_log(0).verify().ok


def test_edit(log):
    log.edit(3, rehash=False)
    report = log.verify()
    assert (report.broken_at, report.compromised) == ((3,), (4, 5, 6))
    assert (report.ok, report.verified, report.reason) == (False, 3, "chain_broken")


@pytest.mark.parametrize("at", range(7))
def test_edit_and_rehash_blames_the_changed_entry(log, at):
    log.edit(at)
    report = log.verify()
    assert not report.ok
    if at < 6:
        assert report.broken_at == (at,)
        assert report.compromised == tuple(range(at + 1, 7))
    else:
        assert report.reason == "head_mismatch"


def test_edit_and_relink_does_not_match_the_head(log):
    log.edit(3)
    log.relink(4)
    report = log.verify()
    assert (report.ok, report.reason) == (False, "head_mismatch")


def test_edit_relink_and_fix_the_head_is_not_excluded_without_a_checkpoint(log):  # aud-003
    log.edit(4)
    log.relink(5)
    log.fix_head()
    report = log.verify()
    assert report.ok, "the chain alone cannot see this"
    assert report.not_excluded == ("rewriting", "truncation")


def test_delete(log):
    del log.rows[3]
    report = log.verify()
    assert (report.missing, report.broken_at, report.compromised) == ((3,), (), (4, 5, 6))
    assert (report.ok, report.reason) == (False, "entries_missing")


def test_delete_and_relink_the_next(log):  # aud-001
    del log.rows[3]
    log.edit(3, prev=log.rows[2].leaf)
    report = log.verify()
    assert not report.ok
    assert (report.missing, report.broken_at, report.compromised) == ((3,), (4,), (5, 6))


def test_delete_relink_all_and_fix_the_head(log):
    del log.rows[3]
    log.relink(3)
    log.fix_head()
    report = log.verify()
    assert not report.ok
    assert report.missing == (3,)
    assert report.broken_at == (4,)


def test_delete_the_first(log):
    del log.rows[0]
    assert log.verify().missing == (0,)


def test_cut_the_tail(log):
    del log.rows[5:]
    report = log.verify()
    assert (report.ok, report.missing) == (False, (5, 6))


def test_cut_the_tail_and_fix_the_head_is_not_excluded(log):
    del log.rows[5:]
    log.fix_head()
    report = log.verify()
    assert report.ok
    assert "truncation" in report.not_excluded


def test_append_beyond_the_head(log, make_log):
    log.head = replace(log.head, size=6)
    assert log.verify().reason == "head_mismatch"


def test_swap(log):
    first, second = log.rows[2], log.rows[4]
    log.rows[2], log.rows[4] = replace(second, seq=2), replace(first, seq=4)
    report = log.verify()
    assert {2, 4} <= set(report.broken_at)
    assert not report.ok


def test_rows_out_of_order(log):
    log.rows[2], log.rows[4] = log.rows[4], log.rows[2]
    assert not log.verify().ok


def test_a_forged_future_blames_nobody_else(log):
    log.put(3, parse_entry(log.rows[3].entry.replace(b"2026-11", b"9999-11")), rehash=False)
    report = log.verify()
    assert (report.broken_at, report.compromised) == ((3,), (4, 5, 6))


def test_a_row_twice(log):
    log.rows.insert(3, log.rows[2])
    report = log.verify()
    assert report.broken_at == (2,)


@pytest.mark.parametrize("leaf", ["", None, "00" * 32])
def test_strip_the_hash(log, leaf):
    log.rows[3] = replace(log.rows[3], leaf=leaf)
    report = log.verify()
    assert 3 in report.broken_at
    assert not report.ok


def test_search_columns_that_disagree(log):
    log.rows[3] = replace(log.rows[3], columns=log.rows[3].columns | {"verdict": "REJECT"})
    assert log.verify().broken_at == (3,)


def test_a_log_of_another_origin(log):
    report = verify(log.rows, origin="groundkeeper/other", head=log.head)
    assert report.broken_at == tuple(range(7))
    assert "the head belongs to another log" in report.levels[1].problems


def test_not_from_the_genesis(log):
    log.edit(0, prev="00" * 32)
    log.relink(1)
    log.fix_head()
    assert log.verify().broken_at == (0,)


def test_time_going_back(log):
    log.put(3, parse_entry(log.rows[3].entry.replace(b"T17:00", b"T18:00")))
    log.relink(4)
    log.fix_head()
    assert log.verify().broken_at == (4, 5, 6)


def test_a_forged_number_does_not_fill_the_memory(log):
    log.rows.append(AuditRow(2**60, b"{}", ""))
    assert len(log.verify().missing) == 10_000


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_garbage_is_reported_never_raised(data):
    rows = [AuditRow(seq, entry, leaf_hash(entry)) for seq, entry in enumerate(data)]
    report = verify(rows, origin="groundkeeper/test", head=None)
    assert report.broken_at == tuple(range(len(data)))


def test_every_bit_flip_in_a_log_is_found(log):
    data = log.rows[3].entry
    for bit in range(0, len(data) * 8, 7):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        chain = ChainCheck("groundkeeper/test")
        for row in log.rows:
            chain.feed(replace(row, entry=bytes(flipped)) if row.seq == 3 else row)
        assert 3 in chain.broken


def test_without_head_or_file_they_are_reported_as_not_checked(log):
    report = verify(log.rows, origin="groundkeeper/test", head=None)
    assert report.ok
    assert report.levels[0].ok is None


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        (FileState(("page 3 is torn",), {"t": "x"}, {"t": "x"}), "page 3 is torn"),
        (FileState((), {}, {"t": "x"}), "trigger t is missing"),
        (FileState((), {"t": "y"}, {"t": "x"}), "trigger t is changed"),
    ],
)
def test_a_damaged_file(log, state, problem):
    report = verify(log.rows, origin="groundkeeper/test", head=log.head, file=state)
    assert (report.ok, report.reason) == (False, "file_damaged")
    assert report.levels[0].problems == (problem,)


def test_a_head_that_lies_about_the_size(log):
    log.head = Head(9, log.head.leaf, log.head.origin)
    assert log.verify().missing == (7, 8)
