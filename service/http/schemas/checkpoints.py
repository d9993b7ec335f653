"""``GET /audit/checkpoint``."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from service.http.schemas.common import AnswerModel
from service.usecases.checkpoints import Checkpoints


class SignedCheckpointOut(AnswerModel):
    """The last signed checkpoint; what is null was never signed."""

    note: str | None = Field(description="A C2SP signed note; keep it, byte for byte.")
    origin: str | None = Field(description="The log's name, which is also the key's.")
    size: int | None = Field(description="How many entries it covers.")
    root: str | None = Field(description="RFC 6962 root over them, in hex.")
    signed_at: datetime | None
    age_seconds: float | None
    uncovered: int = Field(description="Entries that were added since.")
    keys: list[str] = Field(
        description="Public keys as text: the one that signs now, then those before it. Take "
        "them from the operator, not from here: whoever forges a log serves its key as well."
    )
    rotations: list[str] = Field(
        description="Notes that a key and its successor have both signed, oldest first."
    )
    read_only: str | None = Field(
        description="Why nothing is signed and nothing written any more; null if all is well."
    )


def signed_checkpoint_out(checkpoints: Checkpoints) -> SignedCheckpointOut:
    """Return the last checkpoint as it is shown."""
    state = checkpoints.state()
    last = state.last
    found = None if last is None else last.checkpoint
    return SignedCheckpointOut(
        note=None if last is None else last.note,
        origin=None if found is None else found.origin,
        size=None if found is None else found.size,
        root=None if found is None else found.root.hex(),
        signed_at=None if last is None else last.stored_at,
        age_seconds=state.age_seconds,
        uncovered=state.uncovered,
        keys=list(checkpoints.keys()),
        rotations=list(checkpoints.rotations()),
        read_only=state.refused,
    )
