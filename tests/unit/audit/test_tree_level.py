"""Levels 2 and 3: the stored tree, and checkpoints kept with the log and held elsewhere."""

from dataclasses import replace

import pytest

from service.audit.notes import Checkpoint
from service.audit.tree import EMPTY_ROOT, TreeBuilder
from service.audit.verify import Anchors


class Nodes:
    """A stored tree that an attacker can write to."""

    def __init__(self, log):
        builder = TreeBuilder()
        self.rows = {
            (level, index): value
            for row in log.rows
            for level, index, value in builder.add(bytes.fromhex(row.leaf))
        }

    def levels(self):
        return tuple(sorted({level for level, _ in self.rows}))

    def nodes(self, level):
        return iter(sorted((i, value) for (at, i), value in self.rows.items() if at == level))


@pytest.fixture
def nodes(log):
    return Nodes(log)


def test_a_stored_tree_that_fits(log, nodes):
    report = log.verify(tree=nodes)
    assert report.levels[2].ok
    assert report.root == log.checkpoint().root.hex()
    assert set(nodes.rows) == {(1, 0), (1, 1), (1, 2), (2, 0)}


@pytest.mark.parametrize("at", [(1, 0), (1, 2), (2, 0)])
def test_a_changed_or_missing_subtree(log, nodes, at):
    right = nodes.rows.pop(at)
    assert f"{at[0]}/" in log.verify(tree=nodes).levels[2].problems[0]
    nodes.rows[at] = bytes([right[0] ^ 1]) + right[1:]
    report = log.verify(tree=nodes)
    assert (report.ok, report.reason) == (False, "tree_mismatch")
    assert report.broken_at == ()


@pytest.mark.parametrize("at", [(1, 3), (2, 1), (3, 0), (0, 0), (60, 0), (1, -1)])
def test_a_subtree_that_nothing_completes(log, nodes, at):
    nodes.rows[at] = EMPTY_ROOT
    assert not log.verify(tree=nodes).levels[2].ok


def test_entries_changed_under_the_tree(log, nodes):
    log.edit(2)
    log.relink(3)
    log.fix_head()
    report = log.verify(tree=nodes)
    assert [level.ok for level in report.levels[1:3]] == [True, False]
    assert report.reason == "tree_mismatch"


def test_a_gap_ends_the_tree_but_not_the_check(log, nodes):
    del log.rows[3]
    report = log.verify(tree=nodes)
    assert report.missing == (3,)
    assert "root of 3 entries" in report.levels[2].notes[0]


def outside(*checkpoints):
    return Anchors(outside=checkpoints)


def test_without_a_checkpoint_nothing_is_excluded(log):
    report = log.verify()
    assert report.levels[3].ok is None
    assert report.not_excluded == ("rewriting", "truncation")
    assert (report.covered, report.checkpoint) == (0, None)
    assert "NOT excluded" in report.statements[-1]


def test_a_checkpoint_of_the_whole_log(log):
    report = log.verify(anchors=outside(log.checkpoint()))
    assert report.levels[3].ok
    assert (report.covered, report.not_excluded) == (7, ("truncation_after_checkpoint",))
    assert report.statements[0].startswith("Entries 0 to 6 are exactly those")
    assert report.checkpoint.fits


def test_entries_after_the_checkpoint(log):
    report = log.verify(anchors=outside(log.checkpoint(4), log.checkpoint(2)))
    assert (report.ok, report.covered) == (True, 4)
    assert report.not_excluded == ("rewriting_after_checkpoint", "truncation_after_checkpoint")
    assert "Entries 4 to 6 came after that checkpoint" in report.statements[1]


def test_the_checkpoint_of_the_empty_log_vouches_for_nothing(log):
    report = log.verify(anchors=outside(log.checkpoint(0)))
    assert (report.ok, report.covered) == (True, 0)
    assert report.not_excluded == ("rewriting", "truncation")


def rewrite(log):
    log.edit(2)
    log.relink(3)
    log.fix_head()


def cut(log):
    del log.rows[5:]
    log.fix_head()


@pytest.mark.parametrize(("attack", "said"), [(rewrite, "not the ones"), (cut, "log was cut")])
def test_what_only_a_checkpoint_shows(log, attack, said):
    kept = log.checkpoint()
    attack(log)
    assert log.verify().ok
    report = log.verify(anchors=outside(kept))
    assert (report.ok, report.reason) == (False, "checkpoint_mismatch")
    assert said in report.levels[3].problems[0]
    assert (report.covered, report.not_excluded) == (0, ("rewriting", "truncation"))
    assert not report.checkpoint.fits


def test_an_older_checkpoint_still_vouches_for_its_part(log):
    kept = [log.checkpoint(2), log.checkpoint()]
    rewrite(log)
    report = log.verify(anchors=outside(*kept))
    assert (report.ok, report.covered) == (False, 2)


def test_a_checkpoint_of_another_log(log):
    other = replace(log.checkpoint(), origin="groundkeeper/other")
    report = log.verify(anchors=outside(other))
    assert (report.ok, report.covered) == (False, 0)
    assert "of another log" in report.levels[3].problems[0]


def test_a_checkpoint_kept_with_the_log(log):
    kept = log.checkpoint()
    report = log.verify(anchors=Anchors(stored=(kept,)))
    assert report.levels[2].ok
    assert report.not_excluded == ("rewriting", "truncation")
    assert "signing key" in report.statements[0]
    rewrite(log)
    report = log.verify(anchors=Anchors(stored=(kept,)))
    assert (report.ok, report.reason) == (False, "checkpoint_mismatch")
    assert "stored checkpoint of 7" in report.levels[2].problems[0]


def test_stored_checkpoints_that_do_not_open_or_were_not_opened(log):
    report = log.verify(anchors=Anchors(faults=("stored checkpoint: is wrong",)))
    assert (report.ok, report.levels[2].problems) == (False, ("stored checkpoint: is wrong",))
    report = log.verify(anchors=Anchors(unopened="no key was given"))
    assert report.ok
    assert "no key was given" in report.levels[2].notes


def test_a_checkpoint_of_more_than_is_there_after_a_gap(log):
    kept = log.checkpoint(6)
    del log.rows[3]
    report = log.verify(anchors=outside(kept))
    assert report.reason == "entries_missing"
    assert "only the first 3 are there" in report.levels[3].problems[0]


def test_a_forged_root_of_a_known_size(log):
    report = log.verify(anchors=outside(Checkpoint("groundkeeper/test", 3, EMPTY_ROOT)))
    assert not report.levels[3].ok
