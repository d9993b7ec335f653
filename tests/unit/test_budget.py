"""The size budget of the code, so that nothing grows until nobody can read it."""

from __future__ import annotations

import ast
import re
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "service").rglob("*.py"))
FILE_MEDIAN, FILE_MOST = 120, 400
FUNCTION_MEDIAN, FUNCTION_MOST = 10, 60
BROAD_MOST = 5
_REASON = re.compile(r"noqa: BLE001 - \S+")


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def size(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_files_are_small():
    assert statistics.median(len(lines(f)) for f in FILES) <= FILE_MEDIAN


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_file_and_no_function_is_too_long(path):
    assert len(lines(path)) <= FILE_MOST
    assert [f"{n.name}: {size(n)}" for n in functions(path) if size(n) > FUNCTION_MOST] == []


def test_functions_are_small():
    sizes = [size(node) for path in FILES for node in functions(path)]
    assert statistics.median(sizes) <= FUNCTION_MEDIAN


def broad_handlers() -> list[str]:
    found = []
    for path in FILES:
        text = lines(path)
        for node in ast.walk(ast.parse("\n".join(text))):
            if isinstance(node, ast.ExceptHandler) and _is_broad(node):
                found.append(text[node.lineno - 1])
    return found


def _is_broad(node: ast.ExceptHandler) -> bool:
    names = [n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)] if node.type else []
    broad = node.type is None or {"Exception", "BaseException"} & set(names)
    raises_again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
    return bool(broad) and not raises_again


def test_broad_handlers_are_few_and_say_why():
    found = broad_handlers()
    assert len(found) <= BROAD_MOST, found
    assert [line for line in found if not _REASON.search(line)] == []
