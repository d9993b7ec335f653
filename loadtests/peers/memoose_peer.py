"""memoose: a relation between two entities per fact, recalled by full text and hashed vectors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ["MEMOOSE_DECIDER"] = "off"  # would ask for a model that has to be downloaded

from memoose.engine import Engine
from memoose.graph.models import EntityIn, RelationIn
from speak import TOP, serve

NAME = "bench"


class Memoose:
    about = (
        "the mode that it picks itself, nearly always hybrid: SQLite full text and hashed vectors, "
        "its default without a model"
    )

    def __init__(self, folder: Path) -> None:
        self._data = Engine(data_dir=folder).dataset(NAME)

    def remember(self, fact: dict[str, Any]) -> None:
        person, relation = fact["person"], fact["verb"].replace(" ", "_")
        self._data.remember(
            [EntityIn(name=person, type="Person"), EntityIn(name=fact["value"], type="Concept")],
            [
                RelationIn(
                    source=person,
                    name=relation,
                    target=fact["value"],
                    description=fact["text"],
                    evidence="user said 2026-11-29",
                )
            ],
        )

    def recall(self, query: str) -> list[str]:
        found = self._data.recall(query, limit=TOP)
        return [row["fact"] for row in found["facts"]]

    def verify(self) -> dict[str, Any]:
        return {}


if __name__ == "__main__":
    serve(Memoose)
