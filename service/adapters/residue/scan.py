"""Searching files for bytes that must be gone; run as a process of its own.

A process that opens and closes the file of a database which it also has open through SQLite loses
its locks on it (POSIX: closing any descriptor drops them all), so the service never does. Nothing
but the standard library is imported.

Of the database only the unused space is searched: the freelist, and in each b-tree page what lies
between the cell pointers and the cells and in free blocks (SQLite file format, sections 1.5 and
1.6). SQLite overwrites what it deletes, but a page that was split or merged can keep copies of
cells there. Rows are asked through SQL instead, where it is known whose they are.
"""

from __future__ import annotations

import base64
import json
import mmap
import os
import re
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

SQLITE_MAGIC = b"SQLite format 3\0"
FILE_HEADER, WAL_HEADER, FRAME_HEADER = 100, 32, 24
SMALLEST_PAGE = 512
INTERIOR, LEAVES = (2, 5), (10, 13)
ID = re.compile(rb"mem_[0-9a-z]{26}")
PART = 16
MANY = 200
PREFIX = 8


def unused(page: bytes, *, first: bool = False) -> Iterator[bytes]:
    """Return the unused stretches of a b-tree page that are not zero; of other pages, nothing."""
    start = FILE_HEADER if first else 0
    if len(page) < start + 12 or page[start] not in (*INTERIOR, *LEAVES):
        return
    block, cells, content = struct.unpack_from(">HHH", page, start + 1)
    head = start + (12 if page[start] in INTERIOR else 8) + 2 * cells
    yield from _filled(page[head : content or 65_536])
    seen: set[int] = set()
    while block and block not in seen and block + 4 <= len(page):
        seen.add(block)
        following, size = struct.unpack_from(">HH", page, block)
        yield from _filled(page[block + 4 : block + size])
        block = following


def unused_of_database(path: Path) -> Iterator[bytes]:
    """Return everything in a database file that is no part of a row."""
    with path.open("rb") as file:
        header = file.read(FILE_HEADER)
        if len(header) < FILE_HEADER or not header.startswith(SQLITE_MAGIC):
            raise ValueError("not a database")
        size = _page_size(struct.unpack_from(">H", header, 16)[0])
        count, trunk = struct.unpack_from(">I", header, 28)[0], header[32:36]
        free: set[int] = set()
        for leaves, rest in _freelist(file, size, struct.unpack(">I", trunk)[0]):
            free |= leaves
            yield from _filled(rest)
        file.seek(0)
        number = 0
        while page := file.read(size):
            number += 1
            if number in free or number > count:
                yield from _filled(page)
            else:
                yield from unused(page, first=number == 1)


def unused_of_log(path: Path) -> Iterator[bytes]:
    """Return what is no part of a row in the pages of a write-ahead log."""
    with path.open("rb") as file:
        header = file.read(WAL_HEADER)
        if len(header) < WAL_HEADER:
            return
        size = struct.unpack_from(">I", header, 8)[0]
        while len(frame := file.read(FRAME_HEADER + size)) == FRAME_HEADER + size:
            number = struct.unpack_from(">I", frame, 0)[0]
            yield from unused(frame[FRAME_HEADER:], first=number == 1)


def in_unused(stretches: Iterable[bytes], needles: list[tuple[int, bytes]]) -> set[int]:
    """Return the numbers of the needles that unused space holds, or a telling part of."""
    hay = b"\0".join(stretches)
    if len(needles) <= MANY:
        return {n for n, needle in needles if any(part in hay for part in parts(needle))}
    starts: dict[bytes, list[tuple[int, bytes]]] = {}
    for number, needle in needles:
        starts.setdefault(needle[:PREFIX], []).append((number, needle))
    found: set[int] = set()
    for at in range(len(hay) - PREFIX + 1):
        for number, needle in starts.get(hay[at : at + PREFIX], ()):
            if hay.startswith(needle, at):
                found.add(number)
    return found


def parts(needle: bytes) -> list[bytes]:
    """Return what gives a needle away: all of it, its end, and the middle of a long one."""
    found = [needle]
    if len(needle) >= PART + PREFIX:
        found.append(needle[-PART:])
    if len(needle) >= 3 * PART:
        middle = len(needle) // 2
        found.append(needle[middle - PART : middle])
    return found


def in_file(path: Path, needles: list[tuple[int, bytes]], ids: set[bytes]) -> tuple[set[int], int]:
    """Return the numbers of the needles that a file holds, and how many of the ids."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return set(), 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = {n for n, needle in needles[:MANY] if content.find(needle) >= 0}
            return found, len(ids & set(ID.findall(content))) if ids else 0


def files_below(root: Path, skipped: set[Path]) -> Iterator[Path]:
    """Go through the files of a folder, apart from what is skipped; links are not followed."""
    for folder, names, files in os.walk(root):
        here = Path(folder)
        names[:] = [name for name in names if here / name not in skipped]
        yield from (
            here / name
            for name in files
            if here / name not in skipped and not (here / name).is_symlink()
        )


def search(asked: dict[str, Any]) -> dict[str, Any]:
    """Do what the service asks; see ``service.adapters.residue.search``."""
    needles = [(int(n), base64.b64decode(data)) for n, data in asked["needles"]]
    ids = {i.encode() for i in asked["ids"]}
    answer: dict[str, Any] = {"unused": [], "log": [], "index": 0, "keys": 0, "other": []}
    database = Path(asked["database"])
    answer["unused"] = sorted(in_unused(unused_of_database(database), needles))
    log = database.with_name(f"{database.name}-wal")
    if log.exists():
        answer["log"] = sorted(in_unused(unused_of_log(log), needles))
    skipped = {Path(path) for path in asked["skipped"]}
    other: set[int] = set()
    for root, kind in asked["roots"]:
        for path in files_below(Path(root), skipped):
            try:
                found, named = in_file(path, needles, ids if kind == "index" else set())
            except FileNotFoundError:  # it went while we looked
                continue
            if kind == "other":
                other |= found
            else:
                answer[kind] += len(found) + named
    answer["other"] = sorted(other)
    return answer


def _page_size(stored: int) -> int:
    size = 65_536 if stored == 1 else stored
    if size < SMALLEST_PAGE or size & (size - 1):
        raise ValueError("not the size of a page")
    return size


def _freelist(file: BinaryIO, size: int, trunk: int) -> Iterator[tuple[set[int], bytes]]:
    """Go through the freelist: the leaves of each trunk, and the unused rest of the trunk."""
    seen: set[int] = set()
    while trunk and trunk not in seen:
        seen.add(trunk)
        file.seek((trunk - 1) * size)
        page = file.read(size)
        if len(page) < size:
            return
        trunk, count = struct.unpack_from(">II", page, 0)
        count = min(count, size // 4 - 2)
        leaves = struct.unpack_from(f">{count}I", page, 8)
        yield set(leaves), page[8 + 4 * count :]


def _filled(stretch: bytes) -> Iterator[bytes]:
    found = stretch.strip(b"\0")
    if found:
        yield found


if __name__ == "__main__":
    json.dump(search(json.load(sys.stdin)), sys.stdout)
