"""The results of the bench as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import recall
from report import conditions, table

OURS = "groundkeeper"
KINDS = {"questions": "recall_ms", "restated": "recall_restated_ms"}
TIMES = (
    "",
    "facts",
    "remember p50 ms",
    "questions p50 ms",
    "p95 ms",
    "restated p50 ms",
    "p95 ms",
    "times ours, questions",
    "times ours, restated",
    "target",
)


def failures(found: dict[str, Any]) -> dict[str, int]:
    """Return how many requests failed, by part."""
    models = found.get("models")
    return {
        "models": models["single"]["failed"] + models["batched"]["failed"] if models else 0,
        "recall": found["recall"]["failed"] if "recall" in found else 0,
        "sqlite": found["sqlite"]["failed"] if "sqlite" in found else 0,
    }


def text(found: dict[str, Any]) -> str:
    """Return the whole report."""
    parts = {"models": models, "recall": recalls, "sqlite": writes, "peers": peers}
    took = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in found["seconds"].items())
    chosen = [make(found[name]) for name, make in parts.items() if name in found]
    head = f"# Bench\n\n{conditions(found['machine'])} Took: {took}."
    if found["quick"]:
        head += " **A quick run: its figures mean nothing.**"
    return "\n\n".join([head, *chosen])


def verdict(value: float, target: float, *, most: bool) -> str:
    met = value <= target if most else value >= target
    return f"{'≤' if most else '≥'} {target}: {'met' if met else '**missed**'}"


def models(found: dict[str, Any]) -> str:
    one, many = found["single"], found["batched"]
    rows = [
        ["p50 of bare ONNX Runtime, ms", one["raw_ms"]["p50"], "", ""],
        [
            "p50 of /check over HTTP, recorded, ms",
            one["http_ms"]["p50"],
            one["ratio"],
            verdict(one["ratio"], one["target"], most=True),
        ],
        [
            "p50 of /check over HTTP, not recorded, ms",
            one["http_unrecorded_ms"]["p50"],
            one["ratio_unrecorded"],
            "",
        ],
        ["checks/s, bare ONNX Runtime in full batches", many["raw_checks_per_second"], "", ""],
        [
            "checks/s, the same and spaCy's parse",
            many["raw_with_spacy_checks_per_second"],
            "",
            "",
        ],
        [
            f"checks/s over HTTP, {many['clients']} clients, to the models alone",
            many["http_checks_per_second"],
            many["ratio"],
            verdict(many["ratio"], many["target"], most=False),
        ],
        [
            "the same, to models and parse",
            many["http_checks_per_second"],
            many["ratio_with_spacy"],
            verdict(many["ratio_with_spacy"], many["target"], most=False),
        ],
    ]
    return (
        "## /check against bare ONNX Runtime\n\n"
        f"{one['checks']} checks one by one, {one['padded_tokens_per_check']} padded tokens each; "
        f"{many['checks']} at once. Bare means: the arrays that reach the sessions, put through "
        "the same sessions again, without tokenising, parsing, rules, HTTP, SQL or log. The parse "
        "was timed on one core and counted as if it were shared by all.\n\n"
        + table(["", "value", "ratio", "target"], rows)
    )


def recalls(found: dict[str, Any]) -> str:
    said = (
        f"{found['queries']} queries of a kind, one after another; one user with 10,000 facts, and "
        f"{found['users']} users with 200 each."
    )
    return f"## /recall against bare Chroma and numpy\n\n{said}\n\n{recall.text(found)}"


def writes(found: dict[str, Any]) -> str:
    rows = []
    for clients, f in found["clients"].items():
        for name, key in (
            ("Database.write of what was decided", "storage"),
            ("use case, models remembered", "case"),
        ):
            rows.append(
                [
                    f"{name}, {clients} at once",
                    f["raw_writes_per_second"],
                    f[f"{key}_writes_per_second"],
                    f[f"ratio_{key}"],
                    verdict(f[f"ratio_{key}"], found["target"], most=False),
                ]
            )
    whole = found["with_models"]
    for name, ratio in (
        ("HTTP with models to bare SQLite and bare models", "ratio_raw_sqlite_and_models"),
        ("HTTP with models to bare SQLite alone", "ratio_raw_sqlite_alone"),
    ):
        rows.append(
            [
                name,
                "",
                whole["http_writes_per_second"],
                whole[ratio],
                verdict(whole[ratio], found["target"], most=False),
            ]
        )
    many = next(reversed(found["clients"].values()))
    return (
        "## Structured writes with audit against bare SQLite\n\n"
        f"{found['writes']} writes, each of a new user and of {many['rows_per_write']} rows. Bare "
        "means: the statements that changed rows, replayed in the same commits on the same schema "
        "with the same driver and pragmas.\n\n"
        + table(["", "bare, writes/s", "ours, writes/s", "ratio", "target"], rows)
    )


def peers(found: dict[str, Any]) -> str:
    return "\n\n".join(
        [
            "## Other memory libraries",
            f"{found['queries']} questions about persons that are known, the answers to them as "
            "statements (“restated”), and as many questions about persons that are not. “Times "
            "ours” is their recall p50 by ours; above 1 we are faster.",
            recall_times(found),
            answered(found),
            checks(found),
            *(f"{n}: {s['about']}." for n, s in found["systems"].items()),
            *(f"{n}: {s['note']}." for n, s in found["systems"].items() if "note" in s),
        ]
    )


def recall_times(found: dict[str, Any]) -> str:
    """How long it takes to write and to recall, and how that compares with us."""
    ours, targets = found["systems"][OURS]["sizes"], found["targets"]
    rows = []
    for name, system, size, at in each(found):
        row = [f"{name} ({system['over']})", int(at["facts"]), at["remember_ms"]["p50"]]
        row += [at[key][share] for key in KINDS.values() for share in ("p50", "p95")]
        if name != OURS and size in ours:
            ratios = {k: at[key]["p50"] / ours[size][key]["p50"] for k, key in KINDS.items()}
            counts = name in targets and size == str(found["sizes"][-1])
            row += [*ratios.values(), reached(ratios, targets[name]) if counts else ""]
        rows.append([*row, *[""] * (len(TIMES) - len(row))])
    return table(TIMES, rows)


def reached(ratios: dict[str, float], target: float) -> str:
    """Say for each kind of query whether they take that many times as long."""
    said = [f"{k} {'met' if r >= target else '**missed**'}" for k, r in ratios.items()]
    return f"≥ {target}: {', '.join(said)}"


def answered(found: dict[str, Any]) -> str:
    """What came back, in shares."""
    heads = {
        "question: person first": "person_right",
        "fact first": "first_right",
        "fact in five": "any_of_five",
        "restated: fact first": "restated_first_right",
        "unknown answered": "unknown_answered",
    }
    rows = [
        [name, int(at["facts"]), *[share(at[key]) for key in heads.values()]]
        for name, _, _, at in each(found)
    ]
    return table(["", "facts", *heads], rows)


def each(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str, dict[str, Any]]]:
    """Every system at every size."""
    for name, system in found["systems"].items():
        for size, at in system["sizes"].items():
            yield name, system, size, at


def checks(found: dict[str, Any]) -> str:
    rows = [
        [f"{name}: {check}", int(at["facts"]), took]
        for name, _, _, at in each(found)
        for check, took in at["verify_ms"].items()
    ]
    return table(["check of its own records", "facts", "ms"], rows)


def share(value: float) -> str:
    return f"{100 * value:.0f}%"
