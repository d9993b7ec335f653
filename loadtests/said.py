"""What people say in the measurements: facts about many persons, and talk around them.

Built from the sentences of ``recall_data``; a text never repeats within one ``Talk``, so no cache
of the service has seen it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from recall_data import ABOUT, WHO, Spoken

from service.domain.memory import Triple

NAMES = (
    "Tom Anna Luca Mira Paul Nora Ivan Ruth Omar Lena Karl Sofia Hugo Ines Emil Clara Noah Alma "
    "Felix Greta Oskar Vera Jonas Maya Leo Elsa Theo Frida Max Ida"
).split()
STRANGERS = "pharmacist carpenter stepsister milkman chaplain caddie valet choirmaster".split()
FILLERS = (
    "Hope you are doing well.",
    "Sorry for the long message.",
    "It has been a busy week here.",
    "By the way, thanks for the tip about the printer.",
    "I will be back in the office on Thursday.",
    "The weather has been awful lately.",
    "Can you help me plan the weekend?",
    "I still have to answer forty emails today.",
    "We talked about this over lunch.",
    "Please keep it short this time.",
    "The train was late again this morning.",
    "What should I cook tonight?",
)
OPENINGS = ("Hi!", "Hello there.", "Good morning.", "Hey, quick one.", "So,", "Right.", "")
ROWS = [line.split("|") for line in ABOUT.strip().splitlines()]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is so, and how it is said, kept and asked about."""

    person: str  # "brother Tom"
    attribute: str
    verb: str
    value: str
    other: str  # what else it could have been
    asks: tuple[str, str]

    @property
    def key(self) -> str:
        """Names what it is about; every fact with this key answers its questions."""
        return f"{self.person}|{self.attribute}"

    @property
    def said(self) -> str:
        return f"My {self.person} {self.verb} {self.value}."

    @property
    def text(self) -> str:
        return f"The user's {self.person} {self.verb} {self.value}."

    @property
    def wrong(self) -> str:
        return f"The user's {self.person} {self.verb} {self.other}."

    @property
    def questions(self) -> tuple[str, str]:
        return tuple(ask.format(f"my {self.person}") for ask in self.asks)

    @property
    def spoken(self) -> Spoken:
        """The same as the bulk writer wants it."""
        subject = f"user.{self.person.replace(' ', '_').lower()}"
        triple = Triple(subject, self.attribute, self.value)
        restated = self.text.rstrip(".").removeprefix("The ")
        return Spoken(self.text, triple, self.questions, restated)


def persons() -> list[str]:
    """Return 1,200 of them, so that those who stand together have different roles."""
    return [f"{who} {NAMES[(n + shift) % len(NAMES)]}" for shift, n, who in _places()]


def _places() -> Iterator[tuple[int, int, str]]:
    for shift in range(len(NAMES)):
        for n, who in enumerate(WHO):
            yield shift, n, who


def facts(count: int) -> list[Fact]:
    """Return that many different ones, person after person; 30,000 at most."""
    found = []
    for n, (person, row) in enumerate(itertools.product(persons(), ROWS)):
        if n == count:
            break
        found.append(_fact(person, row, n))
    return found


def unknown(count: int) -> list[str]:
    """Return questions about persons of whom nobody ever said anything."""
    pairs = itertools.product(STRANGERS, ROWS)
    return [row[2].format(f"my {person}") for person, row in itertools.islice(pairs, count)]


def _fact(person: str, row: list[str], turn: int) -> Fact:
    attribute, verb, first, second, values = row
    value, other = values.split() if turn % 2 == 0 else reversed(values.split())
    return Fact(person, attribute, verb, value, other, (first, second))


class Talk:
    """A source of texts that nobody has seen; the same seed gives the same texts."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        stock = facts(30_000)
        self._random.shuffle(stock)
        turned = [replace(f, value=f.other, other=f.value) for f in stock]
        self._stock = itertools.cycle([*stock, *turned])
        self._rounds = itertools.count()

    def fact(self) -> Fact:
        return next(self._stock)

    def message(self, sentences: int = 0) -> str:
        """One message of a chat with one fact in it."""
        return self._around(self.fact(), sentences)

    def check(self, sentences: int | None = None) -> dict[str, object]:
        """A request to ``POST /check``: three in five supported, the others not."""
        fact, chance = self.fact(), self._random.random()
        more = self._random.choice((0, 0, 1, 2, 4)) if sentences is None else sentences
        said = self._around(fact, more)
        text = fact.text if chance < 0.6 else fact.wrong if chance < 0.8 else self.fact().text
        return {"source": said, "fact": text}

    def structured(self, user: str) -> dict[str, object]:
        """A request to ``POST /memory`` with a fact as such."""
        fact = self.fact()
        triple = fact.spoken.triple
        return {
            "user_id": user,
            "fact": {
                "text": fact.text,
                "subject": triple.subject,
                "attribute": triple.attribute,
                "value": triple.value,
                "source": fact.said,
            },
        }

    def _around(self, fact: Fact, sentences: int) -> str:
        serial = next(self._rounds)
        fillers = self._random.sample(FILLERS, min(sentences, len(FILLERS)))
        numbered = [f"This is note {serial} of mine."] if sentences else []
        at = self._random.randint(0, len(fillers))
        parts = [self._random.choice(OPENINGS), *fillers[:at], fact.said, *fillers[at:], *numbered]
        return " ".join(part for part in parts if part)
