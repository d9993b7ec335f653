from dataclasses import replace

from service.audit.commitment import new_salt
from service.audit.entry import EntryDraft
from service.audit.rows import Body, Unreadable, UnreadableBody
from service.audit.verify import Verification


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
    assert [level.ok for level in report.levels] == [None, True, True, None, False, None]
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


def unreadable(log, at, why):
    bodies = dict.fromkeys(log.rows[at].bodies, UnreadableBody(why))
    log.rows[at] = replace(log.rows[at], bodies=bodies)
    return log.verify()


def test_a_body_without_its_keys_is_not_checked(log):
    report = unreadable(log, 2, Unreadable.LOCKED)
    assert (report.ok, report.missing, report.levels[4].ok) == (True, (), None)
    assert "2 bodies are encrypted and no keys were given: not checked" in report.levels[4].notes
    assert "12 bodies open their commitments" in report.levels[4].notes


def test_a_body_whose_key_is_gone_has_to_be_erased_on_the_record(log_of, make_decided):
    log = log_of(make_decided(), erased("chk_1"))
    assert unreadable(log, 0, Unreadable.KEY_GONE).ok
    log = log_of(make_decided(), make_decided())
    report = unreadable(log, 0, Unreadable.KEY_GONE)
    assert (report.missing, report.reason) == ((0,), "body_missing")


def test_a_body_that_does_not_decrypt_was_changed(log):
    report = unreadable(log, 2, Unreadable.DAMAGED)
    assert (report.ok, report.broken_at, report.reason) == (False, (2,), "body_changed")


def test_where_no_texts_are_expected_none_is_missing(log):
    log.rows = [replace(row, bodies={}) for row in log.rows]
    verification = Verification("groundkeeper/test", with_bodies=False)
    for row in log.rows:
        verification.feed(row)
    verification.finish(log.head)
    report = verification.report(None)
    assert (report.ok, report.levels[4].ok, report.missing) == (True, None, ())
