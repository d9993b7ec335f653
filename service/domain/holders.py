"""Who or what a predicate is about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HolderKind(StrEnum):
    """The kinds of subject that the attribution guard tells apart."""

    SPEAKER = "speaker"
    ADDRESSEE = "addressee"
    RELATED = "related"
    NAMED = "named"
    OTHER_PERSON = "other_person"
    PRONOUN = "pronoun"
    POSSESSION = "possession"
    THING = "thing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Holder:
    """A subject: its kind, its head noun (or name, or pronoun) in lower case, and its aliases.

    ``RELATED`` is somebody named through the speaker ("my brother"), ``POSSESSION`` something
    inanimate of the speaker's ("my flight"), ``NAMED`` a proper name, ``PRONOUN`` a third person
    whose antecedent is not known. ``aliases`` are other names for the same one ("Jake" for
    "my roommate Jake"). ``owner`` is the name or noun of another person to whom the thing belongs
    ("Ana's car").
    """

    kind: HolderKind
    noun: str = ""
    aliases: frozenset[str] = frozenset()
    owner: str = ""

    @property
    def is_third_party(self) -> bool:
        """Return whether this is a person or animal other than the speaker."""
        return self.kind in THIRD_PARTIES

    @property
    def names(self) -> frozenset[str]:
        """Return every word this holder goes by."""
        return self.aliases | {self.noun} if self.noun else self.aliases


THIRD_PARTIES = frozenset(
    {HolderKind.RELATED, HolderKind.NAMED, HolderKind.OTHER_PERSON, HolderKind.PRONOUN}
)
SPEAKER_HOLDER = Holder(HolderKind.SPEAKER)
UNKNOWN_HOLDER = Holder(HolderKind.UNKNOWN)
