"""MiniEval logs: a genuine one (written by MiniEval 1.2.1), and what can be done to it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from service import bootstrap
from service.adapters.exporting.wiring import report_on
from service.audit.minieval import GENESIS, chain_hash, verify_minieval
from service.ports.storage import Scope
from service.usecases.minieval import ImportMiniEval
from tests.conftest import make_settings

ROOT = Path(__file__).parents[3]
GENUINE = Path(__file__).parent / "data" / "minieval_1_2_1.jsonl"
SCOPE = Scope("default", "import")


@pytest.fixture
def lines() -> list[bytes]:
    return GENUINE.read_bytes().splitlines()


def changed(line: bytes, **fields: object) -> bytes:
    return json.dumps({**json.loads(line), **fields}, ensure_ascii=False).encode()


def stripped(line: bytes, **fields: object) -> bytes:
    entry = {**json.loads(line), **fields}
    del entry["prev_hash"], entry["entry_hash"]
    return json.dumps(entry).encode()


def relinked(lines: list[bytes], start: str = GENESIS) -> list[bytes]:
    out, prev = [], start
    for line in lines:
        entry = json.loads(line)
        entry["prev_hash"], entry["entry_hash"] = prev, chain_hash(prev, entry)
        prev = entry["entry_hash"]
        out.append(json.dumps(entry).encode())
    return out


def check(lines: list[bytes]):
    return verify_minieval(lines)[1]


def test_a_genuine_log_verifies(lines):
    report = check(lines)
    assert report.ok
    assert (report.verified, report.total, report.reason) == (6, 6, "intact")
    assert report.last_hash == json.loads(lines[-1])["entry_hash"]
    assert len(report.not_excluded) == 3


def test_the_rule_needs_nothing_but_hashlib(lines):
    entry = json.loads(lines[2])
    content = {k: v for k, v in entry.items() if k not in ("prev_hash", "entry_hash")}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = hashlib.sha256((entry["prev_hash"] + text).encode()).hexdigest()
    assert expected == entry["entry_hash"]


def test_an_edit_breaks_one_and_compromises_the_rest(lines):
    lines[2] = changed(lines[2], verdict="STORE")
    report = check(lines)
    assert (report.broken_at, report.compromised, report.verified) == ((2,), (3, 4, 5), 2)
    assert (report.ok, report.reason) == (False, "chain_broken")


def test_deleting_and_swapping(lines):
    middle = check(lines[:1] + lines[2:])
    assert (middle.broken_at, middle.compromised) == ((1,), (2, 3, 4))
    swapped = check([lines[0], lines[2], lines[1], *lines[3:]])
    assert swapped.broken_at == (1, 2, 3)


def test_an_edit_without_hashes_is_never_verified(lines):
    """MiniEval itself calls this intact."""
    lines[2] = stripped(lines[2], verdict="STORE")
    report = check(lines)
    assert not report.ok
    assert report.unhashed == (2,)
    assert 2 not in range(report.verified)
    assert report.broken_at == (3,)
    assert report.compromised == (4, 5)


def test_all_hashes_stripped_and_a_legacy_start(lines):
    everything = check([stripped(line) for line in lines])
    assert (everything.verified, everything.ok) == (0, False)
    assert everything.unhashed == tuple(range(6))
    legacy = check([stripped(lines[0]), *relinked(lines[1:])])
    assert (legacy.ok, legacy.unhashed, legacy.verified) == (False, (0,), 5)
    assert legacy.reason == "unhashed_entries"


def test_a_cut_start_is_seen_and_what_follows_is_not_vouched_for(lines):
    report = check(lines[2:])
    assert report.head_missing
    assert (report.ok, report.verified, report.compromised) == (False, 0, (0, 1, 2, 3))


@pytest.mark.parametrize("keep", [1, 4])
def test_a_cut_end_cannot_be_seen_and_that_is_said(lines, keep):
    report = check(lines[:keep])
    assert report.ok
    assert any("Truncation" in said for said in report.not_excluded)


def test_a_rewritten_log_cannot_be_seen_and_that_is_said(lines):
    lines[2] = changed(lines[2], verdict="STORE")
    report = check(relinked(lines))
    assert report.ok
    assert any("Rewriting" in said for said in report.not_excluded)


@pytest.mark.parametrize(
    "line",
    [
        b"5",
        b"[]",
        b"{",
        b'{"a":1,"a":2}',
        b"\xff\xfe",
        b'{"verdict":' + b"[" * 100_000,
        b'{"n":' + b"9" * 5_000 + b"}",
    ],
    ids=["number", "list", "torn", "twice", "no text", "deep", "long number"],
)
def test_lines_that_are_no_entries(lines, line):
    report = check([*lines[:3], line, *lines[3:]])
    assert report.malformed == (3,)
    assert not report.ok
    assert report.verified == 6  # the entries themselves are linked


def test_an_entry_with_half_a_character_is_broken_not_an_error(lines):
    lines[1] = b'{"fact":"\\ud800","prev_hash":"%s","entry_hash":null}' % (b"0" * 64)
    assert check(lines).broken_at[0] == 1


def test_nothing_is_not_intact():
    assert (check([]).ok, check([b"", b" "]).reason) == (False, "empty")


@pytest.fixture
def container(tmp_path):
    made = bootstrap.build(make_settings(tmp_path))
    yield made
    made.close()


def recorded(container):
    def work(tx):
        return [row for row in tx.audit.scan() if b'"evaluation.recorded"' in row.entry]

    return container.database.read(SCOPE, work)


def test_importing_keeps_what_the_log_said_and_no_text(container, lines):
    done = ImportMiniEval(database=container.database).run(SCOPE, lines)
    assert (done.imported, done.known, done.refused) == (6, 0, None)
    rows = recorded(container)
    entries = [json.loads(row.entry) for row in rows]
    assert [e["decision"]["verdict"] for e in entries] == [json.loads(x)["verdict"] for x in lines]
    assert {e["decision"]["reason_code"] for e in entries} == {"imported"}
    assert entries[0]["policy"] == "minieval:e7403d698e00"
    assert entries[0]["decision"]["scores_e6"]["entailment"] == 973_200
    assert [e["state"]["after"] for e in entries] == [json.loads(x)["entry_hash"] for x in lines]
    assert all(row.bodies == {} and e["commit"] == {} for row, e in zip(rows, entries, strict=True))
    assert not any(b"bees" in row.entry for row in rows)
    assert container.services.audit.verify().ok


def test_importing_again_changes_nothing_and_a_longer_log_adds_the_rest(container, lines):
    importing = ImportMiniEval(database=container.database)
    assert importing.run(SCOPE, lines[:4]).imported == 4
    again = importing.run(SCOPE, lines[:4])
    assert (again.imported, again.known) == (0, 4)
    assert importing.run(SCOPE, lines).imported == 2
    assert len(recorded(container)) == 6


def test_with_a_user_the_texts_are_kept_and_can_be_proven(container, lines):
    ImportMiniEval(database=container.database).run(SCOPE, lines, user_id="ana")
    rows = recorded(container)
    texts = [{name: body.text for name, body in row.readable().items()} for row in rows]
    assert texts[1]["fact"] == "The user dislikes honey."
    assert texts[1]["evidence"] == "I eat honey every day."
    assert texts[3]["fact"] == "The user sold all bees."
    assert [t["result"].encode() for t in texts] == lines
    report = container.services.audit.verify()
    assert report.ok
    assert container.services.memories  # and nothing became a memory:
    held = container.services.export.run(SCOPE, "ana")
    assert held.memories == ()


def test_a_broken_log_is_refused_or_marked(container, lines):
    lines[1] = changed(lines[1], fact="The user dislikes bread.")
    lines[4] = stripped(lines[4])
    lines.append(b"torn")
    importing = ImportMiniEval(database=container.database)
    refused = importing.run(SCOPE, lines)
    assert (refused.imported, refused.refused) == (0, "chain_broken")
    assert recorded(container) == []
    taken = importing.run(SCOPE, lines, accept_broken=True)
    assert taken.imported == 6
    codes = [json.loads(r.entry)["decision"]["reason_code"] for r in recorded(container)]
    assert codes == [
        "imported",
        "imported_broken",
        "imported_compromised",
        "imported_compromised",
        "imported_unhashed",
        "imported_broken",
    ]
    assert importing.run(SCOPE, lines, accept_broken=True).imported == 0


def test_no_text_with_a_credential_is_kept(container, lines):
    key = "sk-" + "a1B2c3D4" * 6
    with_key = relinked([changed(lines[0], source=f"My API key is {key}."), *lines[1:]])
    done = ImportMiniEval(database=container.database).run(SCOPE, with_key, user_id="ana")
    assert (done.imported, done.withheld) == (6, 1)
    assert recorded(container)[0].bodies == {}
    assert container.services.audit.verify().ok


def test_the_report_counts_them_apart(container, lines):
    lines[5] = changed(lines[5], verdict="REJECT")
    importing = ImportMiniEval(database=container.database)
    importing.run(SCOPE, lines, accept_broken=True)
    report = container.services.report.run(SCOPE)
    assert report.decisions.total == 0
    assert (report.evaluations.imported, report.evaluations.imported_unverified) == (6, 1)


def test_on_the_command_line(tmp_path):
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("GROUNDKEEPER_", "PYTEST_"))
    }

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "service", "import-minieval", *arguments],
            cwd=tmp_path,
            env={**environment, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    verified = run("verify", str(GENUINE))
    assert verified.returncode == 0, verified.stderr
    assert "6 of 6 entries verified" in verified.stdout
    assert "Truncation" in verified.stdout
    taken = run("import", str(GENUINE), "--json")
    assert taken.returncode == 0, taken.stderr
    assert json.loads(taken.stdout)["imported"] == 6
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(GENUINE.read_bytes()[:-20])
    refused = run("import", str(torn))
    assert refused.returncode == 1
    assert "REFUSED" in refused.stdout
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert run("verify", str(empty)).returncode == 2
    assert run("verify", str(tmp_path / "none.jsonl")).returncode == 2
    place = bootstrap.installation(make_settings(tmp_path))
    assert report_on(place, "default", (None, None), "json")[1]
