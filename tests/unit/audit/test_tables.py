"""Level 5: the business tables against the log."""

from dataclasses import dataclass, field, replace

import pytest

from service.audit.entry import EntryDraft
from service.audit.rows import DecisionRow, StateRow, StepRow

DECIDED = EntryDraft(
    "check.decided",
    "acme:key_1",
    subject="sub_1",
    decision={"id": "chk_1", "verdict": "STORE", "reason_code": "supported", "scores_e6": {}},
    memory=("mem_1",),
    policy="f1",
)
ROW = DecisionRow("acme", "chk_1", "check", 0, "sub_1", "STORE", "supported", "f1")
OLD, NEW = "a" * 64, "b" * 64


def memory(kind, *ids, after=NEW, subject="sub_1"):
    return EntryDraft(kind, "acme:key_1", subject=subject, memory=ids, state_after=after)


@dataclass
class Tables:
    """Tables that an attacker can write to."""

    decided: list[DecisionRow] = field(default_factory=list)
    stored: list[StateRow] = field(default_factory=list)
    history: list[StepRow] | None = None

    def decisions(self):
        return iter(self.decided)

    def steps(self):
        return iter(self.history or ())

    def states(self):
        return iter(self.stored)


@pytest.fixture
def problems(log_of):
    """Verify a log of these drafts against tables, and return what level 5 finds."""

    def problems(drafts, tables):
        if tables.history is None:
            tables = replace(tables, history=steps_of(drafts))
        report = log_of(*((draft, {}) for draft in drafts)).verify(tables=tables)
        assert report.ok == (not report.levels[5].problems)
        assert report.reason == ("intact" if report.ok else "tables_mismatch")
        return report.levels[5].problems

    return problems


def steps_of(drafts):
    """The history that belongs to these entries."""
    return [
        StepRow("acme", d.memory[0], d.kind.removeprefix("memory."), seq, d.subject, d.actor)
        for seq, d in enumerate(drafts)
        if d.kind.startswith("memory.")
    ]


def state(name="mem_1", digest=NEW, **changes):
    return replace(StateRow("acme", "memory", name, "sub_1", digest, digest), **changes)


def test_a_decision_with_its_entry(problems):
    assert problems([DECIDED], Tables([ROW])) == ()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"verdict": "REJECT"}, "verdict"),
        ({"reason_code": "toxic"}, "reason_code"),
        ({"id": "chk_2"}, "id"),
        ({"kind": "adjudication"}, "kind"),
        ({"subject": None}, "subject"),
        ({"subject": "sub_2"}, "subject"),
        ({"policy": "f2"}, "policy"),
        ({"tenant": "other"}, "tenant"),
    ],
)
def test_a_decision_that_says_something_else(problems, changed, said):
    found = problems([DECIDED], Tables([ROW._replace(**changed)]))
    assert found == (f"decision {changed.get('id', 'chk_1')}: {said} not as entry 0 says",)


@pytest.mark.parametrize("seq", [-1, 1, 5])
def test_a_decision_without_an_entry(problems, seq):
    extra = ROW._replace(id="chk_2", seq=seq)
    drafts = [DECIDED, EntryDraft("log.opened", "system:system")]
    found = problems(drafts, Tables(sorted([ROW, extra], key=lambda row: row.seq)))
    assert found == (f"decision chk_2: entry {seq} is not about it, or not there",)


def test_two_decisions_for_one_entry(problems):
    assert len(problems([DECIDED], Tables([ROW, ROW._replace(id="chk_2")]))) == 1


def test_an_entry_whose_decision_is_gone(problems):
    assert "its check.decided is gone" in problems([DECIDED], Tables())[0]
    for named in (("chk_1",), ("mem_1",), ()):
        erased = EntryDraft("erasure.done", "acme:key_1", subject="sub_1", memory=named)
        assert problems([DECIDED, erased], Tables()) == ()
        assert problems([erased, DECIDED], Tables()) != ()
    other = EntryDraft("erasure.done", "acme:key_1", subject="sub_1", memory=("mem_9",))
    assert problems([DECIDED, other], Tables()) != ()


def test_the_last_state_counts(problems):
    drafts = [memory("memory.created", "mem_1", after=OLD), memory("memory.superseded", "mem_1")]
    assert problems(drafts, Tables(stored=[state()])) == ()
    assert "not the one of entry 1" in problems(drafts, Tables(stored=[state(digest=OLD)]))[0]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (state(digest=OLD), "its state is not the one of entry 0"),
        (state(stored=OLD), "its state is not the one of entry 0"),
        (state(digest=None), "cannot be read"),
        (state(subject="sub_2"), "belongs to somebody else"),
        (state(tenant="other"), "belongs to somebody else"),
        (state(fault="the message it came from was changed"), "was changed"),
    ],
)
def test_a_memory_that_is_not_as_logged(problems, row, said):
    found = problems([memory("memory.created", "mem_1")], Tables(stored=[row]))
    assert len(found) == 1
    assert said in found[0]


def test_a_memory_that_nobody_wrote(problems):
    found = problems([], Tables(stored=[state("mem_9")]))
    assert found == ("memory mem_9: there is no entry about it",)


def test_a_memory_that_is_gone(problems):
    created = memory("memory.created", "mem_1")
    assert "gone from the tables" in problems([created], Tables())[0]
    erased = EntryDraft("erasure.done", "acme:key_1", subject="sub_1", memory=("mem_1",))
    assert problems([created, erased], Tables(history=[])) == ()


def test_a_memory_that_an_entry_names_second_needs_its_own_entry(problems):
    both = memory("memory.superseded", "mem_1", "mem_2")
    assert problems([both], Tables(stored=[state()])) == ()


@pytest.mark.parametrize(
    ("kind", "what"),
    [("conflict.marked", "conflict"), ("review.opened", "review"), ("lesson.recorded", "lesson")],
)
def test_conflicts_reviews_and_lessons_alike(problems, kind, what):
    draft = memory(kind, "x_1", "mem_1")
    row = state("x_1", what=what, stored=None)
    assert problems([draft], Tables(stored=[row])) == ()
    assert problems([draft], Tables(stored=[replace(row, digest=OLD)])) != ()
    assert problems([draft], Tables()) != ()
    erased = EntryDraft("erasure.done", "acme:key_1", subject="sub_1", memory=("mem_1",))
    assert problems([draft, erased], Tables()) == ()


def test_what_belongs_to_nobody_cannot_be_erased(problems):
    lesson = memory("lesson.recorded", "les_1", subject=None)
    erased = EntryDraft("erasure.done", "acme:key_1", subject=None)
    assert problems([lesson, erased], Tables()) != ()


def test_entries_about_no_row_are_left_alone(problems):
    drafts = [
        EntryDraft("policy.changed", "acme:key_1", state_after=NEW),
        EntryDraft("evaluation.recorded", "acme:key_1", decision=DECIDED.decision),
    ]
    assert problems(drafts, Tables()) == ()


STEP = StepRow("acme", "mem_1", "created", 0, "sub_1", "acme:key_1")


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ([], "entry 0: its memory.created is gone and was not erased"),
        ([STEP._replace(action="deleted")], "history of mem_1: action not as entry 0 says"),
        ([STEP._replace(memory_id="mem_2")], "history of mem_2: memory_id not as entry 0 says"),
        ([STEP._replace(actor="acme:key_2")], "history of mem_1: actor not as entry 0 says"),
        ([STEP._replace(tenant="other")], "history of mem_1: tenant not as entry 0 says"),
        ([STEP._replace(subject="sub_2")], "history of mem_1: subject not as entry 0 says"),
        ([STEP._replace(seq=-1), STEP], "history of mem_1: entry -1 is not about it, or not there"),
        ([STEP, STEP], "history of mem_1: entry 0 is not about it, or not there"),
        ([STEP, STEP._replace(seq=9)], "history of mem_1: entry 9 is not about it, or not there"),
    ],
)
def test_the_history_of_a_memory(problems, history, said):
    created = memory("memory.created", "mem_1")
    assert problems([created], Tables(stored=[state()], history=[STEP])) == ()
    assert problems([created], Tables(stored=[state()], history=history)) == (said,)


def test_steps_of_a_conflict_are_entries_about_the_memory(problems):
    drafts = [memory("conflict.marked", "con_1"), memory("conflict.marked", "mem_1")]
    rows = [state(), state("con_1", what="conflict", stored=None)]
    step = STEP._replace(action="contested", seq=1)
    assert problems(drafts, Tables(stored=rows, history=[step])) == ()
    wrong = [step._replace(action="settled")]
    assert len(problems(drafts, Tables(stored=rows, history=wrong))) == 1


def test_a_step_that_names_an_entry_about_something_else(problems):
    drafts = [EntryDraft("policy.changed", "acme:key_1"), memory("memory.created", "mem_1")]
    history = [STEP, STEP._replace(seq=1)]
    found = problems(drafts, Tables(stored=[state()], history=history))
    assert found == ("history of mem_1: entry 0 is not about it, or not there",)
