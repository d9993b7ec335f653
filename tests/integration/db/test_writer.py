"""Many writers, one commit at a time; what is answered is on disk."""

import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from sqlalchemy import event

from service.adapters.db.engine import choose_driver
from service.audit.entry import EntryDraft
from service.domain.errors import Overloaded, Unavailable
from service.ports.storage import Scope

SCOPE = Scope("default", "key_1")


@pytest.fixture
def blocked(database):
    """Hold the writer inside a closure until the test lets it go on."""
    inside, go_on = threading.Event(), threading.Event()

    def hold(_tx):
        inside.set()
        assert go_on.wait(10)

    holder = threading.Thread(target=database.write, args=(SCOPE, hold))
    holder.start()
    assert inside.wait(10)
    yield go_on
    go_on.set()
    holder.join()


def wait_for_queue(database, size):
    while database._writer._queue.qsize() < size:
        threading.Event().wait(0.001)


def test_32_writers_leave_one_unbroken_chain(database, append, check):  # aud-006
    with ThreadPoolExecutor(32) as pool:
        runs = [pool.submit(lambda: [append(database) for _ in range(20)]) for _ in range(32)]
        numbers = sorted(number for run in runs for number in run.result())
    assert numbers == list(range(1, 641))
    assert check(database).ok


def test_rollbacks_between_writers_leave_no_gap(database, append, check):
    def work(number):
        if number % 3:
            return append(database)

        def fail(tx):
            tx.subjects.id_for(str(number))
            raise LookupError

        with pytest.raises(LookupError):
            database.write(SCOPE, fail)
        return None

    with ThreadPoolExecutor(8) as pool:
        numbers = sorted(filter(None, pool.map(work, range(300))))
    assert numbers == list(range(1, 201))
    assert check(database).ok


def test_entries_that_are_rolled_back_leave_the_tree_as_it_was(database, append, check):
    draft = EntryDraft("evaluation.recorded", SCOPE.actor)

    def fail(number):
        def work(tx):
            for _ in range(number):
                tx.audit.append(draft, {})
            raise LookupError

        with pytest.raises(LookupError):
            database.write(SCOPE, work)

    with ThreadPoolExecutor(8) as pool:
        for number in range(1, 70):
            pool.submit(fail, number % 9)
            pool.submit(append, database)
    assert database.read(SCOPE, lambda tx: tx.audit.head()).size == 70
    assert check(database).ok


def test_the_tree_goes_on_from_what_another_process_left(open_it, append, check):
    for number in range(1, 20):
        database = open_it()
        first, *_ = [append(database) for _ in range(3)]
        assert first == 3 * number - 2
        database.close()
    assert check(open_it()).ok


def test_one_that_fails_takes_nothing_of_its_group_with_it(database, append, blocked):
    def fail(tx):
        tx.subjects.id_for("lost")
        raise LookupError

    commits = count_commits(database)
    with ThreadPoolExecutor(3) as pool:
        kept = [pool.submit(append, database)]
        wait_for_queue(database, 1)
        lost = pool.submit(database.write, SCOPE, fail)
        wait_for_queue(database, 2)
        kept.append(pool.submit(append, database))
        wait_for_queue(database, 3)
        blocked.set()
        assert [run.result() for run in kept] == [1, 2]
        with pytest.raises(LookupError):
            lost.result()
    assert len(commits) == 2, "one for the holder, one for the group of three"
    assert database.read(SCOPE, lambda tx: tx.subjects.find("lost")) is None


def test_if_the_commit_fails_nobody_of_the_group_is_told_otherwise(database, append, blocked):
    def spoil(tx):
        connection = tx.policies._session.connection
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        connection.exec_driver_sql("INSERT INTO default_policy VALUES ('default', 'unknown')")

    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(append, database) for _ in range(2)]
        runs.append(pool.submit(database.write, SCOPE, spoil))
        wait_for_queue(database, 3)
        blocked.set()
        for run in runs:
            with pytest.raises(Unavailable, match="constraint"):
                run.result()
    assert append(database) == 1


def test_somebody_else_holding_the_file_is_an_outage_not_a_crash(open_it, path, append):
    database = open_it(busy_timeout=0.05)
    with closing(choose_driver().module.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked"):
            append(database)
        assert database.read(SCOPE, lambda tx: tx.audit.head()).size == 1
    assert append(database) == 1


def test_a_full_queue_says_so(open_it, append):
    database = open_it(queue_size=1)
    inside, go_on = threading.Event(), threading.Event()

    def hold(_tx):
        inside.set()
        go_on.wait(10)

    with ThreadPoolExecutor(2) as pool:
        pool.submit(database.write, SCOPE, hold)
        assert inside.wait(10)
        waiting = pool.submit(append, database)
        wait_for_queue(database, 1)
        with pytest.raises(Overloaded):
            append(database)
        go_on.set()
        assert waiting.result() == 1


def test_closing_finishes_what_waits(database, append, blocked, open_it):
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(append, database)
        wait_for_queue(database, 1)
        ending = pool.submit(database.close)
        blocked.set()
        assert waiting.result() == 1
        ending.result()
    assert append(open_it()) == 2


def test_a_disk_that_is_full_undoes_the_whole_group(database, append, check):
    engine = database._writer._engine
    with engine.begin() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Unavailable, match="full"):
        append(database, "x" * 100_000)
    assert append(database) == 1, "a new connection, without the limit"
    assert check(database).ok


def count_commits(database):
    commits = []
    event.listen(database._writer._engine, "commit", commits.append)
    return commits


WRITE_FOR_EVER = """
    import sys
    from concurrent.futures import ThreadPoolExecutor
    from service.adapters.db.database import open_database
    from service.adapters.system import RandomIdentifiers, SystemClock
    from service.ports.storage import EntryDraft, Scope

    database = open_database(sys.argv[1], clock=SystemClock(), identifiers=RandomIdentifiers())
    scope = Scope("default", "key_1")

    def write(_):
        while True:
            done = database.write(
                scope, lambda tx: tx.audit.append(EntryDraft("index.rebuilt", scope.actor), {})
            )
            sys.stdout.write(f"{done.seq} {done.entry_hash}\\n")
            sys.stdout.flush()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
"""


def test_a_killed_process_loses_no_acknowledged_entry(path, open_it, check):
    acknowledged = {}
    for _ in range(3):
        command = [sys.executable, "-c", textwrap.dedent(WRITE_FOR_EVER), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for _ in range(60):
                seq, leaf = process.stdout.readline().split()
                acknowledged[int(seq)] = leaf
            process.send_signal(signal.SIGKILL)
            for line in process.stdout.read().splitlines(keepends=True):
                if line.endswith("\n") and len(line.split()) == 2:
                    acknowledged[int(line.split()[0])] = line.split()[1]
    database = open_it()
    leaves = database.read(SCOPE, lambda tx: {row.seq: row.leaf for row in tx.audit.scan()})
    assert acknowledged.items() <= leaves.items()
    assert check(database).ok
