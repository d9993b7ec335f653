"""The Merkle tree and its proofs, against published values and against every small mistake."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.audit.errors import VerificationError
from service.audit.tree import (
    EMPTY_ROOT,
    TreeBuilder,
    completed,
    consistency_proof,
    inclusion_proof,
    node_hash,
    root_hash,
    verify_consistency,
    verify_inclusion,
)

MOST = 257

# The eight leaves of the Certificate Transparency test data for RFC 6962, their roots and proofs.
CT_LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
CT_ROOTS = """
6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d
fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125
aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77
d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7
4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4
76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef
ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c
5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328
""".split()
CT_INCLUSION = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
CT_CONSISTENCY = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
    (6, 7): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
}


class Tree:
    """All complete subtrees and all roots of the first leaves."""

    def __init__(self, leaves):
        self.leaves = [hashlib.sha256(b"\x00" + leaf).digest() for leaf in leaves]
        builder = TreeBuilder()
        self.nodes, self.roots = {}, [builder.root()]
        for seq, leaf in enumerate(self.leaves):
            self.nodes[0, seq] = leaf
            self.nodes |= {(level, index): value for level, index, value in builder.add(leaf)}
            self.roots.append(builder.root())

    def node(self, level, index):
        return self.nodes[level, index]


CT = Tree(CT_LEAVES)
BIG = Tree(str(number).encode() for number in range(MOST))


def naive_root(leaves):
    """Follow the recursive definition of RFC 6962, section 2.1, to the letter."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(naive_root(leaves[:split]), naive_root(leaves[split:]))


def accepts(verify, *given):
    try:
        verify(*given)
    except VerificationError:
        return False
    return True


def spoiled(proof, at):
    """Every kind of wrong proof; of the elements, ``at`` (or every one) is the one changed."""
    places = range(len(proof)) if at is None else [at % len(proof)] if proof else []
    yield (*proof, EMPTY_ROOT)
    yield (EMPTY_ROOT, *proof)
    for place in places:
        before, element, after = proof[:place], proof[place], proof[place + 1 :]
        flipped = bytearray(element)
        flipped[(at or place) % 32] ^= 1 << (at or place) % 8
        yield (*before, bytes(flipped), *after)
        yield (*before, *after)
        yield (*before, element, element, *after)
        yield (*before, element[:-1], *after)
    for place in range(len(proof) - 1) if at is None else places[: len(proof) - 1]:
        other = (place + 1) % len(proof)
        swapped = list(proof)
        swapped[place], swapped[other] = proof[other], proof[place]
        yield tuple(swapped)


def test_the_published_roots():
    assert [root.hex() for root in CT.roots[1:]] == CT_ROOTS
    assert CT.roots[0].hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(("seq", "size"), CT_INCLUSION)
def test_the_published_inclusion_proofs(seq, size):
    proof = [bytes.fromhex(text) for text in CT_INCLUSION[seq, size]]
    assert list(inclusion_proof(seq, size, CT.node)) == proof
    verify_inclusion(CT.leaves[seq], seq, size, proof, CT.roots[size])


@pytest.mark.parametrize(("first", "second"), CT_CONSISTENCY)
def test_the_published_consistency_proofs(first, second):
    proof = [bytes.fromhex(text) for text in CT_CONSISTENCY[first, second]]
    assert list(consistency_proof(first, second, CT.node)) == proof
    verify_consistency(first, second, CT.roots[first], CT.roots[second], proof)


def test_roots_follow_the_definition():
    for size in range(MOST + 1):
        assert naive_root(BIG.leaves[:size]) == BIG.roots[size] == root_hash(size, BIG.node)


def test_each_leaf_completes_what_was_not_complete_before():
    seen = set()
    for seq in range(MOST):
        for level, index in completed(seq):
            assert index << level <= seq == ((index + 1) << level) - 1
            assert (level, index) not in seen
            seen.add((level, index))
    everything = {(level, index) for level in range(1, 9) for index in range(MOST >> level)}
    assert seen == everything


def test_every_inclusion_proof_verifies_and_nothing_else_does():
    for size in range(1, MOST + 1):
        thorough = size <= 40 or size in (64, 65, 127, 128, 129)
        for seq in range(size):
            proof = inclusion_proof(seq, size, BIG.node)
            leaf, root = BIG.leaves[seq], BIG.roots[size]
            verify_inclusion(leaf, seq, size, proof, root)
            for wrong in spoiled(proof, None if thorough else seq + size):
                assert not accepts(verify_inclusion, leaf, seq, size, wrong, root)
            indices = range(size) if thorough else ((seq + 1) % size, seq ^ 1, seq ^ 2)
            for other in indices:
                if other != seq:
                    assert not accepts(verify_inclusion, leaf, other, size, proof, root)
            other_size = size - 1 if size > 1 else 2
            other_root = BIG.roots[other_size]
            assert not accepts(verify_inclusion, leaf, seq, size, proof, other_root)
            assert not accepts(verify_inclusion, leaf, seq, other_size, proof, other_root)
            if size > 1:
                other_leaf = BIG.leaves[(seq + 1) % size]
                assert not accepts(verify_inclusion, other_leaf, seq, size, proof, root)


def test_every_consistency_proof_verifies_and_nothing_else_does():
    for second in range(MOST + 1):
        thorough = second <= 40 or second in (64, 65, 127, 128, 129)
        for first in range(second + 1):
            proof = consistency_proof(first, second, BIG.node)
            old, new = BIG.roots[first], BIG.roots[second]
            verify_consistency(first, second, old, new, proof)
            for wrong in spoiled(proof, None if thorough else first + second):
                assert not accepts(verify_consistency, first, second, old, new, wrong)
            wrong_root = BIG.roots[(first + 1) % MOST]
            assert not accepts(verify_consistency, first, second, wrong_root, new, proof)
            if first:  # every tree continues the empty one, whatever its root
                wrong_root = BIG.roots[(second + 1) % MOST]
                assert not accepts(verify_consistency, first, second, old, wrong_root, proof)
            for other in range(1, second) if thorough and proof else (first - 1, first + 1):
                if other != first and 0 < other < second and proof:
                    wrong = (other, second, BIG.roots[other], new, proof)
                    assert not accepts(verify_consistency, *wrong)


@pytest.mark.parametrize(("first", "second"), list(pairwise([1, 2, 3, 7, 8, 130, 257])))
def test_a_history_that_was_rewritten_is_not_consistent(first, second):
    other = Tree([b"changed", *(str(number).encode() for number in range(1, MOST))])
    proof = consistency_proof(first, second, other.node)
    verify_consistency(first, second, other.roots[first], other.roots[second], proof)
    mixed = (first, second, BIG.roots[first], other.roots[second], proof)
    assert not accepts(verify_consistency, *mixed)


@pytest.mark.parametrize(
    ("seq", "size"), [(-1, 3), (3, 3), (0, 0), (1, 0), (0, -1), (0, 2**53), (2**60, 2**61)]
)
def test_an_index_outside_the_tree(seq, size):
    with pytest.raises(VerificationError):
        verify_inclusion(CT.leaves[0], seq, size, (), CT.roots[1])
    with pytest.raises(VerificationError):
        inclusion_proof(seq, size, CT.node)


@pytest.mark.parametrize(("first", "second"), [(-1, 3), (4, 3), (1, 0), (0, 2**53)])
def test_sizes_that_cannot_follow_each_other(first, second):
    with pytest.raises(VerificationError):
        verify_consistency(first, second, CT.roots[1], CT.roots[3], ())
    with pytest.raises(VerificationError):
        consistency_proof(first, second, CT.node)


def test_the_empty_tree_has_one_root():
    verify_consistency(0, 0, EMPTY_ROOT, EMPTY_ROOT, ())
    for wrong in [(0, 3, CT.roots[1], CT.roots[3]), (0, 0, CT.roots[1], CT.roots[1])]:
        assert not accepts(verify_consistency, *wrong, ())


def test_an_inner_node_is_no_leaf():
    children = CT.leaves[0] + CT.leaves[1]
    assert hashlib.sha256(b"\x00" + children).digest() != CT.nodes[1, 0]


@given(
    st.integers(0, 300),
    st.integers(0, 300),
    st.lists(st.binary(min_size=0, max_size=33), max_size=10),
)
def test_garbage_is_refused_with_the_one_error(first, second, proof):
    assert not accepts(verify_inclusion, EMPTY_ROOT, first, second, proof, EMPTY_ROOT)
    if proof:
        assert not accepts(verify_consistency, first, second, EMPTY_ROOT, EMPTY_ROOT, proof)
