"""The use cases put together from ports; which adapters stand behind them is not known here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.http.services import Services
from service.ports.clock import Clock
from service.ports.identifiers import Identifiers
from service.ports.language import LanguageAnalyser
from service.ports.models import Embedder, EntailmentModel
from service.ports.proposer import Proposer
from service.ports.storage import Database
from service.usecases.adjudicate import Adjudicator
from service.usecases.attributes import ManageAttributes
from service.usecases.check import CheckFacts
from service.usecases.checkpoints import Checkpoints
from service.usecases.conflicts import ManageConflicts
from service.usecases.drift import FindDrift
from service.usecases.erasure.services import ErasureServices
from service.usecases.evaluate import Evaluate
from service.usecases.export_log import ExportLog
from service.usecases.export_user import ExportUser
from service.usecases.extract import Extractor
from service.usecases.gate import Gate
from service.usecases.intake import TakeIn
from service.usecases.lessons import ManageLessons
from service.usecases.lineage import ChangeMemory
from service.usecases.memories import ReadMemories
from service.usecases.memorize import Memorize
from service.usecases.plan import Planner
from service.usecases.policies import ManagePolicies
from service.usecases.propose import ProposingExtractor
from service.usecases.read_audit import ReadAudit
from service.usecases.readiness import Readiness
from service.usecases.recall_services import RecallServices
from service.usecases.remember import Remember
from service.usecases.report import BuildReport
from service.usecases.report_checkpoint import checkpoint_status
from service.usecases.report_rendering import Rendering
from service.usecases.reviews import ManageReviews
from service.usecases.statements import Statements
from service.usecases.supersede import Supersede
from service.usecases.surroundings import Surveyor
from service.usecases.weigh_facts import WeighFacts


@dataclass(frozen=True, slots=True)
class Base:
    """What almost every use case needs."""

    database: Database
    clock: Clock
    identifiers: Identifiers


@dataclass(frozen=True, slots=True)
class Models:
    """What reads and judges."""

    nli: EntailmentModel
    embedder: Embedder
    language: LanguageAnalyser
    proposer: Proposer | None = None


def assemble(
    base: Base,
    models: Models,
    gate: Gate,
    readiness: Readiness,
    recall: RecallServices,
    *,
    erasure: ErasureServices,
    checkpoints: Checkpoints,
    renderings: Mapping[str, Rendering],
    origin: str | None,
) -> Services:
    """Return every use case that a route calls."""
    db, clock, ids = base.database, base.clock, base.identifiers
    adjudicator = Adjudicator(
        gate=gate, nli=models.nli, embedder=models.embedder, language=models.language
    )
    memorize = _memorize(base, models, gate, adjudicator)
    take_in = TakeIn(extractor=_extractor(models), language=models.language, identifiers=ids)
    audit = ReadAudit(database=db, origin=origin, signed=lambda: checkpoints.state().last)
    return Services(
        check=CheckFacts(gate=gate, database=db, clock=clock, identifiers=ids),
        evaluate=Evaluate(
            gate=gate, embedder=models.embedder, database=db, clock=clock, identifiers=ids
        ),
        policies=ManagePolicies(database=db, clock=clock),
        audit=audit,
        readiness=readiness,
        weigh=WeighFacts(
            adjudicator=adjudicator, gate=gate, database=db, clock=clock, identifiers=ids
        ),
        remember=Remember(memorize=memorize, take_in=take_in, database=db, clock=clock),
        supersede=Supersede(memorize=memorize, take_in=take_in, database=db, clock=clock),
        change=ChangeMemory(
            gate=gate,
            statements=Statements(models.language),
            database=db,
            clock=clock,
            identifiers=ids,
        ),
        memories=ReadMemories(database=db),
        conflicts=ManageConflicts(database=db, clock=clock, identifiers=ids),
        reviews=ManageReviews(memorize=memorize, database=db, clock=clock),
        drift=FindDrift(database=db),
        lessons=ManageLessons(database=db, clock=clock, identifiers=ids),
        attributes=ManageAttributes(database=db),
        export=ExportUser(database=db, clock=clock),
        export_log=ExportLog(database=db, latest=checkpoints.latest),
        report=BuildReport(
            database=db,
            clock=clock,
            verify=audit.verify,
            checkpoint=lambda: checkpoint_status(checkpoints.state()),
        ),
        renderings=renderings,
        recall=recall.recall,
        receipts=recall.receipts,
        erasure=erasure,
        checkpoints=checkpoints,
    )


def _memorize(base: Base, models: Models, gate: Gate, adjudicator: Adjudicator) -> Memorize:
    return Memorize(
        gate=gate,
        embedder=models.embedder,
        planner=Planner(adjudicator=adjudicator, identifiers=base.identifiers),
        surveyor=Surveyor(database=base.database, embedder=models.embedder),
        database=base.database,
        clock=base.clock,
        identifiers=base.identifiers,
    )


def _extractor(models: Models) -> Extractor | ProposingExtractor:
    if models.proposer is None:
        return Extractor(models.language)
    return ProposingExtractor(language=models.language, proposer=models.proposer)
