"""Which attributes hold one value per subject."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.attributes import attribute_name, built_in, is_functional
from service.domain.digests import json_digest
from service.domain.errors import InvalidInput
from service.ports.storage import Database, EntryDraft, Scope, Transaction

_LIMIT = 64


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute and whether it holds one value; ``declared`` by the tenant, or built in."""

    name: str
    functional: bool
    declared: bool


class ManageAttributes:
    """The use cases behind ``/attributes``."""

    def __init__(self, *, database: Database) -> None:
        self._database = database

    def list(self, scope: Scope) -> list[Attribute]:
        """Return the tenant's declarations and the built-in table, by name."""
        declared = self._database.read(scope, lambda tx: tx.attributes.all())
        names = sorted({*declared, *built_in()})
        return [Attribute(n, is_functional(n, declared), n in declared) for n in names]

    def declare(self, scope: Scope, name: str, *, functional: bool) -> Attribute:
        """Declare an attribute; what is stored already is not touched."""
        attribute = attribute_name(name)
        if not attribute or len(attribute) > _LIMIT:
            raise InvalidInput("attribute", f"must be a name of 1 to {_LIMIT} characters")

        def work(tx: Transaction) -> Attribute:
            before = tx.attributes.all().get(attribute)
            if before is not functional:
                tx.attributes.set(attribute, functional=functional)
                tx.audit.append(_declared(tx, attribute, before, functional), {})
            return Attribute(attribute, functional, declared=True)

        return self._database.write(scope, work)


def _declared(tx: Transaction, name: str, before: bool | None, after: bool) -> EntryDraft:
    def digest(value: bool | None) -> str | None:
        return None if value is None else json_digest({"attribute": name, "functional": value})

    return EntryDraft(
        kind="attribute.declared",
        actor=tx.scope.actor,
        state_before=digest(before),
        state_after=digest(after),
    )
