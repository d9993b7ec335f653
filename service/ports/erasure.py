"""What erasure asks of the storage: looking for what a user's texts are in, and deleting it.

Everything is within one tenant and one user (``subject_id``); nothing of others is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from service.domain.erasure import ErasureRecord, GroundState, StoredPlan


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """What matters about a memory when it may go.

    ``key`` is what it says: subject, attribute, value and polarity; ``more`` are its other texts
    that can repeat one (metadata as JSON, evidence, authority).
    """

    id: str
    turn_id: str | None
    decision_id: str | None
    status: str
    text: str
    passage: str
    key: tuple[str, str, str, bool]
    more: tuple[str, ...]
    replaced_by: str | None
    supersedes: tuple[str, ...]
    reason: str | None
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class HeldTurn:
    """A turn's id and text, and when it was said."""

    id: str
    text: str
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class HeldBody:
    """One text beside the log; ``first`` is the first memory that its entry names, if any.

    ``text`` is ``None`` if it cannot be read any more.
    """

    seq: int
    decision_id: str | None
    first: str | None
    name: str
    text: str | None


@dataclass(frozen=True, slots=True)
class HeldText:
    """A row of another kind: its id, the ids it is about, and its texts."""

    id: str
    about: tuple[str, ...]
    texts: tuple[str, ...]


class HeldStore(Protocol):
    """What there is of a user, as far as an erasure has to look at it."""

    def user_id(self, subject_id: str) -> str | None:
        """Return which user an opaque id stands for."""
        ...

    def state(self, subject_id: str) -> GroundState:
        """Return what a plan rests on; it moves with everything that is written for a user."""
        ...

    def memories(self, subject_id: str) -> Sequence[HeldMemory]:
        """Return every memory of a user, oldest first."""
        ...

    def turns(self, subject_id: str) -> Sequence[HeldTurn]:
        """Return every turn of a user, oldest first."""
        ...

    def bodies(self, subject_id: str) -> Iterator[HeldBody]:
        """Go through the texts beside the log."""
        ...

    def events(self, subject_id: str) -> Sequence[HeldText]:
        """Return the steps that have a reason; the id is the row's number."""
        ...

    def conflicts(self, subject_id: str) -> Sequence[HeldText]:
        """Return the conflicts of every status."""
        ...

    def reviews(self, subject_id: str) -> Sequence[HeldText]:
        """Return the items of the review queue of every status."""
        ...

    def lessons(self, subject_id: str) -> Sequence[HeldText]:
        """Return the user's own lessons."""
        ...

    def receipts(self, subject_id: str) -> Sequence[HeldText]:
        """Return the receipts, with the memories they name and the query."""
        ...

    def answers(self, subject_id: str) -> Sequence[HeldText]:
        """Return the stored answers that are about a user; the id is the key."""
        ...

    def counts(self, subject_id: str) -> Mapping[str, int]:
        """Return how many rows of each kind a user has."""
        ...

    def holding(self, subject_id: str, texts: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return (table, value) of the user's rows that hold one of the texts as it is."""
        ...

    def held_by_anybody(self, text: str) -> bool:
        """Return whether any row of any tenant holds a text; never told to anybody."""
        ...


class Eraser(Protocol):
    """Deletes rows; ``ids`` of ``None`` means all of a user's. Each returns how many went."""

    def memories(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete memories with their history and their vectors; conflicts have to go before."""
        ...

    def turns(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete turns; their memories have to go before."""
        ...

    def conflicts(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete conflicts."""
        ...

    def reviews(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete items of the review queue."""
        ...

    def lessons(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete the user's own lessons."""
        ...

    def receipts(self, subject_id: str, ids: Sequence[str] | None) -> int:
        """Delete receipts of recalls."""
        ...

    def answers(self, subject_id: str, keys: Sequence[str] | None) -> Sequence[str]:
        """Delete stored answers and whose they were; return the keys they were stored under."""
        ...

    def bodies(self, subject_id: str, which: Iterable[tuple[int, str]] | None) -> int:
        """Delete texts beside the log with their salts, by entry and name."""
        ...

    def reasons(self, subject_id: str, steps: Sequence[int]) -> int:
        """Empty the reasons of steps of memories that stay."""
        ...

    def subject(self, subject_id: str) -> int:
        """Delete which user an opaque id stands for; everything else has to go before."""
        ...


class ErasureStore(Protocol):
    """Plans that wait, and receipts of what was erased."""

    def put_plan(self, plan: StoredPlan) -> None:
        """Store a plan, in place of the same one."""
        ...

    def plan(self, plan_sha256: str) -> StoredPlan | None:
        """Return a plan that waits."""
        ...

    def drop_plans(self, *, subject_id: str | None = None, before: datetime | None = None) -> None:
        """Delete the plans of a user, or those that expired before a time."""
        ...

    def add(self, record: ErasureRecord) -> None:
        """Store a receipt; raises ``Conflict`` when its plan was confirmed before."""
        ...

    def finish(self, record: ErasureRecord) -> None:
        """Write the status, the findings and the time of completion."""
        ...

    def get(self, erasure_id: str) -> ErasureRecord | None:
        """Return a receipt of this tenant."""
        ...

    def by_plan(self, plan_sha256: str) -> ErasureRecord | None:
        """Return the receipt of a confirmed plan."""
        ...

    def unfinished(self) -> Sequence[tuple[str, str]]:
        """Return (tenant, id) of every tenant's erasures that are not complete, oldest first."""
        ...


class ErasedStore(Protocol):
    """Keyed digests of what was erased, so that a stale copy is recognised without its text.

    Digests of statements are made with the user's own key and mean nothing once that is destroyed;
    those of users and of clients' keys with the key file's secret. Without keys nothing is kept.
    """

    def add_statements(self, subject_id: str, until: Mapping[str, datetime]) -> None:
        """Remember erased statements (normalised), and until when saying them is stale."""
        ...

    def add_user(self, subject_id: str, at: datetime, later: Mapping[str, datetime]) -> None:
        """Remember that everything of a user was erased, and forget about their statements.

        ``later`` are statements that claim to have been said after that.
        """
        ...

    def add_answers(self, keys: Iterable[str], at: datetime) -> None:
        """Remember that the answers to clients' keys were erased."""
        ...

    def statement_erased_at(self, subject_id: str, texts: Sequence[str]) -> datetime | None:
        """Return until when the latest of these statements of a user is stale."""
        ...

    def user_erased_at(self, user_id: str, texts: Sequence[str]) -> datetime | None:
        """Return until when these statements of a user are stale, if everything was erased."""
        ...

    def answer_erased_at(self, key: str) -> datetime | None:
        """Return when the answer to a client's key was erased."""
        ...


class ErasureStores(Protocol):
    """Everything that erasure reaches through a transaction."""

    @property
    def held(self) -> HeldStore:
        """Return what there is of a user."""
        ...

    @property
    def eraser(self) -> Eraser:
        """Return what deletes it."""
        ...

    @property
    def records(self) -> ErasureStore:
        """Return plans and receipts."""
        ...

    @property
    def erased(self) -> ErasedStore:
        """Return what may not come back."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What must not be in any file: texts, and the ids of memories that are no more."""

    texts: tuple[str, ...] = field(default=(), repr=False)
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """Where something wanted was found: the texts, or how often where nobody else's can be.

    Of the database only the unused space is looked at: its rows are asked through SQL, and those
    of others are nobody's business.
    """

    free_space: tuple[str, ...] = field(default=(), repr=False)
    write_ahead_log: tuple[str, ...] = field(default=(), repr=False)
    index: int = 0
    keys: int = 0
    elsewhere: tuple[str, ...] = field(default=(), repr=False)


class Residue(Protocol):
    """Searches the bytes of every file of ours."""

    def search(self, wanted: Wanted) -> Places:
        """Return what is left; raises ``Unavailable`` if the files cannot be searched."""
        ...


class Upkeep(Protocol):
    """Work on the database file that is not a transaction."""

    def truncate(self) -> bool:
        """Move everything into the main file and empty the write-ahead log.

        True also means that no reader sees an older state any more.
        """
        ...

    def rebuild(self) -> None:
        """Write the file anew from its rows, so that its unused space holds nothing; slow."""
        ...
