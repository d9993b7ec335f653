"""``groundkeeper checkpoint`` and ``groundkeeper keys`` as an operator runs them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from service.cli import main
from tests.integration.checkpoints.places import Place, read_note


@dataclass(frozen=True)
class Ran:
    returncode: object
    stdout: str
    stderr: str


Run = Callable[..., Ran]


@pytest.fixture
def run(
    place: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDKEEPER_DATA_DIR", str(place.settings.data_dir))
    monkeypatch.setenv("GROUNDKEEPER_KEY_DIR", str(place.settings.key_dir))

    def call(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["groundkeeper", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return Ran(left.value.code, said.out, said.err)

    return call


def test_before_the_first_start(run, place):
    for arguments in (("checkpoint", "show"), ("keys", "show")):
        empty = run(*arguments)
        assert (empty.returncode, empty.stdout) == (1, "")
    assert run("keys", "rotate").returncode == 2
    assert run("checkpoint", "adopt", "--yes").returncode == 2
    assert not place.settings.key_dir.exists()
    assert not place.settings.data_dir.exists()


def test_showing_and_rotating(run, place):
    place.run(entries=1)
    assert run("checkpoint", "show").stdout == place.latest()
    old = place.vkey()
    assert run("keys", "show").stdout == f"{old}\n"
    rotated = run("keys", "rotate")
    assert rotated.returncode == 0, rotated.stderr
    assert rotated.stdout.endswith(f"\n\n{place.latest()}")
    assert read_note(place.latest(), old, place.vkey()).signers == (old, place.vkey())
    assert run("keys", "show").stdout == f"{place.vkey()}\n{old} (retired)\n"
    assert "BAD" not in run("doctor").stdout


def test_adopting_says_what_it_means_and_needs_a_yes(run, place):
    place.run(entries=1)
    shutil.rmtree(place.store)
    assert "BAD  checkpoint: there is no checkpoint store" in run("doctor").stdout
    asked = run("checkpoint", "adopt")
    assert asked.returncode == 3
    assert "vouches for the log as it is now" in asked.stderr
    assert not place.store.exists()
    adopted = run("checkpoint", "adopt", "--yes")
    assert adopted.returncode == 0, adopted.stderr
    assert adopted.stdout.endswith(f"\n\n{place.latest()}")
    assert run("checkpoint", "adopt", "--yes").returncode == 2


def test_a_log_that_does_not_verify_is_not_adopted_by_accident(run, place):
    place.run(entries=2)
    shutil.rmtree(place.store)
    place.tamper("UPDATE entry SET kind = 'log.sealed' WHERE seq = 1")
    refused = run("checkpoint", "adopt", "--yes")
    assert refused.returncode == 1
    assert "does not verify in itself" in refused.stderr
    assert not place.store.exists()
    assert run("checkpoint", "adopt", "--yes", "--damaged").returncode == 0


def test_a_witness_file_kept_with_curl_convicts_a_restored_copy(run, place, tmp_path):
    place.run(entries=1)
    old = place.copy_data("old")
    kept = f"{place.latest()}\n"
    place.run(entries=3)
    (tmp_path / "witness.txt").write_text(f"{kept}{place.latest()}\n", encoding="utf-8")
    key = str(place.settings.key_dir / "log.vkey")
    good = run("verify", "--key", key, "--against", "witness.txt")
    assert good.returncode == 0, good.stdout
    place.restore_data(old)
    shutil.rmtree(place.store)
    assert run("checkpoint", "adopt", "--yes").returncode == 0
    assert run("verify", "--key", key, "--against", "witness.txt").returncode == 1
