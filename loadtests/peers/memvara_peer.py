"""memvara: subject, predicate and object per fact, recalled by its hybrid search."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pysqlite3

sys.modules["sqlite3"] = pysqlite3  # it refuses the older SQLite that comes with Python 3.11
warnings.filterwarnings("ignore")  # it says that it has no language model; none is wanted

from memvara import Memvara, NullLLM  # noqa: E402 - after the library has been put in its place
from speak import TOP, serve  # noqa: E402

USER = "alice"


class MemvaraPeer:
    about = "hybrid search with its default embedder, no language model"

    def __init__(self, folder: Path) -> None:
        self._memory = Memvara(str(folder / "memvara.db"), user=USER, llm=NullLLM())

    def remember(self, fact: dict[str, Any]) -> None:
        relation = fact["verb"].replace(" ", "_")
        self._memory.remember(fact["person"], relation, fact["value"], text=fact["text"])

    def recall(self, query: str) -> list[str]:
        return [result.text for result in self._memory.search(query, k=TOP)]

    def verify(self) -> dict[str, Any]:
        return {}


if __name__ == "__main__":
    serve(MemvaraPeer)
