"""LoCoMo's conversations: who said what and when, and what was observed in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from service.evaluation.data import read_json

FILE = "eval/locomo10.json.gz"
_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said."""

    key: str
    speaker: str
    text: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Observation:
    """A statement about somebody, with the turn that it was drawn from."""

    key: str
    about: str
    text: str
    turn: Turn


@dataclass(frozen=True, slots=True)
class Conversation:
    """Two people's sessions, with observations and questions."""

    key: str
    speakers: tuple[str, str]
    turns: Mapping[str, Turn]
    observations: tuple[Observation, ...]
    evidence: Mapping[str, frozenset[str]]

    def other(self, name: str) -> str:
        """Return the other speaker's name."""
        first, second = self.speakers
        return second if name == first else first


def load_conversations(data: Path | None) -> list[Conversation]:
    """Return LoCoMo's conversations; raises ``MissingDataError``."""
    return [_conversation(raw) for raw in read_json(data, FILE)]


def _conversation(raw: Mapping[str, Any]) -> Conversation:
    talk, key = raw["conversation"], raw["sample_id"]
    turns = {turn.key: turn for turn in _turns(talk)}
    return Conversation(
        key=key,
        speakers=(talk["speaker_a"], talk["speaker_b"]),
        turns=turns,
        observations=tuple(_observations(key, raw["observation"], turns)),
        evidence={q["question"]: frozenset(q["evidence"]) for q in raw["qa"]},
    )


def _turns(talk: Mapping[str, Any]) -> list[Turn]:
    found: list[Turn] = []
    for name, session in talk.items():
        if not isinstance(session, list):
            continue
        at = _moment(talk.get(f"{name}_date_time"))
        found += [Turn(t["dia_id"], t["speaker"], t["text"], at) for t in session]
    return found


def _moment(text: str | None) -> datetime | None:
    return datetime.strptime(text, _TIME).replace(tzinfo=UTC) if text else None


def _observations(
    key: str, sessions: Mapping[str, Any], turns: Mapping[str, Turn]
) -> list[Observation]:
    """Return the observations that rest on one known turn of the person they are about."""
    found: list[Observation] = []
    for by_name in sessions.values():
        for name, entries in by_name.items():
            for text, cited in entries:
                turn = turns.get(_single(cited))
                if turn is not None and turn.speaker == name:
                    found.append(Observation(f"{key}/{turn.key}", name, text, turn))
    return found


def _single(cited: str | list[str]) -> str:
    ids = cited if isinstance(cited, list) else re.findall(r"D\d+:\d+", cited)
    return ids[0] if len(ids) == 1 else ""
