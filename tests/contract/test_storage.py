"""What every adapter of ``service.ports.storage`` must do."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from service.adapters.db.database import open_database
from service.adapters.system import RandomIdentifiers
from service.audit.commitment import commit, new_salt
from service.audit.entry import parse_entry
from service.domain.errors import (
    Conflict,
    GroundkeeperError,
    IdempotencyMismatch,
    InvalidInput,
    NotFound,
    Unavailable,
)
from service.ports.storage import (
    AuditFilter,
    Body,
    Database,
    DecisionRecord,
    EntryDraft,
    PageRequest,
    PolicyRecord,
    Scope,
    StoredAnswer,
)

ACME, OTHER = Scope("acme", "key_1"), Scope("other", "key_2")
START = datetime(2026, 11, 29, 17, tzinfo=UTC)


class SettableClock:
    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture(params=["sqlite"])
def database(request, tmp_path: Path, clock) -> Iterator[Database]:
    opened = open_database(tmp_path / "data.db", clock=clock, identifiers=RandomIdentifiers())
    yield opened
    opened.close()


def entry(scope: Scope = ACME, subject: str | None = None, verdict: str = "STORE") -> EntryDraft:
    decision = {"id": "chk_1", "verdict": verdict, "reason_code": "supported", "scores_e6": {}}
    return EntryDraft("check.decided", scope.actor, subject=subject, decision=decision)


def append(database: Database, draft: EntryDraft, scope: Scope = ACME, bodies=None) -> int:
    return database.write(scope, lambda tx: tx.audit.append(draft, bodies or {})).seq


def with_body(text: str) -> tuple[EntryDraft, dict[str, Body]]:
    body = Body(new_salt(), text)
    commitments = {"fact": commit(body.salt, text.encode("utf-8", "surrogatepass"))}
    return replace(entry(subject="sub_1"), commitments=commitments), {"fact": body}


def policy(fingerprint: str, version: str, name: str = "default") -> PolicyRecord:
    return PolicyRecord(fingerprint, name, version, '{"store":0.5}', None, START)


def listed(database: Database, which: AuditFilter, page: PageRequest | None = None, scope=ACME):
    return database.read(scope, lambda tx: tx.audit.list(which, page or PageRequest()))


# The log


def test_the_log_opens_with_its_own_entry(database):
    row = next(database.read(ACME, lambda tx: iter(list(tx.audit.scan()))))
    first = parse_entry(row.entry)
    assert (first.seq, first.draft.kind) == (0, "log.opened")
    assert first.log.startswith("groundkeeper/log_")
    assert database.read(ACME, lambda tx: tx.audit.head()).origin == first.log


def test_an_entry_gets_the_next_number_and_reads_back_with_its_bodies(database, clock):
    draft, bodies = with_body("I moved to Łódź. \x00 🌍")
    expected = database.write(ACME, lambda tx: tx.audit.next_seq())
    appended = database.write(ACME, lambda tx: tx.audit.append(draft, bodies))
    assert appended.seq == expected == 1
    assert appended.ts == clock.time
    row = database.read(ACME, lambda tx: tx.audit.get(1))
    assert row.leaf == appended.entry_hash
    assert row.bodies == bodies
    assert parse_entry(row.entry).draft == draft
    head = database.read(ACME, lambda tx: tx.audit.head())
    assert (head.size, head.leaf) == (2, appended.entry_hash)


def test_entries_are_visible_to_their_tenant_only(database):
    seq = append(database, entry())
    assert database.read(OTHER, lambda tx: tx.audit.get(seq)) is None
    assert database.read(ACME, lambda tx: tx.audit.get(seq + 1)) is None
    assert listed(database, AuditFilter(), scope=OTHER).total == 0
    assert listed(database, AuditFilter()).total == 1


def test_the_time_in_the_log_never_goes_back(database, clock):
    first = database.write(ACME, lambda tx: tx.audit.append(entry(), {}))
    clock.time -= timedelta(hours=1)
    second = database.write(ACME, lambda tx: tx.audit.append(entry(), {}))
    assert second.ts == first.ts


def test_pages_cover_the_list_newest_first(database):
    numbers = [append(database, entry()) for _ in range(7)]
    seen, cursor = [], None
    while True:
        page = listed(database, AuditFilter(), PageRequest(3, cursor))
        assert page.total == 7
        seen += [row.seq for row in page.items]
        cursor = page.next_cursor
        append(database, entry(OTHER), OTHER)
        if cursor is None:
            break
    assert seen == numbers[::-1]


def test_filters_are_all_applied(database, clock):
    stored = append(database, entry(subject="sub_1"))
    clock.time += timedelta(seconds=1)
    rejected = append(database, entry(subject="sub_1", verdict="REJECT"))
    clock.time += timedelta(seconds=1)
    changed = append(database, EntryDraft("policy.changed", ACME.actor))

    def found(**conditions) -> list[int]:
        page = listed(database, AuditFilter(**conditions))
        assert page.total == len(page.items)
        return [row.seq for row in page.items]

    second = START + timedelta(seconds=1)
    assert found(verdict="STORE") == [stored]
    assert found(subject_id="sub_1") == [rejected, stored]
    assert found(subject_id="sub_1", verdict="REJECT") == [rejected]
    assert found(action="policy.changed") == [changed]
    assert found(since=second) == [changed, rejected]
    assert found(until=second) == [stored]
    assert found(since=second, until=second) == []


@pytest.mark.parametrize("cursor", ["", "x", "!!!!!!!!", "AAAAAAA=", "é", "0" * 400])
def test_a_cursor_from_elsewhere_is_refused(database, cursor):
    with pytest.raises(InvalidInput, match="cursor"):
        listed(database, AuditFilter(), PageRequest(cursor=cursor))


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_limit_out_of_range_is_refused(database, limit):
    with pytest.raises(InvalidInput, match="limit"):
        listed(database, AuditFilter(), PageRequest(limit=limit))


def test_drafts_that_break_the_format_are_refused_and_leave_no_gap(database):
    good, bodies = with_body("text")
    wrong_body = {"fact": Body(new_salt(), "text")}
    short_salt = {"fact": Body(b"short", "text")}
    refused = [
        (replace(entry(), kind="made.up"), {}),
        (replace(entry(), actor="key_2"), {}),
        (replace(entry(), policy="\ud800"), {}),
        (good, {}),
        (good, wrong_body),
        (good, short_salt),
        (replace(good, subject=None), bodies),
        (entry(subject="sub_1"), bodies),
        with_body("\ud800 lone surrogate"),
        with_body("\udc80 lone surrogate"),
    ]
    for draft, its_bodies in refused:
        with pytest.raises(InvalidInput):
            append(database, draft, bodies=its_bodies)
    assert append(database, good, bodies=bodies) == 1


# Transactions


def test_a_closure_that_raises_changes_nothing(database):
    def work(tx):
        tx.subjects.id_for("alice")
        tx.audit.append(entry(), {})
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        database.write(ACME, work)
    assert database.read(ACME, lambda tx: tx.subjects.find("alice")) is None
    assert database.read(ACME, lambda tx: tx.audit.head()).size == 1


def test_reading_cannot_write(database):
    with pytest.raises(Unavailable):
        database.read(ACME, lambda tx: tx.subjects.id_for("alice"))


def test_a_reader_keeps_its_snapshot_while_others_write(database):
    def work(tx):
        before = tx.audit.head().size
        append(database, entry())
        return before, tx.audit.head().size

    assert database.read(ACME, work) == (1, 1)
    assert database.read(ACME, lambda tx: tx.audit.head()).size == 2


def test_a_write_inside_a_write_is_a_mistake_not_a_deadlock(database):
    with pytest.raises(RuntimeError):
        database.write(ACME, lambda tx: append(database, entry()))


def test_nothing_runs_after_closing(database):
    database.close()
    database.close()
    with pytest.raises(Unavailable):
        append(database, entry())


def test_health(database):
    health = database.health()
    assert health.at_head
    assert health.revision
    assert health.warnings == ()


# Policies


def test_policies_are_stored_once_and_never_changed(database):
    def work(tx):
        tx.policies.add(policy("f1", "1"))
        tx.policies.add(policy("f1", "1"))
        tx.policies.add(policy("f2", "2"))
        tx.policies.add(policy("f3", "1", name="strict"))

    database.write(ACME, work)
    with pytest.raises(Conflict):
        database.write(ACME, lambda tx: tx.policies.add(policy("f4", "2")))

    def check(tx):
        assert tx.policies.get("f1") == policy("f1", "1")
        assert tx.policies.get("f9") is None
        assert tx.policies.by_name("default").fingerprint == "f2"
        assert tx.policies.by_name("default", "1").fingerprint == "f1"
        assert tx.policies.by_name("default", "9") is None
        first = tx.policies.list(PageRequest(limit=2))
        rest = tx.policies.list(PageRequest(2, first.next_cursor))
        assert [p.fingerprint for p in first.items + rest.items] == ["f3", "f2", "f1"]
        assert (first.total, rest.next_cursor) == (3, None)

    database.read(ACME, check)
    assert database.read(OTHER, lambda tx: tx.policies.list(PageRequest())).total == 0
    assert database.read(OTHER, lambda tx: tx.policies.get("f1")) is None


def test_the_default_policy_is_per_tenant(database):
    database.write(ACME, lambda tx: tx.policies.add(policy("f1", "1")))
    database.write(ACME, lambda tx: tx.policies.add(policy("f2", "2")))
    assert database.read(ACME, lambda tx: tx.policies.default()) is None
    for fingerprint in ("f1", "f2", "f2"):
        database.write(ACME, lambda tx, chosen=fingerprint: tx.policies.set_default(chosen))
        assert database.read(ACME, lambda tx: tx.policies.default()) == fingerprint
    assert database.read(OTHER, lambda tx: tx.policies.default()) is None
    with pytest.raises(NotFound):
        database.write(OTHER, lambda tx: tx.policies.set_default("f1"))


# Subjects, decisions, idempotency


def test_subject_ids_are_stable_opaque_and_per_tenant(database):
    assert database.read(ACME, lambda tx: tx.subjects.find("alice")) is None
    first = database.write(ACME, lambda tx: tx.subjects.id_for("alice"))
    assert first == database.write(ACME, lambda tx: tx.subjects.id_for("alice"))
    assert first == database.read(ACME, lambda tx: tx.subjects.find("alice"))
    assert first.startswith("sub_")
    assert "alice" not in first
    assert first != database.write(OTHER, lambda tx: tx.subjects.id_for("alice"))


def test_decisions_read_back(database):
    record = DecisionRecord("chk_1", "check", None, 1, "STORE", "supported", "f1", START)
    database.write(ACME, lambda tx: tx.decisions.add(record))
    assert database.read(ACME, lambda tx: tx.decisions.get("chk_1")) == record
    assert database.read(OTHER, lambda tx: tx.decisions.get("chk_1")) is None
    with pytest.raises(Conflict):
        database.write(ACME, lambda tx: tx.decisions.add(record))


def test_idempotency_keeps_the_first_answer(database):
    answer = StoredAnswer("h1", 200, b'{"ok":true}', START)
    database.write(ACME, lambda tx: tx.idempotency.put("k", answer))
    database.write(ACME, lambda tx: tx.idempotency.put("k", replace(answer, status=500)))
    assert database.read(ACME, lambda tx: tx.idempotency.get("k")) == answer
    assert database.read(OTHER, lambda tx: tx.idempotency.get("k")) is None
    with pytest.raises(IdempotencyMismatch):
        database.write(ACME, lambda tx: tx.idempotency.put("k", replace(answer, request_hash="h2")))


@pytest.mark.parametrize(
    "work",
    [
        lambda tx: tx.subjects.id_for("\ud800"),
        lambda tx: tx.policies.add(replace(policy("f1", "1"), body="\ud800")),
        lambda tx: tx.idempotency.get("\ud800"),
        lambda tx: tx.audit.get(2**70),
        lambda tx: tx.audit.list(AuditFilter(subject_id="\ud800"), PageRequest()),
    ],
)
def test_what_cannot_be_stored_is_a_domain_error(database, work: Callable):
    with pytest.raises(GroundkeeperError):
        database.write(ACME, work)
    assert append(database, entry()) == 1
