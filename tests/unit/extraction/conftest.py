from datetime import UTC, datetime

import pytest

from service.adapters.language.analyser import EnglishAnalyser
from service.domain.check import CheckInput, Message
from service.domain.triples import fact_triples
from service.domain.verdicts import Speaker
from service.usecases.extract import Extractor
from service.usecases.reader import Reader

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture(scope="session")
def language():
    """The real parser."""
    return EnglishAnalyser()


@pytest.fixture(scope="session")
def extract(language):
    """Extract from messages: strings are the user's, pairs are (role, content)."""
    extractor = Extractor(language)

    def run(*messages, at=NOW, name=None):
        turns = [m if isinstance(m, tuple) else ("user", m) for m in messages]
        made = [Message(Speaker(role), content) for role, content in turns]
        return extractor.extract(made, observed_at=at, speaker_name=name)

    return run


@pytest.fixture(scope="session")
def candidates(extract):
    """All candidates of all messages."""

    def run(*messages, **given):
        return [c for e in extract(*messages, **given) for c in e.candidates]

    return run


@pytest.fixture(scope="session")
def reasons(extract):
    """The reasons for which passages were skipped."""

    def run(*messages, **given):
        return [s.reason.value for e in extract(*messages, **given) for s in e.skipped]

    return run


@pytest.fixture(scope="session")
def triples(language):
    """The triples of a fact, as tuples."""
    reader = Reader(language)

    def run(fact, name=None):
        [reading] = reader.read([CheckInput("-", fact, speaker_name=name)])
        found = fact_triples(reading)
        return [(t.subject, t.attribute, t.value, t.polarity) for t in found]

    return run
