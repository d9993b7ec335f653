"""docs/operations.md names every setting with its real default, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from service.settings import PREFIX, Limits, Settings

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def rows(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str]]:
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from rows(type(default), f"{prefix}{name.upper()}__")
        else:
            shown = "" if default in (None, ()) else f"`{str(default).replace('True', 'true')}`"
            yield f"`{prefix}{name.upper()}`", shown.replace("False", "false"), field.description


def test_the_table_is_complete_and_true():
    expected = [" | ".join(("", *row)).strip() + " |" for row in rows(Settings, PREFIX)]
    found = re.findall(rf"^\| `{PREFIX}.*\|$", TEXT, re.MULTILINE)
    assert found == [re.sub(r"\s+", " ", line) for line in expected]


def test_the_table_of_limits_is_true():
    for name in Limits.model_fields:
        assert f"{getattr(Limits(), name):,}" in TEXT


def test_the_example_file_names_real_settings():
    known = {row[0].strip("`") for row in rows(Settings, PREFIX)}
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    used = set(re.findall(rf"^({PREFIX}\w+)=", text, re.MULTILINE))
    assert used
    assert used <= known
