"""An exported folder can be verified with the standard library and openssl, and only if genuine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from service.adapters.exporting.reader import open_export
from service.audit.errors import VerificationError
from service.audit.verify import verify
from service.domain.errors import Conflict, InvalidInput, NotFound

BLOCKS = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(installed, tmp_path_factory) -> Path:
    return installed.export(tmp_path_factory.mktemp("export") / "log", bodies=True)


@pytest.fixture
def copied(folder, tmp_path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copy"))


def bare(tmp: Path, **given: str) -> dict[str, str]:
    """An environment with nothing of ours in it, and one Python that has no packages."""
    tools = tmp / "tools"
    tools.mkdir(exist_ok=True)
    link = tools / "python3"
    if not link.exists():
        link.symlink_to(getattr(sys, "_base_executable", sys.executable))
    return {"PATH": f"{tools}:/usr/bin:/bin", "TMPDIR": str(tmp), **given}


def run_script(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    python = getattr(sys, "_base_executable", sys.executable)
    return subprocess.run(
        [python, "-I", "-S", "verify.py", *arguments],
        cwd=place,
        env={},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def follow_guide(place: Path, tmp: Path, key: str) -> subprocess.CompletedProcess[str]:
    """Run every command of VERIFY.md, in order, in one shell."""
    commands = "\n".join(BLOCKS.findall((place / "VERIFY.md").read_text(encoding="utf-8")))
    return subprocess.run(
        ["sh", "-eu", "-c", commands],
        cwd=place,
        env=bare(tmp, KEY=key),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_folder_is_complete(folder, installed):
    names = {p.name for p in folder.iterdir()}
    assert {"entries.ndjson", "bodies.ndjson", "checkpoints.txt", "keys.txt", "VERIFY.md"} <= names
    assert (folder / "keys.txt").read_text().split() == [installed.key]
    lines = (folder / "entries.ndjson").read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert [json.loads(line)["seq"] for line in lines] == list(range(len(lines)))
    texts = (folder / "bodies.ndjson").read_text(encoding="utf-8")
    assert "彼女は先生です。" in texts


def test_the_guide_works_as_it_stands(copied, tmp_path, installed):
    done = follow_guide(copied, tmp_path, installed.key)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    for expected in (
        "INTACT.",
        "The chain holds.",
        "Signature Verified Successfully",
        "The root is the signed one.",
        "The text is the one committed to.",
    ):
        assert expected in said, said


def test_openssl_can_read_the_key_file(folder):
    shown = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", next(folder.glob("key-*.pem")), "-noout", "-text"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "ED25519" in shown.stdout.upper()


def test_the_guide_finds_a_change_by_hand(copied, tmp_path, installed):
    edit_line(copied, 3, b'"kind":"check.decided"', b'"kind":"turn.recorded"')
    skipped = (
        (copied / "VERIFY.md").read_text(encoding="utf-8").replace("python3 -I verify.py", ":")
    )
    (copied / "VERIFY.md").write_text(skipped, encoding="utf-8")
    done = follow_guide(copied, tmp_path, installed.key)
    assert "The chain holds." not in done.stdout
    assert "The root is the signed one." not in done.stdout


def test_without_a_key_nothing_is_called_intact(copied):
    done = run_script(copied)
    assert done.returncode == 2
    assert "WARNING" in done.stdout
    assert "INTACT" not in done.stdout


def test_a_text_that_is_no_key_is_wrong_use(copied, installed):
    assert run_script(copied, installed.key[:-4] + "AAAA").returncode == 3


def edit_line(place: Path, number: int, old: bytes, new: bytes) -> None:
    path = place / "entries.ndjson"
    lines = path.read_bytes().split(b"\n")
    assert old in lines[number]
    lines[number] = lines[number].replace(old, new, 1)
    path.write_bytes(b"\n".join(lines))


def edited(place: Path) -> None:
    edit_line(place, 2, b'"check.decided"', b'"turn.recorded"')


def last_removed(place: Path) -> None:
    path = place / "entries.ndjson"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def swapped(place: Path) -> None:
    path = place / "entries.ndjson"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3], lines[4] = lines[4], lines[3]
    path.write_bytes(b"".join(lines))


def middle_removed(place: Path) -> None:
    path = place / "entries.ndjson"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:4] + lines[5:]))


def newline_missing(place: Path) -> None:
    path = place / "entries.ndjson"
    path.write_bytes(path.read_bytes()[:-1])


def other_root(place: Path) -> None:
    path = place / "checkpoints.txt"
    lines = path.read_text(encoding="utf-8").split("\n")
    last = max(n for n, line in enumerate(lines) if line.startswith("\N{EM DASH}")) - 2
    lines[last] = "A" + lines[last][1:] if lines[last][0] != "A" else "B" + lines[last][1:]
    path.write_text("\n".join(lines), encoding="utf-8")


def extra_body(place: Path) -> None:
    add_body(place, {"seq": 0, "name": "fact", "salt": "00" * 32, "text": "made up"}, first=True)


def body_of_no_entry(place: Path) -> None:
    add_body(place, {"seq": 9_999, "name": "fact", "salt": "00" * 32, "text": "made up"})


def add_body(place: Path, record: dict, *, first: bool = False) -> None:
    path = place / "bodies.ndjson"
    line = json.dumps(record).encode() + b"\n"
    path.write_bytes(line + path.read_bytes() if first else path.read_bytes() + line)


def body_edited(place: Path) -> None:
    path = place / "bodies.ndjson"
    path.write_bytes(path.read_bytes().replace(b"allergic", b"addicted", 1))


def body_removed(place: Path) -> None:
    path = place / "bodies.ndjson"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[1:]))


def relinked(place: Path) -> None:
    """Edit an entry and recompute everything after it, as somebody without the key can."""
    import hashlib

    path = place / "entries.ndjson"
    lines = path.read_bytes().split(b"\n")[:-1]
    entry = json.loads(lines[2])
    entry["kind"] = "turn.recorded"
    lines[2] = json.dumps(entry, sort_keys=True, separators=(",", ":")).encode()
    for n in range(3, len(lines)):
        later = json.loads(lines[n])
        later["prev"] = hashlib.sha256(b"\x00" + lines[n - 1]).hexdigest()
        lines[n] = json.dumps(later, sort_keys=True, separators=(",", ":")).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")


TAMPERED = [
    edited,
    last_removed,
    swapped,
    middle_removed,
    newline_missing,
    other_root,
    extra_body,
    body_of_no_entry,
    body_edited,
    body_removed,
    relinked,
]


@pytest.mark.parametrize("tamper", TAMPERED, ids=lambda f: f.__name__)
def test_a_changed_folder_is_not_intact(copied, installed, tamper):
    assert run_script(copied, installed.key).returncode == 0
    tamper(copied)
    done = run_script(copied, installed.key)
    assert done.returncode == 1, done.stdout
    assert "CHANGED" in done.stdout


def test_another_key_decides_nothing(copied, installed, tmp_path, parts):
    from service.audit.notes import VerifierKey

    other = VerifierKey(installed.key.partition("+")[0], bytes(range(32))).text()
    done = run_script(copied, other)
    assert done.returncode == 2
    assert "INTACT" not in done.stdout


def test_a_kept_checkpoint_shows_a_cut_log(copied, installed, tmp_path):
    kept = tmp_path / "kept.txt"
    text = (copied / "checkpoints.txt").read_text(encoding="utf-8")
    notes = text.removesuffix("\n").split("\n\n")
    kept.write_text("\n\n".join(notes[-2:]) + "\n", encoding="utf-8")
    first = "\n\n".join(notes[:2]) + "\n"
    size = int(first.split("\n")[1])
    path = copied / "entries.ndjson"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:size]))
    (copied / "checkpoints.txt").write_text(first, encoding="utf-8")
    (copied / "bodies.ndjson").unlink()
    if size:
        assert run_script(copied, installed.key).returncode == 0
    assert run_script(copied, installed.key, str(kept)).returncode == 1


def test_our_own_reader_sees_the_same(copied, installed):
    origin = installed.key.partition("+")[0]
    export = open_export(copied)
    report = verify(export.rows(), origin=origin, head=None)
    assert report.ok
    assert report.verified == report.total > 10
    edited(copied)
    assert not verify(open_export(copied).rows(), origin=origin, head=None).ok


def test_our_own_reader_refuses_texts_of_no_entry(copied, installed):
    body_of_no_entry(copied)
    with pytest.raises(VerificationError):
        list(open_export(copied).rows())


def test_a_part_comes_with_proofs(installed, tmp_path):
    mine = installed.export(tmp_path / "mine", tenant="globex", bodies=True)
    done = run_script(mine, installed.key)
    assert done.returncode == 0, done.stdout
    assert "part of a log" in done.stdout
    assert follow_guide(mine, tmp_path, installed.key).returncode == 0
    entries = (mine / "entries.ndjson").read_text()
    assert "acme" not in entries
    with pytest.raises(InvalidInput):
        open_export(mine)
    edited_part = (mine / "entries.ndjson").read_bytes().replace(b"STORE", b"BLOCK", 1)
    (mine / "entries.ndjson").write_bytes(edited_part)
    assert run_script(mine, installed.key).returncode == 1


def test_a_user_gets_only_his_own(installed, tmp_path):
    ana = installed.export(tmp_path / "ana", tenant="acme", user="ana", bodies=True)
    subjects = {json.loads(x)["subject"] for x in (ana / "entries.ndjson").read_text().split()}
    assert len(subjects) == 1
    assert run_script(ana, installed.key).returncode == 0
    with pytest.raises(NotFound):
        installed.export(tmp_path / "nobody", tenant="acme", user="nobody")
    assert not (tmp_path / "nobody").exists()


def test_nothing_is_overwritten_and_nothing_left_behind(installed, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(Conflict):
        installed.export(tmp_path / "full")
    assert [p.name for p in tmp_path.iterdir()] == ["full"]
    (tmp_path / "empty").mkdir()
    installed.export(tmp_path / "empty")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty", "full"]
    assert not (tmp_path / "empty" / "bodies.ndjson").exists()
