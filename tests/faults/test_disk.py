"""Full disks and I/O errors: callers are told, nothing acknowledged is lost, nothing is half done.

What stands in for what: a real full disk is a tmpfs of a few megabytes in a mount namespace of its
own; where that is not allowed, a limit on the size of files (``RLIMIT_FSIZE``), which is always
tried too. A failing disk is a shim around the system calls of the process (``shim.c``): the calls
of SQLite really return EIO. What it cannot imitate is a disk that lies.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from errno import EIO, ENOSPC
from pathlib import Path

import pytest

from tests.faults.books import audit
from tests.faults.deeds import Answer, open_log, remember
from tests.faults.patients import COMPILER, Call, Patient, Switch, compile_shim

needs_compiler = pytest.mark.skipif(
    COMPILER is None or sys.platform != "linux", reason="needs Linux and a C compiler"
)
LARGE = 30_000
PAGE, PAGES_BEFORE_MOVING = 4096, 1000
PAGES_OF_LARGE = 4 * LARGE // PAGE
"""At least so many pages one write of LARGE takes: the text is in four places."""
SMALL = 'mount -t tmpfs -o size=3m tmpfs "$1" && shift && exec "$@"'
FROZEN = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'


@pytest.fixture(scope="module")
def shim(tmp_path_factory) -> Path:
    return compile_shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def switch(shim: Path, path: Path, tmp_path: Path) -> Switch:
    return Switch(shim, tmp_path, path.name)


@pytest.fixture
def patient(path: Path, switch: Switch) -> Iterator[Patient]:
    made = Patient(path, switch)
    yield made
    made.kill()


@needs_compiler
@pytest.mark.parametrize("call", [Call.WRITING, Call.FLUSHING])
def test_any_call_of_a_write_may_fail_once(path, patient, switch, call):
    patient.remember("first")
    for really in (False, True):
        told = fail_at_each(call, patient, switch, really=really)
        assert told[:-1] == ["Unavailable"] * (len(told) - 1)
        assert len(told) > 1
        assert isinstance(told[-1], Answer)
    patient.kill()
    check_and_go_on(path, patient.acknowledged)


def fail_at_each(call: Call, patient: Patient, switch: Switch, *, really: bool) -> list:
    """Let each of the calls of a write fail in turn, until none is left; return what was told."""
    told = []
    for after in itertools.count():
        key = f"{call.name} {really} {after}"
        switch.fail(call, after=after, times=1, really=really)
        told.append(patient.remember(key))
        reached = switch.failed()
        switch.heal()
        assert isinstance(patient.remember(key), Answer), "the same request again"
        patient.audit()
        if not reached:
            return told
    raise AssertionError


@needs_compiler
def test_a_commit_that_failed_but_is_on_disk_is_neither_doubled_nor_forked(path, patient, switch):
    patient.remember("before")
    switch.fail(Call.FLUSHING, really=True)
    assert patient.remember("told to have failed") == "Unavailable"
    patient.kill()
    database = open_log(path)
    survived = audit(path, patient.acknowledged).total
    assert survived == 1 + 2 * 2, "it is there, although its caller was told otherwise"
    again = remember(database, "told to have failed", "x" * 20)
    assert again.seq == survived - 1, "the retry is answered with what is stored"
    assert audit(path, {"told to have failed": again}).total == survived
    database.close()


@needs_compiler
def test_while_the_disk_fails_every_write_is_refused_and_reading_goes_on(patient, switch):
    patient.remember("before")
    for call, error in itertools.product((Call.WRITING, Call.FLUSHING), (EIO, ENOSPC)):
        switch.fail(call, error=error)
        key = f"{call} {error}"
        assert [patient.remember(f"{key} {n}") for n in range(5)] == ["Unavailable"] * 5
        assert patient.audit() == 1 + 2 * len(patient.acknowledged)
        switch.heal()
        assert isinstance(patient.remember(key), Answer)


@needs_compiler
def test_commits_that_cannot_be_moved_out_of_the_wal_stay_in_it(path, shim, tmp_path):
    switch = Switch(shim, tmp_path, f"{path.name}$")  # not the files beside it
    patient = Patient(path, switch)
    switch.fail(Call.WRITING)
    for number in range(PAGES_BEFORE_MOVING // PAGES_OF_LARGE + 1):
        assert isinstance(patient.remember(f"{number}", LARGE), Answer)
    patient.audit()
    wal = path.with_name(f"{path.name}-wal")
    assert wal.stat().st_size > PAGES_BEFORE_MOVING * PAGE
    patient.kill()
    check_and_go_on(path, patient.acknowledged)


@needs_compiler
def test_what_cannot_be_read_is_an_outage_too(path, patient, switch):
    patient.remember("before")
    patient.tell("reopen")
    switch.fail(Call.READING)
    assert patient.remember("key") == "Unavailable"
    switch.heal()
    assert isinstance(patient.remember("key"), Answer)
    patient.audit()


def test_a_limit_on_the_size_of_files(path):
    patient = Patient(path)
    fill(patient, "limit", 400_000)
    patient.tell("limit", 0)
    assert isinstance(patient.remember("there is room again"), Answer)
    patient.audit()
    patient.kill()
    check_and_go_on(path, patient.acknowledged)


def own_mounts(command: str, folder: Path) -> list[str]:
    """Return the wrapper that mounts something of its own at ``folder`` for a process."""
    folder.mkdir(parents=True, exist_ok=True)
    for unshare in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        wrapper = [*unshare, "sh", "-ec", command, "sh", str(folder)]
        tried = shutil.which("unshare") and subprocess.run(
            [*wrapper, "true"], check=False, capture_output=True
        )
        if tried and tried.returncode == 0:
            return wrapper
    pytest.skip("mounting is not allowed here; the limit on file sizes stands in")


def test_a_disk_that_is_really_full(path):
    patient = Patient(path, wrapper=own_mounts(SMALL, path.parent))
    patient.tell("ballast", 500_000)
    fill(patient)
    entries = patient.audit()
    assert entries == 1 + 2 * len(patient.acknowledged)
    patient.tell("ballast", 0)
    assert isinstance(patient.remember("there is room again"), Answer)
    patient.tell("reopen")
    assert patient.audit() == entries + 2
    patient.kill()


@pytest.mark.parametrize("used", [True, False], ids=["with a database", "empty"])
def test_a_folder_that_cannot_be_written_to_is_refused_in_one_line(path, used):
    if used:
        database = open_log(path)
        remember(database, "before")
        database.close()
    refused = Patient(path, wrapper=own_mounts(FROZEN, path.parent)).refused
    assert re.fullmatch(r"database: cannot .*: Read-only file system\n", refused)
    audit(path) if used else open_log(path).close()


def fill(patient: Patient, *limit: object) -> None:
    """Write until the disk is full, and on: nobody is told that it worked, all is in order."""
    assert isinstance(patient.remember("early", LARGE), Answer)
    if limit:
        patient.tell(*limit)
    for number in range(1000):
        if patient.remember(f"{number}", LARGE) == "Unavailable":
            break
    else:
        raise AssertionError("the disk never became full")
    assert [patient.remember(f"more {n}", LARGE) for n in range(3)] == ["Unavailable"] * 3
    patient.audit()


def check_and_go_on(path: Path, acknowledged: dict[str, Answer]) -> None:
    database = open_log(path)
    audit(path, acknowledged)
    acknowledged["after everything"] = remember(database, "after everything")
    audit(path, acknowledged)
    database.close()
