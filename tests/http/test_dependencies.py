"""What routes depend on is found on the event loop: each plain function would take a thread."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from service.http import routes

MODULES = [m.name for m in iter_modules(routes.__path__)]


def below(dependant: Dependant) -> Iterator[Dependant]:
    for child in dependant.dependencies:
        yield child
        yield from below(child)


def is_async(call: object) -> bool:
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(
        getattr(call, "__call__", None)  # noqa: B004 - security schemes are callable objects
    )


def found(name: str) -> list[APIRoute]:
    module = import_module(f"{routes.__name__}.{name}")
    router = getattr(module, "router", None)
    return [r for r in router.routes if isinstance(r, APIRoute)] if router else []


@pytest.mark.parametrize("name", MODULES)
def test_no_dependency_takes_a_thread(name: str) -> None:
    for route in found(name):
        for dependant in below(route.dependant):
            assert is_async(dependant.call), (route.path, dependant.call)


def test_routes_are_looked_at() -> None:
    routes_of_check = found("check")
    assert {r.path for r in routes_of_check} >= {"/check", "/check/batch"}
    assert all(list(below(r.dependant)) for r in routes_of_check)
