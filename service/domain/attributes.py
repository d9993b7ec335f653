"""Which attributes hold one value at a time, and how attributes are named."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FUNCTIONAL = frozenset(
    """home employer job_title title deadline os name first_name last_name surname nickname age
    birthday birthplace blood_type manager boss supervisor rent salary income budget phone
    phone_number email email_address address postcode marital_status spouse husband wife partner
    desk office timezone time_zone pronouns pronoun height weight shoe_size status assignment
    framework
    date time start_date due_date location value price cost ceiling limit port version capital
    landlord landlady gp dentist doctor editor browser shell terminal wifi password_manager bank
    colour color room floor owner lead leader native_language diet citizenship""".split()
)
_PREFIXES = ("favourite_", "favorite_", "default_", "preferred_", "main_", "primary_", "current_")
_SUFFIXES = (
    "_date", "_time", "_location", "_deadline", "_name", "_number", "_address", "_size", "_version",
    "_port", "_budget", "_price", "_limit", "_ceiling", "_rent", "_salary", "_colour", "_color",
)  # fmt: skip
_SPELLING = {
    "favorite": "favourite",
    "color": "colour",
    "neighbor": "neighbour",
    "center": "centre",
}
_SAME = {"profession": "occupation", "job": "occupation", "cell_phone": "phone"}
_NOT_WORD = re.compile(r"[^\w]+")


def is_functional(attribute: str, declared: Mapping[str, bool]) -> bool:
    """Return whether an attribute holds one current value per subject.

    What a tenant declared comes first, then the built-in table. An attribute that neither knows is
    taken to hold several values: two memories that coexist wrongly can be resolved later, one that
    was retired wrongly is missed by nobody.
    """
    if attribute in declared:
        return declared[attribute]
    if attribute in _FUNCTIONAL:
        return True
    return attribute.startswith(_PREFIXES) or attribute.endswith(_SUFFIXES)


def attribute_name(phrase: str) -> str:
    """Return the snake case name of an attribute: "Favorite color" gives "favourite_colour".

    "New" and "current" are left out: "my new address" is the address.
    """
    words = [w for w in _NOT_WORD.split(phrase.casefold()) if w and w != "s"]
    if len(words) > 1 and words[0] in ("new", "current"):
        words = words[1:]
    name = "_".join(_SPELLING.get(w, w) for w in words)
    return _SAME.get(name, name)


def built_in() -> tuple[str, ...]:
    """Return the names of the built-in table, sorted."""
    return tuple(sorted(_FUNCTIONAL))
