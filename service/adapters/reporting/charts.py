"""Small charts as inline SVG: no script, no style attribute, a title and a description in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from service.adapters.reporting.escaping import as_html
from service.usecases.report_model import Bucket, Counts, Outcome, Timeline

COLOURS: Final = {
    Outcome.LET_THROUGH: "#0072b2",
    Outcome.BLOCKED: "#d55e00",
    Outcome.FLAGGED: "#b8b8b8",
}
"""From the palette of Okabe and Ito (2008), which people with colour blindness can tell apart."""

_WIDTH, _HEIGHT = 760, 240
_LEFT, _BOTTOM, _TOP = 48, 28, 10
_GAP: Final = 0.2
_LABELS: Final = 8
_WIDEST: Final = 90.0
_SHARE_HEIGHT: Final = 26
_Place: TypeAlias = tuple[float, float, float, float]
"""Left, top, width and height."""


def parts(counts: Counts) -> list[tuple[Outcome, int]]:
    """Return the counts in the order in which they are stacked."""
    return [
        (Outcome.LET_THROUGH, counts.let_through),
        (Outcome.BLOCKED, counts.blocked),
        (Outcome.FLAGGED, counts.flagged),
    ]


def share_bar(counts: Counts) -> str:
    """Return one bar that shows how decisions divide; empty without any."""
    if not counts.total:
        return ""
    at, drawn = 0.0, []
    for outcome, count in parts(counts):
        width = _WIDTH * count / counts.total
        place = (at, 0.0, width, float(_SHARE_HEIGHT))
        drawn.append(_rectangle(place, outcome, f"{outcome.value}: {count}"))
        at += width
    said = ", ".join(f"{count:,} {outcome.value}" for outcome, count in parts(counts))
    return _svg("share", _SHARE_HEIGHT, "Decisions by outcome", said, drawn)


def time_bars(timeline: Timeline) -> str:
    """Return stacked bars over time; empty without any."""
    buckets = timeline.buckets
    if not buckets:
        return ""
    top = nice_ceiling(max(b.counts.total for b in buckets))
    plot = _HEIGHT - _BOTTOM - _TOP
    slot = min((_WIDTH - _LEFT) / len(buckets), _WIDEST)
    drawn = [*_grid(top, plot), *_dates(buckets, slot)]
    for number, bucket in enumerate(buckets):
        drawn += _stack(bucket, _LEFT + number * slot, slot, plot / top, plot)
    busiest = max(buckets, key=lambda b: b.counts.total)
    said = (
        f"{len(buckets)} bars, one for each {timeline.unit} from {buckets[0].start} on; the "
        f"highest has {busiest.counts.total:,} decisions and starts on {busiest.start}. "
        "The table that follows has all figures."
    )
    return _svg("time", _HEIGHT, f"Decisions by {timeline.unit} and outcome", said, drawn)


def nice_ceiling(value: int) -> int:
    """Return the next 1, 2 or 5 times a power of ten, at least 2, so that labels are round."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= max(value, 2):
                return factor * power
        power *= 10


def _stack(bucket: Bucket, left: float, slot: float, scale: float, plot: float) -> list[str]:
    drawn, base = [], _TOP + plot
    for outcome, count in parts(bucket.counts):
        height = count * scale
        base -= height
        name = f"{bucket.start}: {count} {outcome.value}"
        if count:
            place = (left + slot * _GAP / 2, base, slot * (1 - _GAP), height)
            drawn.append(_rectangle(place, outcome, name))
    return drawn


def _grid(top: int, plot: float) -> list[str]:
    drawn = []
    for value in (0, top // 2, top):
        y = _TOP + plot * (1 - value / top)
        drawn.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#999" '
            'stroke-width="0.5"/>'
        )
        drawn.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>')
    return drawn


def _dates(buckets: Sequence[Bucket], slot: float) -> list[str]:
    step = max(1, -(-len(buckets) // _LABELS))
    return [
        f'<text x="{_LEFT + (n + 0.5) * slot:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">'
        f"{bucket.start}</text>"
        for n, bucket in enumerate(buckets)
        if n % step == 0
    ]


def _rectangle(place: _Place, outcome: Outcome, name: str) -> str:
    x, y, width, height = place
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{COLOURS[outcome]}"><title>{as_html(name)}</title></rect>'
    )


def _svg(name: str, height: int, title: str, description: str, drawn: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{as_html(title)}</title>'
        f'<desc id="{name}-desc">{as_html(description)}</desc>{"".join(drawn)}</svg>'
    )
