from service.domain.verdicts import Verdict
from service.evaluation.items import (
    NOT_STORE,
    REVIEW_ONLY,
    STORE_ONLY,
    Item,
    Judged,
    asked,
    draw,
    judge_items,
)
from service.evaluation.report import END, START, insert, markdown, summary_table
from service.evaluation.sections import Section, Table, clip
from service.evaluation.tally import by_kind, percent, reasons, share, tally

from .conftest import judge, outcome


def judged(allowed, verdict, kind="k"):
    return Judged(Item("id", asked("source", "fact"), allowed, kind), outcome(verdict))


MIXED = [
    judged(STORE_ONLY, Verdict.STORE),
    judged(STORE_ONLY, Verdict.REJECT),
    judged(REVIEW_ONLY, Verdict.STORE, "other"),
    judged(NOT_STORE, Verdict.REJECT, "other"),
    judged(NOT_STORE, Verdict.REVIEW, "other"),
]


def test_counts_each_harm_out_of_the_items_where_it_can_happen():
    found = tally(MIXED)
    assert (found.n, found.right) == (5, 3)
    assert (found.must_stored, found.must_store) == (1, 2)
    assert (found.false_stores, found.barred) == (1, 3)
    assert (found.false_rejects, found.safe) == (1, 3)
    assert (found.stores, found.rejects, found.reviews) == (2, 2, 1)


def test_counts_by_kind_in_order_of_appearance():
    assert [(kind, t.n) for kind, t in by_kind(MIXED).items()] == [("k", 2), ("other", 3)]


def test_reasons_come_with_the_commonest_first():
    assert reasons(MIXED)[0] == ("REJECT contradicted", 2)


def test_shares_of_nothing_are_a_dash():
    assert percent(1, 0) == share(0, 0) == "–"
    assert share(1, 4) == "1 of 4 (25.0%)"


def test_chunks_do_not_change_the_order():
    facts = [f"Word {n}" for n in range(10)]
    items = [Item(fact, asked("3 and 7", fact), STORE_ONLY) for fact in facts]
    found = judge_items(judge, items, chunk=3)
    assert [j.item.key for j in found] == facts
    assert [j.item.key for j in found if j.stored] == ["Word 3", "Word 7"]


def test_a_draw_depends_only_on_its_seed():
    rows = list(range(1000))
    assert draw(rows, 5, "a") == draw(rows, 5, "a") != draw(rows, 5, "b")
    assert draw(rows, 5, "a") == sorted(draw(rows, 5, "a"))
    assert draw(rows, None, "a") == draw(rows, 2000, "a") == rows


def test_long_texts_are_clipped_in_the_middle():
    assert clip("a\n b") == "a b"
    assert clip("a" * 500 + "z") == "a" * 80 + " … " + "a" * 79 + "z"


def section():
    table = Table("Odd | title", ("a", "b"), [("x | y", "<b>*z*</b>")])
    return Section("Suite", {"line": tally(MIXED)}, [table], ["A note."])


def test_markdown_has_the_summary_first_and_escapes_cells():
    text = markdown({"date": "2025-01-01"}, [section()])
    assert text.index("## Summary") < text.index("## Suite")
    assert "| line | 5 | 60.0% | 1 of 2 (50.0%) | 1 of 3 (33.3%) | 1 of 3 (33.3%) | 20.0% |" in text
    assert r"| x \| y | \<b\>\*z\*\</b\> |" in text
    assert summary_table([section()]).rows[0][0] == "line"


def test_a_new_report_replaces_the_old_one_and_nothing_else():
    first = insert("Intro.\n", "old")
    assert first == f"Intro.\n\n{START}\n\nold\n\n{END}\n"
    assert insert(first + "After.\n", "new") == f"Intro.\n\n{START}\n\nnew\n\n{END}\nAfter.\n"
