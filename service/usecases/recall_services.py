"""The use cases of recall put together; which index and key stand behind them is not known here."""

from __future__ import annotations

from dataclasses import dataclass

from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.index import NearestMemories
from service.ports.models import Embedder, EntailmentModel
from service.ports.signing import Signer
from service.ports.storage import Database
from service.usecases.recall import RecallMemories
from service.usecases.recall_answer import Answerer
from service.usecases.recall_corpus import Corpora
from service.usecases.recall_search import Searcher
from service.usecases.receipts import Issuer, ReadReceipts


@dataclass(frozen=True, slots=True)
class Finding:
    """What finds and vouches: the models, the index and the key."""

    nearest: NearestMemories
    embedder: Embedder
    nli: EntailmentModel
    signer: Signer


@dataclass(frozen=True, slots=True)
class RecallServices:
    """The use cases that the routes of recall call, and the memories that they keep."""

    recall: RecallMemories
    receipts: ReadReceipts
    corpora: Corpora


def recall_services(
    database: Database, clock: Clock, identifiers: Identifiers, finding: Finding
) -> RecallServices:
    """Return the use cases of recall."""
    corpora = Corpora()
    searcher = Searcher(nearest=finding.nearest, embedder=finding.embedder, nli=finding.nli)
    answerer = Answerer(searcher=searcher, corpora=corpora)
    issuer = Issuer(signer=finding.signer)
    recall = RecallMemories(
        database=database, answerer=answerer, issuer=issuer, clock=clock, identifiers=identifiers
    )
    receipts = ReadReceipts(database=database, answerer=answerer, issuer=issuer)
    return RecallServices(recall, receipts, corpora)
