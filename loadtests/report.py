"""Results as files: JSON for programs, Markdown for people; no names of machines or folders."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
RESULTS = ROOT / "results"
CHARTS = ROOT.parent / ".venv-load" / "bin" / "python"


def machine() -> dict[str, Any]:
    """What the figures depend on and what nobody could be found by."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(pages / 2**30),
        "python": platform.python_version(),
        "load_at_start": round(os.getloadavg()[0], 2),
        "date": datetime.now(UTC).date().isoformat(),
    }


def spread(times: Sequence[float]) -> dict[str, float]:
    """The percentiles of some times, in their unit."""
    ordered = sorted(times)
    found = {f"p{share}": percentile(ordered, share) for share in (50, 90, 95, 99)}
    return found | {"max": round(ordered[-1], 3) if ordered else 0.0, "count": len(ordered)}


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value that ``share`` percent do not exceed (nearest rank)."""
    if not ordered:
        return 0.0
    rank = max(1, -(-len(ordered) * share // 100))
    return round(float(ordered[int(rank) - 1]), 3)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *[[shown(cell) for cell in row] for row in rows]]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def shown(value: object) -> str:
    """A number as a person would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if value != 0 and abs(value) < 10:
            return f"{value:.2f}"
        return f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def conditions(about: dict[str, Any]) -> str:
    """One line about the machine."""
    return (
        f"{about['cores']} cores, {about['memory_gb']} GB of memory, Python {about['python']}, "
        f"load {about['load_at_start']} when it began, {about['date']}."
    )


def write(name: str, figures: dict[str, Any], text: str | None = None) -> Path:
    """Keep ``name.json`` and, with a text, ``name.md``; return where."""
    RESULTS.mkdir(exist_ok=True)
    kept = json.dumps(figures, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(kept + "\n", encoding="utf-8")
    if text is not None:
        (RESULTS / f"{name}.md").write_text(text.strip() + "\n", encoding="utf-8")
    return RESULTS / f"{name}.json"


def read(name: str) -> dict[str, Any] | None:
    """Return what was kept, or None."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def draw(name: str) -> None:
    """Draw the pictures of a result, in the environment that has what it needs."""
    if CHARTS.exists():
        subprocess.run([CHARTS, ROOT / "charts.py", name], check=True)
    else:
        print("no pictures: make load sets up the environment that draws them")
