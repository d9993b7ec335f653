"""How one JSON value differs from another, as paths that a person can follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.domain.recall.receipts import TOLERANCE


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is not what it should be."""

    field: str
    receipt: object
    found: object
    message: str = ""


def differences(receipt: object, found: object, path: str = "") -> list[Difference]:
    """Return every place in which a receipt differs from what was found."""
    return list(_compare(receipt, found, path))


def _compare(a: object, b: object, path: str) -> Iterator[Difference]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for name in sorted(a.keys() | b.keys(), key=str):
            yield from _compare(a.get(name), b.get(name), f"{path}.{name}" if path else str(name))
    elif _is_list(a) and _is_list(b):
        yield from _compare_lists(list(a), list(b), path)  # type: ignore[call-overload]
    elif not _equal(a, b):
        yield Difference(path, a, b)


def _compare_lists(a: list[object], b: list[object], path: str) -> Iterator[Difference]:
    for place in range(max(len(a), len(b))):
        left = a[place] if place < len(a) else None
        right = b[place] if place < len(b) else None
        yield from _compare(left, right, f"{path}[{place}]")


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _equal(a: object, b: object) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= TOLERANCE
    return type(a) is type(b) and a == b
