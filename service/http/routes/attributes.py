"""``/attributes``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Path

from service.http.dependencies import AdminDep, ReaderDep, ServicesDep, WorkersDep
from service.http.paging import query_text
from service.http.problems import documented
from service.http.schemas.lessons import (
    ATTRIBUTE_EXAMPLE,
    AttributeListOut,
    AttributeOut,
    AttributeRequest,
)
from service.usecases.attributes import Attribute

router = APIRouter(prefix="/attributes", tags=["memory"])


@router.get(
    "",
    response_model=AttributeListOut,
    responses=documented(503),
    summary="List attributes",
)
async def list_attributes(
    scope: ReaderDep, services: ServicesDep, workers: WorkersDep
) -> AttributeListOut:
    """List which attributes hold one value per subject: declared ones and the built-in table."""
    found = await workers.run(lambda: services.attributes.list(scope))
    return AttributeListOut(items=[_out(a) for a in found], next_cursor=None, total=len(found))


@router.put(
    "/{attribute}",
    response_model=AttributeOut,
    responses=documented(400, 413, 415, 422, 503),
    summary="Declare an attribute",
)
async def declare_attribute(
    attribute: Annotated[str, Path(min_length=1, max_length=128, examples=["home"])],
    body: Annotated[
        AttributeRequest, Body(openapi_examples={"one value": {"value": ATTRIBUTE_EXAMPLE}})
    ],
    scope: AdminDep,
    services: ServicesDep,
    workers: WorkersDep,
) -> AttributeOut:
    """Say whether an attribute holds one value; what is stored already is not touched."""
    name = query_text("attribute", attribute)
    return _out(
        await workers.run(
            lambda: services.attributes.declare(scope, name, functional=body.functional)
        )
    )


def _out(found: Attribute) -> AttributeOut:
    return AttributeOut(attribute=found.name, functional=found.functional, declared=found.declared)
