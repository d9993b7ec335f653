"""Erasures at the level of storage: the use cases on real files, without an index or a model."""

from __future__ import annotations

from pathlib import Path

from service.adapters.backup.ledger import ErasureLedger
from service.adapters.db.database import SqlDatabase
from service.adapters.residue.search import FileResidue, Folders
from service.domain.erasure import Asked, ErasureMode, ErasureReason
from service.usecases.erasure.finish import Steps
from service.usecases.erasure.plan import PlanCommand
from service.usecases.erasure.services import ErasureServices, erasure_services
from tests.faults.deeds import CLOCK, IDENTIFIERS, SCOPE, key_folder

GONE, OF_ANOTHER = "I am allergic to peanuts.", "I have never liked shellfish."
USER, ANOTHER = "ursula", "alice"


def services_on(database: SqlDatabase, path: Path) -> ErasureServices:
    """Return the use cases on an open database."""
    data, keys = path.parent, key_folder(path)
    folders = Folders(path, data, data / "index", keys)
    steps = Steps(
        upkeep=database.upkeep,
        keys=database.keys,
        residue=FileResidue(folders),
        forget=(),
        purge=lambda: True,
        remember=ErasureLedger(keys, path),
    )
    return erasure_services(database, CLOCK, IDENTIFIERS, steps, ())


def plan(services: ErasureServices) -> str:
    """Plan to erase everything of the user; return the plan's digest."""
    command = PlanCommand(USER, Asked(ErasureMode.ALL, ()), ErasureReason.USER_REQUEST, "asked")
    return services.plan.run(SCOPE, command).stored.plan_sha256


def found(folder: Path, text: str) -> list[str]:
    """Name the files whose bytes hold a text."""
    files = (p for p in folder.rglob("*") if p.is_file())
    return sorted(p.name for p in files if text.encode() in p.read_bytes())
