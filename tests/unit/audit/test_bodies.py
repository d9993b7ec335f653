from dataclasses import replace

from service.audit.commitment import new_salt
from service.audit.entry import EntryDraft
from service.audit.rows import Body


def erased(*ids, subject="sub_1"):
    return EntryDraft(kind="erasure.done", actor="key_1", subject=subject, memory=ids), {}


def without_bodies(log, at):
    log.rows[at] = replace(log.rows[at], bodies={})
    return log.verify()


def test_a_changed_body(log):
    body = replace(log.rows[2].bodies["fact"], text="I never said that.")
    log.rows[2] = replace(log.rows[2], bodies=log.rows[2].bodies | {"fact": body})
    report = log.verify()
    assert (report.ok, report.broken_at, report.reason) == (False, (2,), "body_changed")
    assert [level.ok for level in report.levels] == [None, True, False]
    assert report.compromised == ()


def test_two_bodies_swapped(log):
    bodies = log.rows[2].bodies
    log.rows[2] = replace(log.rows[2], bodies={"fact": bodies["source"], "source": bodies["fact"]})
    assert log.verify().broken_at == (2,)


def test_a_body_nobody_committed_to(log):
    extra = {"result": Body(new_salt(), "{}")}
    log.rows[2] = replace(log.rows[2], bodies=log.rows[2].bodies | extra)
    assert log.verify().broken_at == (2,)


def test_a_body_without_a_subject(log_of, make_decided):
    assert log_of(make_decided(subject=None)).verify().broken_at == (0,)


def test_commitments_without_a_subject_need_no_body(log_of, make_decided):
    draft, _ = make_decided(subject=None)
    assert log_of((draft, {})).verify().ok


def test_a_body_deleted_without_erasure(log):
    report = without_bodies(log, 2)
    assert (report.ok, report.missing, report.reason) == (False, (2,), "body_missing")


def test_a_body_erased_with_everything_of_its_subject(log_of, make_decided):
    assert without_bodies(log_of(make_decided(), erased()), 0).ok


def test_a_body_erased_by_memory_id_or_decision_id(log_of, make_decided):
    of_memory = make_decided(memory=("mem_1", "mem_2"))
    assert without_bodies(log_of(of_memory, erased("mem_2")), 0).ok
    assert without_bodies(log_of(of_memory, erased("chk_1")), 0).ok
    assert not without_bodies(log_of(of_memory, erased("mem_3")), 0).ok


def test_an_erasure_covers_neither_others_nor_what_came_later(log_of, make_decided):
    assert not without_bodies(log_of(make_decided(), erased(subject="sub_2")), 0).ok
    assert not without_bodies(log_of(erased(), make_decided()), 1).ok
