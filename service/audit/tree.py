"""The Merkle tree over the log's leaf hashes, its proofs and their verification.

Hashing and proofs are those of RFC 6962, section 2.1; verification is that of RFC 9162, sections
2.1.3.2 and 2.1.4.2. A tree is kept as its complete subtrees: (level, index) stands for the
``2**level`` leaves from ``index * 2**level`` on, and level 0 is the leaf hashes themselves. They
never change, so a proof for any size the log ever had can be read from them.

What verifies takes numbers and roots from its caller, never from the proof, and raises
``VerificationError`` for every proof but the one that fits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from service.audit.canonical import MAX_INT
from service.audit.errors import VerificationError

Node: TypeAlias = Callable[[int, int], bytes]
"""Gives the hash of a complete subtree by (level, index)."""

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
_BAD_PATH: Final = "the proof does not lead to the root"
_BAD_LENGTH: Final = "the proof does not have the length that fits"


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node: SHA-256 of 0x01 and its children (RFC 6962, 2.1)."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def completed(seq: int) -> tuple[tuple[int, int], ...]:
    """Return (level, index) of every subtree above the leaves that leaf ``seq`` completes.

    Their levels are 1, 2, … without a gap: one for each trailing 1 of ``seq`` in binary.
    """
    levels = (seq ^ (seq + 1)).bit_length() - 1
    return tuple((level, seq >> level) for level in range(1, levels + 1))


def root_hash(size: int, node: Node) -> bytes:
    """Return the root over the first ``size`` leaves; of none it is SHA-256 of nothing."""
    _need(0 <= size <= MAX_INT, "size: out of range")
    return _range_root(0, size, node) if size else EMPTY_ROOT


def inclusion_proof(seq: int, size: int, node: Node) -> tuple[bytes, ...]:
    """Return the audit path of leaf ``seq`` in the tree of ``size``, from the leaf upwards.

    RFC 6962, section 2.1.1. Raises ``VerificationError`` unless ``0 <= seq < size``.
    """
    _need(0 <= seq < size <= MAX_INT, "seq: not in a tree of this size")
    path, low, high = [], 0, size
    while high - low > 1:
        middle = low + _split(high - low)
        if seq < middle:
            path.append(_range_root(middle, high, node))
            high = middle
        else:
            path.append(_range_root(low, middle, node))
            low = middle
    return tuple(reversed(path))


def consistency_proof(first: int, second: int, node: Node) -> tuple[bytes, ...]:
    """Return the proof that the tree of ``first`` is a prefix of the tree of ``second``.

    RFC 6962, section 2.1.2. It is empty for equal sizes, and for the empty tree, of which every
    tree is a continuation. Raises ``VerificationError`` unless ``0 <= first <= second``.
    """
    _need(0 <= first <= second <= MAX_INT, "first: not between 0 and second")
    if first in (0, second):
        return ()
    path, low, high = [], 0, second
    while high != first:
        middle = low + _split(high - low)
        if first <= middle:
            path.append(_range_root(middle, high, node))
            high = middle
        else:
            path.append(_range_root(low, middle, node))
            low = middle
    if low:
        path.append(_range_root(low, high, node))
    return tuple(reversed(path))


def verify_inclusion(leaf: bytes, seq: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Accept only the proof that ``leaf`` (a leaf hash) is number ``seq`` of the tree ``root``."""
    _need(0 <= seq < size <= MAX_INT, "seq: not in a tree of this size")
    _need_hashes(leaf, root, *proof)
    last, current = size - 1, leaf
    for sibling in proof:
        _need(last > 0, _BAD_LENGTH)
        if seq & 1 or seq == last:
            current = node_hash(sibling, current)
            while not seq & 1 and seq:
                seq, last = seq >> 1, last >> 1
        else:
            current = node_hash(current, sibling)
        seq, last = seq >> 1, last >> 1
    _need(last == 0, _BAD_LENGTH)
    _need(current == root, _BAD_PATH)


def verify_consistency(
    first: int, second: int, first_root: bytes, second_root: bytes, proof: Sequence[bytes]
) -> None:
    """Accept only the proof that the first tree is a prefix of the second."""
    _need(0 <= first <= second <= MAX_INT, "first: not between 0 and second")
    _need_hashes(first_root, second_root, *proof)
    if first == 0:
        _need(first_root == EMPTY_ROOT, "the root of an empty tree is SHA-256 of nothing")
    if second == first:
        _need(first_root == second_root, "two roots for one size")
    if first in (0, second):
        _need(not proof, _BAD_LENGTH)
        _need(second > 0 or second_root == EMPTY_ROOT, "the root of an empty tree")
        return
    _need(len(proof) > 0, _BAD_LENGTH)
    old, new = _roots_of(first, second, first_root, proof)
    _need(old == first_root and new == second_root, _BAD_PATH)


def _roots_of(
    first: int, second: int, first_root: bytes, proof: Sequence[bytes]
) -> tuple[bytes, bytes]:
    """Return the two roots that a proof leads to."""
    # A first tree that is one complete subtree is where the path starts; the proof leaves it out.
    path = list(proof) if first & (first - 1) else [first_root, *proof]
    index, last = first - 1, second - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    old = new = path[0]
    for sibling in path[1:]:
        _need(last > 0, _BAD_LENGTH)
        if index & 1 or index == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        index, last = index >> 1, last >> 1
    _need(last == 0, _BAD_LENGTH)
    return old, new


class TreeBuilder:
    """Grows a tree leaf by leaf, remembering only the roots of its complete subtrees.

    For checking a stored tree: ``add`` tells every complete subtree there has to be.
    """

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    def add(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add a leaf hash; returns (level, index, hash) of each subtree above it now complete."""
        current, index, level, done = leaf, self.size, 0, []
        while index & 1:
            level, index = level + 1, index >> 1
            current = node_hash(self._peaks.pop(), current)
            done.append((level, index, current))
        self._peaks.append(current)
        self.size += 1
        return done

    def root(self) -> bytes:
        """Return the root over the leaves so far."""
        return _fold(self._peaks) if self._peaks else EMPTY_ROOT


def _split(size: int) -> int:
    """Return the largest power of two below ``size``, which is at least 2."""
    return 1 << (size - 1).bit_length() - 1


def _range_root(low: int, high: int, node: Node) -> bytes:
    """Return the root over leaves ``low`` to ``high``, a range that such a split made."""
    peaks = []
    while low < high:
        level = (high - low).bit_length() - 1
        peaks.append(node(level, low >> level))
        low += 1 << level
    return _fold(peaks)


def _fold(peaks: Sequence[bytes]) -> bytes:
    current = peaks[-1]
    for peak in reversed(peaks[:-1]):
        current = node_hash(peak, current)
    return current


def _need_hashes(*hashes: bytes) -> None:
    for value in hashes:
        _need(len(value) == HASH_BYTES, f"a hash that is not {HASH_BYTES} bytes")


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise VerificationError(message)
