"""The two commands, as an operator runs them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from service.cli.app import main
from tests.integration.backup.places import command, files


def test_a_backup_and_its_restore(place):
    told = command(place, "backup", "--out", str(place.shelf), "--keep", "3")
    assert told.returncode == 0, told.stderr
    first, *more = told.stdout.splitlines()
    assert Path(first).parent == place.shelf
    assert "Copy KEY_DIR separately" in more[-1]
    there = place.with_data("other")
    told = command(there, "restore", "--from", first)
    assert told.returncode == 0, told.stderr
    assert "intact" in told.stdout
    assert there.verify().ok


def test_the_way_back_is_explained_first_and_afterwards(place):
    made = place.back_up()
    with place.serving():
        pass
    before = files(place.settings.data_dir)
    refused = command(place, "restore", "--from", str(made.path), "--replace")
    assert (refused.returncode, "--accept-rollback" in refused.stderr) == (1, True)
    assert "Nothing was changed" in refused.stderr
    assert files(place.settings.data_dir) == before
    consent = ("--replace", "--accept-rollback")
    done = command(place, "restore", "--from", str(made.path), *consent)
    assert done.returncode == 0, done.stderr
    assert "Whoever holds a later checkpoint" in done.stdout
    assert "replaced-" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["restore", "--from", "nothing"], (1, "there is no file")),
        (["backup", "--out", "backups"], (2, "there is no")),
        (["backup", "--out", "backups", "--keep", "0"], (3, "--keep")),
        (["restore"], (3, "--from")),
        (["retain"], (3, "RETENTION__DAYS")),
    ],
)
def test_what_cannot_be_done(place, monkeypatch, capsys, arguments, told):
    there = place.with_data("other").settings
    monkeypatch.setenv("GROUNDKEEPER_DATA_DIR", str(there.data_dir))
    monkeypatch.setenv("GROUNDKEEPER_KEY_DIR", str(there.key_dir))
    monkeypatch.chdir(there.data_dir.parent)
    monkeypatch.setattr(sys, "argv", ["groundkeeper", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == told[0]
    assert told[1] in capsys.readouterr().err
