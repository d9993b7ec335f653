"""Looking at somebody else's database: beside a running service, at rest, or as a copy."""

import shutil
import subprocess
import sys

import pytest

from service.adapters.db.engine import choose_driver, writer_engine
from service.adapters.inspection import reading
from service.domain.errors import Damaged, Unavailable
from service.usecases.verification import verify_log


def looked_at(path):
    """Verify a database; its folder has to look as it did."""
    before = everything_in(path.parent)
    with reading(path) as tx:
        report = verify_log(tx)
    assert everything_in(path.parent) == before
    return report


def everything_in(folder):
    """Names, sizes and times: reading the bytes would drop this process's locks on them."""
    shared = {"groundkeeper.db-shm"}  # memory that processes share, not data
    found = {p.name: p.stat() for p in folder.iterdir()}
    return {name: name in shared or (s.st_size, s.st_mtime_ns) for name, s in found.items()}


def test_beside_a_running_service(database, append, path):
    for number in range(3):
        append(database, f"fact {number}")
        report = looked_at(path)
        assert (report.ok, report.total) == (True, number + 2)


def test_beside_a_service_that_goes_on_writing(database, append, path):
    append(database)
    with reading(path) as tx:
        assert verify_log(tx).total == 2
        append(database)  # neither waits for the other
        assert verify_log(tx).total == 2
    assert looked_at(path).total == 3


def test_at_rest(database, append, path):
    append(database)
    database.close()
    assert [p.name for p in path.parent.iterdir() if "-" in p.name] == []
    assert looked_at(path).total == 2


@pytest.fixture
def copied(database, append, path, tmp_path):
    """Copy the files of a running service, without the memory that its readers share."""
    append(database)
    folder = tmp_path / "copy"
    folder.mkdir()
    for source in (path, path.with_name(f"{path.name}-wal")):
        shutil.copyfile(source, folder / source.name)
    return folder / path.name


def test_a_copy_with_entries_that_are_in_the_wal_only(copied):
    assert copied.with_name(f"{copied.name}-wal").stat().st_size > 0
    assert looked_at(copied).total == 2


# Takes from root the right to write where the permissions say no; anybody else never had it.
AS_ANYBODY = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
VERIFY = """
import os, sys
from service.adapters.verifying import Known, verify_database
assert not os.access(os.path.dirname(sys.argv[1]), os.W_OK)
print(verify_database(sys.argv[1], Known()).total)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux capabilities")
@pytest.mark.parametrize("with_index", [False, True])
def test_a_folder_that_nobody_may_write_to(copied, path, with_index):
    if with_index:
        index = f"{path.name}-shm"
        shutil.copyfile(path.with_name(index), copied.with_name(index))
    for file in copied.parent.iterdir():
        file.chmod(0o444)
    copied.parent.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", AS_ANYBODY, "-c", VERIFY, copied],
        capture_output=True,
        text=True,
        check=False,
    )
    copied.parent.chmod(0o755)
    assert done.stdout == "2\n", done.stderr


def test_a_database_that_changes_while_it_should_rest(database, append, path, open_it):
    append(database)
    database.close()
    with pytest.raises(Unavailable, match="was changed while it was read"):  # noqa: SIM117
        with reading(path) as tx:
            append(open_it())
            verify_log(tx)


def test_a_rollback_journal_is_read_with_locks(database, path):
    database.close()
    engine = writer_engine(path, choose_driver(), busy_timeout=5)
    with engine.connect() as connection:
        connection.rollback()
        driver = connection.connection.driver_connection
        assert driver.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    engine.dispose()
    assert looked_at(path).ok


def test_what_is_no_database(tmp_path):
    for name, data in {"none": None, "empty": b"", "text": b"hello " * 500}.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(Unavailable, match=r"there is no|not a database"):  # noqa: SIM117
            with reading(tmp_path / name):
                pass


def test_another_database(tmp_path):
    connection = choose_driver().module.connect(str(tmp_path / "other.db"))
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(Unavailable, match="no audit log"), reading(tmp_path / "other.db"):
        pass


def test_a_database_of_another_version(database, path, tamper):
    database.close()
    tamper("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(Unavailable, match="revision 0001"), reading(path):
        pass


def test_a_damaged_first_page_is_damage_not_another_file(database, path):
    database.close()
    data = path.read_bytes()
    path.write_bytes(b"SQLite\xff" + data[7:])
    with pytest.raises(Damaged), reading(path):
        pass
