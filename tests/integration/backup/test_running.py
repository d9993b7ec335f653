"""Backups of a service that is being written to."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.integration.backup.places import command, fill, rows

BACKUPS = 2


def test_every_backup_of_a_busy_service_restores_and_verifies(place):
    """Four clients write all the time; whatever moment a backup catches is a whole one."""
    stop, wrote = threading.Event(), [0] * 4
    made: list[Path] = []
    with place.serving() as client, ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, client, number, wrote, stop) for number in range(4)]
        try:
            while len(made) < BACKUPS:
                before = sum(wrote)
                told = command(place, "backup", "--out", str(place.shelf))
                assert "not recorded in the log" in told.stdout
                made.append(Path(told.stdout.splitlines()[0]))
                while sum(wrote) < before + 4:
                    assert not any(w.done() for w in writers), writers
        finally:
            stop.set()
        for writer in writers:
            writer.result()
        assert client.get("/audit/verify").json()["ok"]
    sizes = []
    for number, path in enumerate(made):
        there = place.with_data(f"other-{number}")
        restored = there.restore(path, accept_rollback=True)
        assert restored.report.ok
        assert restored.opened.manifest.beyond >= 0
        sizes.append(restored.opened.manifest.size)
        kinds = [row[3] for row in sorted(rows(there.database)["entry"])]
        assert kinds[sizes[-1] :] == ["backup.restored", "checkpoint.adopted"]
    assert sizes == sorted(set(sizes)), "nothing was written between two backups"


def write(client: httpx.Client, number: int, wrote: list[int], stop: threading.Event) -> None:
    while not stop.is_set():
        user = f"writer-{number}-{wrote[number] % 3}"
        fact = {"text": f"The user likes thing {wrote[number]}."}
        answer = client.post("/memory", json={"user_id": user, "fact": fact})
        assert answer.status_code in (200, 201), answer.text
        wrote[number] += 1


def test_a_backup_does_not_touch_the_data_directory(place):
    with place.serving() as client:
        fill(client)
        names = sorted(p.name for p in place.settings.data_dir.rglob("*"))
        made = place.back_up()
        assert sorted(p.name for p in place.settings.data_dir.rglob("*")) == names
        assert client.get("/ready").status_code == 200
    assert made.manifest.rows["memory"] > 0
