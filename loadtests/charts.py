"""Draws the pictures of the results; runs in the environment that has matplotlib.

Usage: python loadtests/charts.py load|growth|soak
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

RESULTS = Path(__file__).resolve().parent / "results"
SHARES = ("50", "66", "75", "80", "90", "95", "98", "99")
COLOURS = ("#1f6f8b", "#c8553d", "#588157", "#7d5ba6")
NAMES = {"ChatBackend": "chat backend", "CheckHeavy": "checks only", "BatchImport": "batch import"}


def main(name: str) -> int:
    """Draw one result."""
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    plt.rcParams.update(
        {"font.size": 9, "axes.grid": True, "axes.axisbelow": True, "grid.alpha": 0.3}
    )
    {"load": load, "growth": growth, "soak": soak}[name](found)
    plt.savefig(RESULTS / f"{name}.png", dpi=110, metadata={"Software": None})
    return 0


def load(found: dict[str, Any]) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    most = max(run["clients"] for run in found["runs"])
    names = list(dict.fromkeys(run["scenario"] for run in found["runs"]))
    for run in found["runs"]:
        at = run["entries"][-1]["percentiles_ms"]
        left.plot(
            SHARES,
            [at[s] for s in SHARES],
            color=COLOURS[names.index(run["scenario"])],
            linestyle="-" if run["clients"] == most else "--",
            marker="o",
            markersize=3,
            label=f"{NAMES[run['scenario']]}, {run['clients']} clients",
        )
    left.set(xlabel="percentile", ylabel="milliseconds", yscale="log", title="Latency")
    plain(left)
    figure.legend(fontsize=8, ncols=len(names), loc="outside lower left", frameon=False)
    labels = [f"{NAMES[r['scenario']]}\n{r['clients']} clients" for r in found["runs"]]
    rates = [r["entries"][-1]["per_second"] for r in found["runs"]]
    colours = [COLOURS[names.index(r["scenario"])] for r in found["runs"]]
    bars = right.barh(labels[::-1], rates[::-1], color=colours[::-1])
    right.bar_label(bars, fmt="%.1f", padding=3)
    right.set(xlabel="requests per second", title="Throughput")
    right.margins(x=0.12)


def plain(axis: Any) -> None:
    """Write the numbers of a logarithmic axis as people do."""
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _at: f"{value:,.0f}"))
    axis.yaxis.set_minor_formatter(NullFormatter())


def from_zero(*axes: Any) -> None:
    """Begin the scale at nothing, and leave room above."""
    for axis in axes:
        axis.set_ylim(0, 1.1 * axis.dataLim.y1)


def growth(found: dict[str, Any]) -> None:
    _, axes = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained")
    stores = [s for s in found["stores"] if s["users"] != 1 or s["facts"] == 1_000]
    facts = [s["facts"] for s in stores]
    recall, clients, space, write = axes.flat
    for key, label in (("p50", "p50"), ("p95", "p95")):
        recall.plot(facts, [s["recall_ms"][key] for s in stores], marker="o", label=label)
    single = [s for s in found["stores"] if s["users"] == 1 and s["facts"] > 1_000]
    for store in single:
        recall.plot(
            store["facts"], store["recall_ms"]["p50"], "x", color="black", label="p50, one user"
        )
    recall.set(ylabel="milliseconds", title="Recall, one client")
    recall.legend(fontsize=8)
    for count in found["clients"]:
        rates = [s["at_once"][str(count)]["per_second"] for s in stores]
        clients.plot(facts, rates, marker="o", label=f"{count} client{'s' * (count > 1)}")
    clients.set(ylabel="recalls per second", title="Throughput of recall")
    clients.legend(fontsize=8)
    space.plot(facts, [s["disk_mb"] for s in stores], marker="o", label="disk")
    space.plot(facts, [s["resident_mb"] for s in stores], marker="o", label="resident memory")
    space.set(ylabel="MB", title="Space", yscale="log")
    plain(space)
    space.legend(fontsize=8)
    write.plot(facts, [s["write_ms"]["p50"] for s in stores], marker="o", label="one write, p50")
    write.set(ylabel="milliseconds", title="Writing one fact over HTTP")
    for axis in axes.flat:
        axis.set(xscale="log", xlabel="facts in the store")
    from_zero(recall, clients, write)


def soak(found: dict[str, Any]) -> None:
    _, (memory, latency) = plt.subplots(2, 1, figsize=(10, 6), layout="constrained", sharex=True)
    minutes = [m["minute"] for m in found["minutes"]]
    memory.plot(
        [s[0] / 60 for s in found["samples"]], [s[1] for s in found["samples"]], linewidth=0.8
    )
    memory.axvline(found["settling_minutes"], color="grey", linestyle=":")
    memory.set(ylabel="resident MB", title="Memory")
    for key in ("p50", "p95", "p99"):
        latency.plot(minutes, [m[key] for m in found["minutes"]], marker=".", label=key)
    latency.set(xlabel="minutes", ylabel="milliseconds", title="Latency by minute")
    latency.legend(fontsize=8)
    from_zero(memory, latency)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
