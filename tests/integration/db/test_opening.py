"""Opening the database: schema, lock, driver, settings."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from service.adapters.db.database import open_database
from service.adapters.db.engine import choose_driver
from service.adapters.db.tables import metadata
from service.adapters.system import RandomIdentifiers, SystemClock
from service.domain.errors import InvalidInput, Unavailable
from service.ports.storage import Database, Scope

SCOPE = Scope("default", "key_1")
PARTS = {"clock": SystemClock(), "identifiers": RandomIdentifiers()}


def test_migrations_build_the_tables_that_are_queried(database):
    with database._readers.connect() as connection:
        context = MigrationContext.configure(connection)
        # SQLite reports unique constraints and index order differently; tables and columns count.
        differences = [d for d in compare_metadata(context, metadata) if "index" not in d[0]]
    assert differences == []


def test_every_table_is_strict(database):
    with database._readers.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT name, strict FROM pragma_table_list WHERE schema = 'main'"
            " AND name NOT LIKE 'sqlite_%' AND name <> 'alembic_version'"
        ).all()
    assert {name for name, _ in rows} == set(metadata.tables)
    assert all(strict for _, strict in rows)


def test_pragmas(database):
    def pragma(engine, name):
        with engine.connect() as connection:
            return connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()

    writer, readers = database._writer._engine, database._readers
    assert pragma(writer, "journal_mode") == "wal"
    assert pragma(writer, "synchronous") == 2
    assert pragma(writer, "foreign_keys") == 1
    assert pragma(writer, "secure_delete") == 1
    assert pragma(writer, "trusted_schema") == 0
    assert pragma(writer, "busy_timeout") == 5000
    assert pragma(readers, "query_only") == 1


def test_the_file_is_for_its_owner_only(database, path):
    assert path.stat().st_mode & 0o077 == 0


def test_opening_again_changes_nothing(open_it, append, check):
    first = open_it()
    append(first)
    origin = first.read(SCOPE, lambda tx: tx.audit.head()).origin
    first.close()
    second = open_it(origin=origin)
    assert append(second) == 2
    assert check(second).total == 3


def test_the_origin_is_the_callers_to_know(open_it):
    open_it(origin="groundkeeper/mine").close()
    with pytest.raises(Unavailable, match="groundkeeper/mine"):
        open_it(origin="groundkeeper/theirs")


def test_an_origin_that_cannot_be_logged_is_refused(open_it):
    with pytest.raises(InvalidInput):
        open_it(origin="two words")
    open_it(origin="groundkeeper/fine")


def test_a_second_process_is_refused(database, path):
    code = (
        "import sys\n"
        "from service.adapters.db.database import open_database\n"
        "from service.adapters.system import RandomIdentifiers, SystemClock\n"
        "open_database(sys.argv[1], clock=SystemClock(), identifiers=RandomIdentifiers())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "another process is using" in ran.stderr
    assert database.health().at_head


def test_a_second_opening_in_this_process_is_refused(database, path):
    with pytest.raises(Unavailable, match="another process is using"):
        open_database(path, **PARTS)


def test_a_failed_opening_lets_go_of_everything(path, open_it):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database, certainly not one of ours" * 100)
    with pytest.raises(Unavailable, match="not a database"):
        open_it()
    path.unlink()
    assert open_it().health().at_head


def test_a_url_names_the_same_file(path, open_it):
    open_it(origin="groundkeeper/mine").close()
    database = open_database(f"sqlite:///{path}", origin="groundkeeper/mine", **PARTS)
    assert isinstance(database.read(SCOPE, lambda tx: tx.audit.next_seq()), int)
    database.close()


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "postgresql://host/db", "nonsense://", "://"]
)
def test_other_urls_are_refused(url):
    with pytest.raises(InvalidInput, match="DATABASE_URL"):
        open_database(url, **PARTS)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot create"):
        open_database(tmp_path / "file" / "data.db", **PARTS)


def test_an_old_library_gets_a_rollback_journal_and_a_warning(open_it, append, check):
    driver = choose_driver(sqlite3.dbapi2)
    if driver.journal_mode == "WAL":
        pytest.skip("this Python has a recent SQLite")
    database = open_it(driver=driver)
    health = database.health()
    assert health.at_head
    assert health.journal_mode == "delete"
    assert sqlite3.sqlite_version in health.warnings[0]
    assert append(database) == 1
    assert check(database).ok


def test_health_reports_a_schema_that_is_behind(database, path):
    # The same library: two copies of SQLite in one process do not see each other's locks.
    with closing(choose_driver().module.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    assert not database.health().at_head


def test_the_adapter_fits_the_port(database):
    port: Database = database
    assert port.health().at_head


def test_ids_are_unique_and_sort_by_time():
    ids = [RandomIdentifiers().new("chk") for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(len(made) == 30 and made.startswith("chk_") for made in ids)
    assert [made[4:14] for made in ids] == sorted(made[4:14] for made in ids)


def test_the_clock_is_utc():
    assert SystemClock().now().utcoffset().total_seconds() == 0
