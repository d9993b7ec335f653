"""What a clause leaves out because the one before has it: "she hates swimming; I go daily"."""

from __future__ import annotations

from dataclasses import replace

from service.domain.extraction.passage import Passage
from service.domain.extraction.relation import Relation


def completed(
    passage: Passage, before: Passage | None, relation: Relation, text: str
) -> tuple[Relation, str]:
    """Return a relation and its sentence with the activity of the clause before.

    Only for a bare "go" that names neither a place nor an activity.
    """
    if before is None or passage.head.lemma != "go" or relation.attribute != "go":
        return relation, text
    activity = next(
        (t.lower for t in before.tokens if t.dep in ("dobj", "xcomp") and t.lower.endswith("ing")),
        None,
    )
    if activity is None:
        return relation, text
    verb = next((w for w in ("goes", "go", "went") if f" {w} " in f" {text} "), None)
    if verb is None:
        return relation, text
    value = f"{activity} {relation.value}"
    return replace(relation, value=value), text.replace(f" {verb} ", f" {verb} {activity} ", 1)
