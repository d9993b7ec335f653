"""Recall on the project's own case files, through the use case and a real store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from service.domain.policy import Policy
from service.evaluation.data import MissingDataError
from service.evaluation.recall_store import CaseStore, case_store
from service.evaluation.sections import Bench, Row, Section, Table, clip, models_of
from service.evaluation.tally import percent

FILES: Final = ("recall", "recall_own")
PEOPLE: Final = "recall_people"
_FILTERS: Final = ("agent_id", "session_id", "include_superseded")
_RAW: Final = Policy().recall_threshold


@dataclass(frozen=True, slots=True)
class Tried:
    """One case with what came back."""

    case: Mapping[str, Any]
    texts: tuple[str, ...]
    reason: str
    best: float | None

    @property
    def right(self) -> bool:
        """Return whether everything that the case expects holds."""
        return meets(self.case["expect"], self.texts, self.reason)

    @property
    def leaked(self) -> bool:
        """Return whether something came back that was replaced."""
        barred = self.case["expect"].get("must_exclude", ())
        return any(word in text for word in barred for text in self.texts)


def recall_cases(bench: Bench) -> Section:
    """Score recall on the case files and on the people, with plain cosine beside it."""
    embedder, nli = models_of(bench)
    tables: list[Table] = []
    with case_store(embedder, nli) as store:
        for name in FILES:
            tried = [try_case(store, case) for case in _read(bench, name)]
            tables += [_by_kind(name, tried), *_failing(name, tried)]
        people = _read(bench, PEOPLE)
        rows = [_people_row(half, store, bench, people) for half in ("calibration", "held-out")]
    tables.append(
        Table("People: answers hidden, noise returned", _PEOPLE, [r for pair in rows for r in pair])
    )
    return Section("Recall cases", {}, tables, [_NOTE])


_PEOPLE: Row = ("half", "scorer", "answers hidden", "unknown answered")
_NOTE = (
    "`recall_own` are the seven categories in MemEngine's shape, two wordings each; "
    "`recall_people` "
    "are stores of about a dozen memories with questions that they answer and questions that they "
    "do not. The curves were fitted on the calibration half only. Plain cosine stands beside, at "
    f"the same threshold of {_RAW}."
)


def try_case(store: CaseStore, case: Mapping[str, Any]) -> Tried:
    """Store a case's memories for a user of its own, and ask its question."""
    request, user = case["request"], case["id"]
    rows = [{**row, "user_id": user} for row in request["seed"]]
    store.seed(rows, user)
    given = {name: request[name] for name in _FILTERS if name in request}
    found = store.ask(request["query"], user, receipt=False, **given)
    texts = tuple(h.memory.text for h in found.outcome.hits if h.memory is not None)
    return Tried(case, texts, found.outcome.reason.value, found.outcome.best_score)


def meets(expect: Mapping[str, Any], texts: Sequence[str], reason: str) -> bool:
    """Return whether texts, best first, are what a case expects."""
    if expect.get("results") == [] and texts:
        return False
    included = all(any(word in t for t in texts) for word in expect.get("must_include", ()))
    excluded = not any(word in t for word in expect.get("must_exclude", ()) for t in texts)
    first = "top1" not in expect or (bool(texts) and expect["top1"] in texts[0])
    return included and excluded and first and reason in expect.get("response_has", [reason])


def _read(bench: Bench, name: str) -> list[dict[str, Any]]:
    file = bench.cases / f"{name}.jsonl"
    if not file.is_file():
        raise MissingDataError(f"{bench.cases.name}/{file.name}")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def _by_kind(name: str, tried: Sequence[Tried]) -> Table:
    kinds = dict.fromkeys(t.case["kind"] for t in tried)
    rows = [_kind_row(kind, [t for t in tried if t.case["kind"] == kind]) for kind in kinds]
    return Table(name, ("kind", "n", "right", "leaks"), [*rows, _kind_row("all", tried)])


def _kind_row(kind: str, tried: Sequence[Tried]) -> Row:
    right, leaks = sum(t.right for t in tried), sum(t.leaked for t in tried)
    return kind, str(len(tried)), percent(right, len(tried)), str(leaks)


def _failing(name: str, tried: Sequence[Tried]) -> list[Table]:
    rows = [
        (t.case["id"], clip(t.case["request"]["query"]), clip(" / ".join(t.texts)), t.reason)
        for t in tried
        if not t.right
    ]
    return (
        [Table(f"{name}: not right", ("id", "query", "returned", "reason"), rows)] if rows else []
    )


def _people_row(
    half: str, store: CaseStore, bench: Bench, people: Sequence[Mapping[str, Any]]
) -> list[Row]:
    mine = [p for p in people if p["half"] == half]
    ours, plain = [0, 0], [0, 0]
    answered = sum(len(p["answered"]) for p in mine)
    unknown = sum(len(p["unknown"]) for p in mine)
    for person in mine:
        _ask_person(store, person, ours)
        _plain_person(bench, person, plain)
    return [
        (half, name, f"{hidden}/{answered}", f"{noise}/{unknown}")
        for name, (hidden, noise) in (("ours", ours), ("plain cosine", plain))
    ]


def _ask_person(store: CaseStore, person: Mapping[str, Any], counts: list[int]) -> None:
    user, memories = person["id"], person["memories"]
    store.seed([{"fact": text} for text in memories], user)
    for query, gold in person["answered"]:
        hits = store.ask(query, user, receipt=False).outcome.hits
        texts = {h.memory.text for h in hits if h.memory is not None}
        counts[0] += not texts & {memories[place] for place in gold}
    for query in person["unknown"]:
        counts[1] += bool(store.ask(query, user, receipt=False).outcome.hits)


def _plain_person(bench: Bench, person: Mapping[str, Any], counts: list[int]) -> None:
    embedder, _ = models_of(bench)
    memories = embedder.embed(person["memories"])
    for query, gold in person["answered"]:
        cosines = memories @ embedder.embed([query])[0]
        counts[0] += max(float(cosines[place]) for place in gold) < _RAW
    for query in person["unknown"]:
        counts[1] += float((memories @ embedder.embed([query])[0]).max()) >= _RAW
