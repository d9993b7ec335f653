"""What routes ask for, by name."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Header, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from service.domain.errors import Forbidden, InvalidInput
from service.http.services import HttpOptions, Services
from service.http.workers import WorkerPool
from service.ports.storage import Scope
from service.usecases.authenticate import Principal, Role

_KEY_LIMIT = 200
_PRINTABLE = re.compile(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*")
_bearer = HTTPBearer(auto_error=False, description="An API key as a bearer token.")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, description="An API key.")


async def _services(request: Request) -> Services:
    found: Services = request.state.services
    return found


async def _options(request: Request) -> HttpOptions:
    found: HttpOptions = request.state.options
    return found


async def _workers(request: Request) -> WorkerPool:
    found: WorkerPool = request.state.workers
    return found


async def _principal(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    header: Annotated[str | None, Security(_header)],
) -> Principal:
    presented = bearer.credentials if bearer is not None else header
    return (await _options(request)).keyring.authenticate(presented)


async def _reader(who: Annotated[Principal, Depends(_principal)]) -> Scope:
    return who.scope


async def _writer(who: Annotated[Principal, Depends(_principal)]) -> Scope:
    return _at_least(who, Role.WRITER)


async def _admin(who: Annotated[Principal, Depends(_principal)]) -> Scope:
    return _at_least(who, Role.ADMIN)


def _at_least(who: Principal, role: Role) -> Scope:
    if who.role < role:
        raise Forbidden(f"This needs a key with the role {role.name.lower()}.")
    return who.scope


async def _idempotency_key(
    request: Request,
    key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            description="Any string of up to 200 printable ASCII characters. The same key with "
            "the same body returns the stored answer; with another body it is 409.",
        ),
    ] = None,
) -> str | None:
    if key is None:
        return None
    if len(key) > _KEY_LIMIT or not _PRINTABLE.fullmatch(key):
        raise InvalidInput(
            "Idempotency-Key", f"must be 1 to {_KEY_LIMIT} printable ASCII characters"
        )
    return f"{request.method} {request.scope['path']} {key}"


async def _require_models(services: Annotated[Services, Depends(_services)]) -> None:
    services.readiness.require_models()


ServicesDep = Annotated[Services, Depends(_services)]
OptionsDep = Annotated[HttpOptions, Depends(_options)]
WorkersDep = Annotated[WorkerPool, Depends(_workers)]
ReaderDep = Annotated[Scope, Depends(_reader)]
WriterDep = Annotated[Scope, Depends(_writer)]
AdminDep = Annotated[Scope, Depends(_admin)]
IdempotencyDep = Annotated[str | None, Depends(_idempotency_key)]
NeedsModels = Depends(_require_models)
