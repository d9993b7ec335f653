"""The forms of a report, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from service.adapters.reporting import data, markdown, page
from service.usecases.report_rendering import Rendering

RENDERINGS: Final[Mapping[str, Rendering]] = {
    "html": Rendering(page.MEDIA_TYPE, page.render_html, page.CSP),
    "md": Rendering(markdown.MEDIA_TYPE, markdown.render_markdown),
    "json": Rendering(data.MEDIA_TYPE, data.render_json),
}
