import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
import rfc8785

from service.audit.chain import genesis, leaf_hash
from service.audit.entry import EntryDraft, format_timestamp, parse_entry, parse_timestamp, seal
from service.audit.errors import VerificationError

PLACE = {
    "log": "groundkeeper/test",
    "seq": 1234,
    "ts": "2026-11-29T17:00:00.123456Z",
    "prev": "0" * 64,
}
HASH = "ab" * 32


def test_the_bytes_of_an_entry_never_change():
    draft = EntryDraft(
        kind="check.decided",
        actor="key_1",
        subject="sub_1",
        decision={
            "id": "chk_1",
            "verdict": "STORE",
            "reason_code": "supported",
            "scores_e6": {"entailment": 987654},
        },
        memory=("mem_1",),
        state_after=HASH,
        policy="default@1",
        models={"nli": f"sha256:{HASH}"},
        commitments={"source": HASH, "fact": HASH},
    )
    assert seal(draft, **PLACE).data.decode() == (
        '{"actor":"key_1","commit":{"fact":"' + HASH + '","source":"' + HASH + '"},'
        '"decision":{"id":"chk_1","reason_code":"supported","scores_e6":{"entailment":987654},'
        '"verdict":"STORE"},"kind":"check.decided","log":"groundkeeper/test","memory":["mem_1"],'
        '"models":{"nli":"sha256:' + HASH + '"},"policy":"default@1","prev":"' + "0" * 64 + '",'
        '"seq":1234,"state":{"after":"' + HASH + '","before":null},"subject":"sub_1",'
        '"ts":"2026-11-29T17:00:00.123456Z","v":1}'
    )


def test_every_key_is_always_present():
    fields = json.loads(seal(EntryDraft(kind="log.opened", actor="system"), **PLACE).data)
    assert fields["subject"] is fields["decision"] is fields["policy"] is None
    assert fields["memory"] == []
    assert fields["models"] == fields["commit"] == {}
    assert fields["state"] == {"before": None, "after": None}


def test_a_sealed_entry_reads_back():
    draft = EntryDraft(kind="memory.created", actor="key_1", memory=("mem_1", "mem_2"))
    sealed = seal(draft, **PLACE)
    assert sealed.draft == draft
    assert parse_entry(sealed.data) == sealed


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "check.guessed"),
        ("kind", None),
        ("actor", ""),
        ("actor", "Zoë"),
        ("actor", "two words"),
        ("actor", "x" * 129),
        ("subject", 5),
        ("subject", "sub\n"),
        ("decision", {}),
        ("decision", {"id": "a", "verdict": "b", "reason_code": "c"}),
        ("decision", {"id": "a", "verdict": "b", "reason_code": "c", "scores_e6": {"x": True}}),
        ("decision", {"id": "a", "verdict": "b", "reason_code": "c", "scores_e6": {"x": 0.5}}),
        ("decision", {"id": "a", "verdict": "b", "reason_code": "c", "scores_e6": {"X": 1}}),
        ("decision", {"id": "a", "verdict": "b", "reason_code": "c", "scores_e6": 1}),
        ("memory", ("mem 1",)),
        ("memory", (None,)),
        ("memory", tuple(f"mem_{number}" for number in range(2000))),
        ("state_before", "AB" * 32),
        ("state_after", "ab"),
        ("policy", ["x"]),
        ("models", {"nli": HASH}),
        ("models", {"NLI": f"sha256:{HASH}"}),
        ("commitments", {"fact": "ab"}),
        ("commitments", {"name": HASH}),
        ("commitments", {"fact": None}),
    ],
)
def test_a_draft_outside_the_format_is_refused(field, value):
    draft = replace(EntryDraft(kind="log.opened", actor="system"), **{field: value})
    with pytest.raises(VerificationError):
        seal(draft, **PLACE)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("log", ""),
        ("seq", -1),
        ("seq", True),
        ("seq", "1"),
        ("ts", "2026-11-29T17:00:00Z"),
        ("ts", "2026-11-29T17:00:00.123456+00:00"),
        ("ts", "2026-13-29T17:00:00.123456Z"),
        ("ts", "٢٠٢٦-11-29T17:00:00.123456Z"),
        ("ts", 5),
        ("prev", None),
        ("prev", "0" * 63),
    ],
)
def test_a_place_outside_the_format_is_refused(field, value):
    with pytest.raises(VerificationError):
        seal(EntryDraft(kind="log.opened", actor="system"), **PLACE | {field: value})


@pytest.mark.parametrize(
    "change", [{"v": 2}, {"v": True}, {"extra": 1}, {"state": None}, {"state": {"before": None}}]
)
def test_bytes_with_other_keys_are_refused(change):
    fields = json.loads(seal(EntryDraft(kind="log.opened", actor="system"), **PLACE).data)
    with pytest.raises(VerificationError):
        parse_entry(rfc8785.dumps(fields | change))


@pytest.mark.parametrize("key", ["v", "log", "seq", "commit", "prev", "subject"])
def test_bytes_without_a_key_are_refused(key):
    fields = json.loads(seal(EntryDraft(kind="log.opened", actor="system"), **PLACE).data)
    del fields[key]
    with pytest.raises(VerificationError, match=key):
        parse_entry(rfc8785.dumps(fields))


@pytest.mark.parametrize("data", [b"5", b"[]", b"null", b'"entry"'])
def test_other_json_is_refused(data):
    with pytest.raises(VerificationError, match="not an object"):
        parse_entry(data)


def test_every_single_bit_flip_is_refused_or_changes_the_hash():
    data = seal(EntryDraft(kind="log.opened", actor="system"), **PLACE).data
    for bit in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        assert leaf_hash(bytes(flipped)) != leaf_hash(data)
        try:
            parse_entry(bytes(flipped))
        except VerificationError:
            continue


def test_timestamps_are_utc_of_fixed_width():
    east = datetime(2026, 11, 29, 18, 0, 0, tzinfo=timezone(timedelta(hours=1)))
    assert format_timestamp(east) == "2026-11-29T17:00:00.000000Z"
    assert parse_timestamp(format_timestamp(east)) == east
    assert parse_timestamp("2026-11-29T17:00:00.000000Z").tzinfo is UTC
    with pytest.raises(VerificationError):
        format_timestamp(datetime(2026, 11, 29))  # noqa: DTZ001 - the point of the test


def test_leaf_and_genesis_are_fixed():
    # RFC 6962 leaf hash of the empty string, from the Certificate Transparency test vectors.
    empty = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert leaf_hash(b"") == empty
    assert genesis("groundkeeper/test") == (
        "a7dd95ad4f550a9ae7bcedb10c7d23f09f958045908828a28e422682fea3d8f8"
    )
