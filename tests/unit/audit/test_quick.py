"""The fast way to read an entry accepts only what the strict way does, and reads it alike."""

import string
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.audit.canonical import canonicalise, parse_strict
from service.audit.entry import EntryDraft, parse_entry, seal
from service.audit.errors import VerificationError
from service.audit.quick import quick_fields
from service.audit.schema import COMMITMENTS, KINDS, check_fields

HEX = "0123456789abcdef"
hashes = st.text(HEX, min_size=64, max_size=64)
tokens = st.text(string.ascii_letters + string.digits + '":,{}[]\\_-.', min_size=1, max_size=12)
names = st.from_regex(r"[a-z][a-z0-9_.]{0,9}", fullmatch=True)
maybe = st.none() | tokens
integers = st.integers(-(2**53) + 1, 2**53 - 1)
decisions = st.fixed_dictionaries(
    {
        "id": maybe,
        "verdict": maybe,
        "reason_code": maybe,
        "scores_e6": st.dictionaries(names, integers, max_size=4),
    }
)
drafts = st.builds(
    EntryDraft,
    kind=st.sampled_from(sorted(KINDS)),
    actor=tokens,
    subject=maybe,
    decision=st.none() | decisions,
    memory=st.lists(tokens, max_size=3).map(tuple),
    state_before=st.none() | hashes,
    state_after=st.none() | hashes,
    policy=maybe,
    models=st.dictionaries(names, hashes.map("sha256:{}".format), max_size=3),
    commitments=st.dictionaries(st.sampled_from(sorted(COMMITMENTS)), hashes, max_size=4),
)
ORDINARY = EntryDraft(
    "check.decided",
    "default:key_1",
    subject="sub_1",
    decision={
        "id": "chk_1",
        "verdict": "STORE",
        "reason_code": "supported",
        "scores_e6": {"entailment": 987_654, "neutral": 0, "offset": -3},
    },
    memory=("mem_1", "mem_2"),
    policy="f" * 64,
    models={"embedder": f"sha256:{'a' * 64}", "nli": f"sha256:{'b' * 64}"},
    commitments={"fact": "c" * 64, "source": "d" * 64},
)


def sealed(draft: EntryDraft) -> bytes:
    ts = "2026-11-29T17:00:00.123456Z"
    return seal(draft, log="groundkeeper/x", seq=7, ts=ts, prev="0" * 64).data


def strictly(data: bytes):
    try:
        return check_fields(parse_strict(data))
    except VerificationError:
        return None


def agree(data: bytes) -> None:
    quickly = quick_fields(data)
    assert quickly in (None, strictly(data))


def test_an_ordinary_entry_is_read_the_fast_way():
    for draft in (ORDINARY, EntryDraft("log.opened", "system:system")):
        data = sealed(draft)
        assert quick_fields(data) == strictly(data) is not None


@given(drafts)
def test_what_is_read_fast_is_read_alike(draft):
    agree(sealed(draft))


@given(drafts)
def test_what_is_sealed_reads_back_to_the_same_entry(draft):
    ts = "2026-11-29T17:00:00.123456Z"
    made = seal(draft, log="groundkeeper/x", seq=7, ts=ts, prev="0" * 64)
    assert parse_entry(made.data) == made
    assert made.data == canonicalise(parse_strict(made.data))


@given(drafts, st.sampled_from(["kind", "ts", "score", "hash", "key"]))
def test_what_would_not_read_back_is_not_sealed(draft, wrong):
    ts = "2026-11-29T17:00:00.123456Z"
    scores = {"entailment": True} if wrong == "score" else {}
    decision = {"id": None, "verdict": None, "reason_code": None, "scores_e6": scores}
    changes = {
        "kind": {"kind": "memory.invented"},
        "ts": {},
        "score": {"decision": decision},
        "hash": {"state_after": "A" * 64},
        "key": {"commitments": {"name": "0" * 64}},
    }[wrong]
    ts = "2026-13-29T17:00:00.123456Z" if wrong == "ts" else ts
    with pytest.raises(VerificationError):
        seal(replace(draft, **changes), log="groundkeeper/x", seq=7, ts=ts, prev="0" * 64)


@given(st.integers(0, len(sealed(ORDINARY)) * 8 - 1))
def test_a_flipped_bit_is_never_accepted_by_one_way_only(bit):
    data = bytearray(sealed(ORDINARY))
    data[bit // 8] ^= 1 << bit % 8
    agree(bytes(data))


@given(st.integers(0, len(sealed(ORDINARY))), st.sampled_from('"{}[],:0 -1e.\\nul'), st.booleans())
@example(0, " ", True)
def test_a_changed_character_is_never_accepted_by_one_way_only(at, character, insert):
    data = sealed(ORDINARY)
    agree(data[:at] + character.encode() + data[at + (0 if insert else 1) :])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"entailment":987654,"neutral":0', b'"neutral":0,"entailment":987654'),
        (b'"neutral":0', b'"entailment":0'),
        (b'"neutral":0', b'"neutral":-0'),
        (b'"neutral":0', b'"neutral":00'),
        (b'"neutral":0', b'"neutral":9007199254740992'),
        (b'"neutral":0', b'"neutral":1.0'),
        (b'"fact":', b'"source":'),
        (b'"embedder":', b'"nli":'),
        (b'"embedder":', b'"zzz":'),
        (b"2026-11-29", b"2026-13-29"),
        (b"check.decided", b"check.guessed"),
        (b'"v":1', b'"v":2'),
        (b'"seq":7', b'"seq":-7'),
        (b'"memory":["mem_1","mem_2"]', b'"memory":["mem_1",,"mem_2"]'),
        (b'"memory":["mem_1","mem_2"]', b'"memory":["mem_1" ,"mem_2"]'),
        (b"mem_1", "mem_é".encode()),
        (b"mem_1", b"mem_" + b"1" * 125),
    ],
)
def test_near_misses_are_left_to_the_strict_way(old, new):
    data = sealed(ORDINARY)
    assert data.count(old) == 1
    changed = data.replace(old, new)
    assert quick_fields(changed) is None
    assert strictly(changed) is None


def test_what_is_too_long_is_left_to_the_strict_way():
    memory = tuple(f"mem_{number}" * 3 for number in range(600))
    fields = parse_strict(sealed(ORDINARY)) | {"memory": list(memory)}
    assert quick_fields(canonicalise(fields)) is None
