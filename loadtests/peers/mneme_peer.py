"""flywheel-mneme: sentences of the user's turns, recalled by BM25, its default without a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mneme import AgentMemory, verify_recall
from speak import TOP, serve

USER, SESSION = "alice", "chat"


class Mneme:
    about = "BM25 over the user's sentences, its default without a model; receipt with every recall"

    def __init__(self, folder: Path) -> None:
        self._memory = AgentMemory(folder / "mneme.db")
        self._last: Any = None
        self._turn = 0

    def remember(self, fact: dict[str, Any]) -> None:
        self._turn += 1
        turn = {"id": f"t{self._turn}", "role": "user", "text": fact["said"]}
        self._memory.remember(SESSION, [turn], user=USER)

    def recall(self, query: str) -> list[str]:
        self._last = self._memory.recall(query, top_k=TOP, user=USER)
        return [hit.text for hit in self._last.hits]

    def verify(self) -> dict[str, Any]:
        return {
            "receipt of one recall": self._again,
            "every memory against its turn": self._memory.drift,
            "audit chain (of changes and erasures; empty)": self._memory.store.verify_audit,
        }

    def _again(self) -> None:
        kept = self._memory.store.memories(layer="L1", user=USER)
        rows = [
            {
                "id": r["id"],
                "text": r["text"],
                "layer": r["layer"],
                "ord": r["created_ord"],
                "content_sha256": r["content_sha256"],
            }
            for r in kept
        ]
        if not verify_recall(self._last, rows):
            raise RuntimeError("the receipt does not verify")


if __name__ == "__main__":
    serve(Mneme)
