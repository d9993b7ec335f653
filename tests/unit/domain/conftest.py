"""The real parser for rules over parses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.adapters.language.analyser import EnglishAnalyser
from service.domain.clause_analysis import analyse_clauses
from service.domain.clauses import Clause
from service.domain.subjects import Perspective

Read = Callable[..., tuple[Clause, ...]]


@pytest.fixture(scope="session")
def english() -> EnglishAnalyser:
    return EnglishAnalyser()


@pytest.fixture(scope="session")
def read(english: EnglishAnalyser) -> Read:
    def clauses(text: str, *names: str) -> tuple[Clause, ...]:
        return analyse_clauses(english.parse([text])[0], Perspective(frozenset(names)))

    return clauses
