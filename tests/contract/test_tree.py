"""The tree of the log, which every adapter of ``AuditStore`` has to keep with its entries."""

import pytest

from service.audit.tree import (
    EMPTY_ROOT,
    TreeBuilder,
    completed,
    consistency_proof,
    inclusion_proof,
    verify_consistency,
    verify_inclusion,
)
from service.domain.errors import InvalidInput, Unavailable
from service.ports.storage import EntryDraft, Scope

SCOPE = Scope("acme", "key_1")
DRAFT = EntryDraft("policy.changed", SCOPE.actor)


@pytest.fixture
def log(write, read):
    """A log of 21 entries, and the leaf hashes that its appends answered with."""

    def many(tx):
        return [tx.audit.append(DRAFT, {}).entry_hash for _ in range(20)]

    opened = read(lambda tx: tx.audit.head().leaf)
    return [bytes.fromhex(leaf) for leaf in (opened, *write(many))]


def test_every_subtree_and_root(log, read):
    builder, roots = TreeBuilder(), [EMPTY_ROOT]
    for seq, leaf in enumerate(log):
        assert read(lambda tx, at=seq: tx.audit.node(0, at)) == leaf
        for level, index, value in builder.add(leaf):
            assert read(lambda tx, at=(level, index): tx.audit.node(*at)) == value
        roots.append(builder.root())
    assert [read(lambda tx, size=size: tx.audit.root(size)) for size in range(22)] == roots
    assert read(lambda tx: tx.audit.root()) == roots[-1]


def test_all_that_is_stored_is_what_the_entries_complete(log, read):
    def stored(tx):
        return {(level, index) for level in tx.audit.levels() for index, _ in tx.audit.nodes(level)}

    assert read(stored) == {node for seq in range(len(log)) for node in completed(seq)}


def test_proofs_come_from_it(log, read):
    size = len(log)

    def prove(tx):
        root, node = tx.audit.root(), tx.audit.node
        for seq in range(size):
            proof = inclusion_proof(seq, size, node)
            verify_inclusion(log[seq], seq, size, proof, root)
            proof = consistency_proof(seq, size, node)
            verify_consistency(seq, size, tx.audit.root(seq), root, proof)

    read(prove)


def test_what_is_not_there(log, read):
    for size in (-1, 22, 2**60):
        with pytest.raises(InvalidInput, match="size"):
            read(lambda tx, size=size: tx.audit.root(size))
    for at in [(0, 21), (1, 10), (5, 0), (1, -1)]:
        with pytest.raises(Unavailable, match="run verify"):
            read(lambda tx, at=at: tx.audit.node(*at))


def test_an_undone_write_leaves_nothing_in_the_tree(log, write, read):
    def fail(tx):
        for _ in range(3):
            tx.audit.append(DRAFT, {})
        raise ZeroDivisionError

    before = read(lambda tx: (tx.audit.root(), len(list(tx.audit.nodes(1)))))
    with pytest.raises(ZeroDivisionError):
        write(fail)
    assert read(lambda tx: (tx.audit.root(), len(list(tx.audit.nodes(1))))) == before
    write(lambda tx: tx.audit.append(DRAFT, {}))
    assert read(lambda tx: tx.audit.head().size) == 22
