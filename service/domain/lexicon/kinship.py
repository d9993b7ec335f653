"""Different words for the same relation."""

from __future__ import annotations

_GROUPS = (
    "mother mom mum mam mama mamma mommy mummy",
    "father dad daddy papa pop",
    "grandmother grandma gran granny nan nana",
    "grandfather grandpa grandad granddad grandpapa",
    "sibling brother sister",
    "child kid son daughter children kiddo",
    "parent mother father mom mum dad",
    "spouse wife husband hubby partner",
    "partner boyfriend girlfriend bf gf spouse wife husband fiancé fiancée fiance fiancee",
    "roommate flatmate housemate roomie",
    "colleague coworker co-worker workmate",
    "neighbour neighbor",
    "boss manager supervisor",
    "doctor physician gp",
    "friend bestie buddy pal mate bff",
    "dog puppy pup doggo pet",
    "cat kitten kitty pet",
)
_SETS = tuple(frozenset(g.split()) for g in _GROUPS)


def same_relation(first: str, second: str) -> bool:
    """Return whether two nouns can name the same relation ("mum", "mother"; "son", "child")."""
    return first == second or any(first in group and second in group for group in _SETS)


_IMPLIED = {
    "wife": "married marry spouse husband", "husband": "married marry spouse wife",
    "spouse": "married marry", "fiancé": "engaged engage", "fiancée": "engaged engage",
    "son": "parent father mother child kid dad mum mom", "daughter": "parent father mother child",
    "kid": "parent father mother child", "child": "parent father mother",
    "baby": "parent father mother child", "twin": "sibling parent",
    "grandson": "grandparent grandfather grandmother", "ex": "divorced separated",
    "boyfriend": "relationship", "girlfriend": "relationship", "partner": "relationship",
}  # fmt: skip


def implied_by(noun: str) -> frozenset[str]:
    """Return the words for what having such a relation makes the speaker ("wife": "married")."""
    return frozenset(_IMPLIED.get(noun, "").split())
