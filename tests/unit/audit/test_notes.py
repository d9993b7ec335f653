"""Signed notes and checkpoints, against published examples and against every small mistake."""

import base64

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from service.audit.errors import VerificationError
from service.audit.notes import (
    MAX_NOTE_BYTES,
    Checkpoint,
    VerifierKey,
    add_signature,
    checkpoint_text,
    note_text,
    open_note,
    parse_checkpoint,
    parse_verifier_key,
    sign_note,
)
from service.audit.tree import EMPTY_ROOT

# The example of golang.org/x/mod/sumdb/note.
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETER_SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
ENOCH = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
PETER_LINE = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb"
    "6KE6RyyBwJnAM=\n"
)
ENOCH_LINE = (
    "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33W"
    "Wd1RvMc+QQ=\n"
)
# The examples of C2SP tlog-checkpoint and signed-note; their keys are not published.
SOFA = """example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGz\
Gku9nTo+zyWE+xeMcTOAYQ8=
"""
QUASIMODO = """Ognuno sta solo sul cuor della terra
trafitto da un raggio di sole:

ed è subito sera.

— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMc\
Xxj99ihAQwaqP3ZekRwNtIc=
"""


def check(public, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


@pytest.fixture
def peter():
    return parse_verifier_key(PETER)


@pytest.fixture
def enoch():
    return parse_verifier_key(ENOCH)


@pytest.fixture
def note():
    return f"{TEXT}\n{PETER_LINE}{ENOCH_LINE}"


def test_the_published_keys(peter, enoch):
    assert (peter.name, peter.key_id.hex()) == ("PeterNeumann", "c74f20a3")
    assert (peter.text(), enoch.text()) == (PETER, ENOCH)
    assert parse_verifier_key(f"  {PETER}\n") == peter


def test_no_part_of_a_key_is_a_key():
    for start in range(len(PETER)):
        for end in range(start, len(PETER) + 1):
            if (start, end) != (0, len(PETER)):
                with pytest.raises(VerificationError):
                    parse_verifier_key(PETER[start:end])


@pytest.mark.parametrize("at", range(len(PETER)))
def test_no_changed_key_is_a_key(at):
    with pytest.raises(VerificationError):
        parse_verifier_key(f"{PETER[:at]}{chr(ord(PETER[at]) + 1)}{PETER[at + 1 :]}")


@pytest.mark.parametrize(
    "text",
    [
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        PETER.upper(),
        "",
        "+",
        "++",
        "\ud800+c74f20a3+AR",
    ],
)
def test_other_keys_that_are_none(text):
    with pytest.raises(VerificationError):
        parse_verifier_key(text)


def test_the_published_signature(peter):
    private = Ed25519PrivateKey.from_private_bytes(PETER_SEED)
    assert sign_note(TEXT, peter, private.sign) == f"{TEXT}\n{PETER_LINE}"


def test_opening_with_one_or_both_keys(note, peter, enoch):
    assert open_note(note, [peter], check) == (TEXT, (peter,))
    assert open_note(note, [enoch], check) == (TEXT, (enoch,))
    assert open_note(note, [enoch, peter], check) == (TEXT, (peter, enoch))


def test_a_note_nobody_known_has_signed(note):
    stranger = VerifierKey("PeterNeumann", bytes(32))  # the name of a signer, and another key
    for keys in ([], [stranger]):
        with pytest.raises(VerificationError, match="not signed by a known key"):
            open_note(note, keys, check)


def test_a_wrong_signature_is_not_made_good_by_a_right_one(peter, enoch):
    wrong = PETER_LINE[:60] + ("A" if PETER_LINE[60] != "A" else "B") + PETER_LINE[61:]
    note = f"{TEXT}\n{wrong}{ENOCH_LINE}"
    assert open_note(note, [enoch], check) == (TEXT, (enoch,))
    with pytest.raises(VerificationError, match="PeterNeumann is wrong"):
        open_note(note, [peter, enoch], check)


def test_a_changed_text(note, peter):
    with pytest.raises(VerificationError):
        open_note(note.replace("answer", "Answer"), [peter], check)


def test_one_key_twice(peter):
    with pytest.raises(VerificationError, match="two signatures"):
        open_note(f"{TEXT}\n{PETER_LINE}{PETER_LINE}", [peter], check)


@pytest.mark.parametrize(
    "note",
    [
        "",
        TEXT,
        f"{TEXT}\n",
        f"{TEXT}\n{PETER_LINE[:-1]}",
        f"{TEXT}{PETER_LINE}",
        f"\x01{TEXT}\n{PETER_LINE}",
        f"{TEXT}\r\n\n{PETER_LINE}",
        f"\udcff{TEXT}\n{PETER_LINE}",
        f"{TEXT}\n{PETER_LINE}\n",
        f"{TEXT}\n{PETER_LINE}Unexpected line.\n",
        f"{TEXT}\n{PETER_LINE.replace('— ', '- ')}",
        f"{TEXT}\n{PETER_LINE.replace('PeterNeumann', 'Peter Neumann')}",
        f"{TEXT}\n{PETER_LINE.replace('PeterNeumann', 'Peter+Neumann')}",
        f"{TEXT}\n{PETER_LINE.replace('PeterNeumann', '')}",
        f"{TEXT}\n{PETER_LINE.replace('=', '')}",
        f"{TEXT}\n{PETER_LINE.replace('M=', 'N=')}",  # bits that base64 leaves unused
        f"{TEXT}\n— PeterNeumann x08goA==\n",
        f"{TEXT}\n— PeterNeumann x08gow==\n",
        f"{TEXT}\n{PETER_LINE * 33}",
        f"{'x' * MAX_NOTE_BYTES}\n\n{PETER_LINE}",
        f"{'è' * (MAX_NOTE_BYTES // 2)}\n\n{PETER_LINE}",
    ],
)
def test_what_is_no_note(note, peter):
    with pytest.raises(VerificationError):
        open_note(note, [peter], check)


def test_a_signature_of_the_wrong_length(peter):
    short = base64.b64encode(peter.key_id + bytes(63)).decode()
    with pytest.raises(VerificationError, match="is wrong"):
        open_note(f"{TEXT}\n— PeterNeumann {short}\n", [peter], check)


def test_signatures_of_unknown_types_are_ignored(peter):
    witness = base64.b64encode(b"\x00\x01\x02\x03" + bytes(5_000)).decode()
    note = f"{TEXT}\n" + "".join(f"— witness.example/{n} {witness}\n" for n in range(16))
    assert open_note(note + PETER_LINE, [peter], check) == (TEXT, (peter,))


def test_keys_rotate_by_a_second_signature(peter):
    private = Ed25519PrivateKey.generate()
    following = VerifierKey("PeterNeumann", private.public_key().public_bytes_raw())
    both = add_signature(f"{TEXT}\n{PETER_LINE}", following, private.sign)
    assert open_note(both, [peter, following], check) == (TEXT, (peter, following))
    assert open_note(both, [following], check) == (TEXT, (following,))
    with pytest.raises(VerificationError, match="signed it already"):
        add_signature(both, following, private.sign)


def test_a_text_with_blank_lines_ends_at_the_last():
    assert note_text(QUASIMODO).endswith("\ned è subito sera.\n")
    assert parse_checkpoint(note_text(SOFA)).size == 20_852_163


@pytest.mark.parametrize("text", ["no newline", "tab\t\n", "a\r\n", "\udcff\n"])
def test_what_cannot_be_signed(text, peter):
    with pytest.raises(VerificationError):
        sign_note(text, peter, lambda _: bytes(64))


def test_a_signer_that_gives_no_signature(peter):
    with pytest.raises(VerificationError, match="64 bytes"):
        sign_note(TEXT, peter, lambda _: b"")


ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="


def test_a_checkpoint_and_back():
    made = Checkpoint("groundkeeper/log_1", 2**53 - 1, bytes(range(32)))
    assert parse_checkpoint(checkpoint_text(made)) == made
    empty = Checkpoint("o", 0, EMPTY_ROOT)
    assert checkpoint_text(empty) == "o\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        f"o\n1\n{ROOT}",
        f"\n1\n{ROOT}\n",
        f"o\n\n{ROOT}\n",
        "o\n1\n\n",
        f"o\n01\n{ROOT}\n",
        f"o\n+1\n{ROOT}\n",
        f"o\n-1\n{ROOT}\n",
        f"o\n1.0\n{ROOT}\n",
        f"o\n1 \n{ROOT}\n",
        f"o\n١\n{ROOT}\n",
        f"o\n{2**53}\n{ROOT}\n",
        f"o\n{10**30}\n{ROOT}\n",
        f"o\n1\n{ROOT[:-1]}\n",
        f"o\n1\n{ROOT[:-2]}J=\n",
        f"o\n1\n {ROOT}\n",
        "o\n1\nAAAA\n",
        f"o\n0\n{ROOT}\n",
        f"o\n1\n{ROOT}\nextension\n",
        f"o\n1\n{ROOT}\n\n",
        f"o\r\n1\r\n{ROOT}\r\n",
        f"o o\n1\n{ROOT}\n",
        f"o+o\n1\n{ROOT}\n",
        f"o\n1\n{ROOT.replace('+', '-').replace('/', '_')}\n",
    ],
)
def test_what_is_no_checkpoint(text):
    with pytest.raises(VerificationError):
        parse_checkpoint(text)


@pytest.mark.parametrize(
    "made",
    [
        Checkpoint("a\nb", 1, bytes(32)),
        Checkpoint("o", -1, bytes(32)),
        Checkpoint("o", 2**53, bytes(32)),
        Checkpoint("o", 1, bytes(31)),
        Checkpoint("o", 0, bytes(32)),
        Checkpoint("", 1, bytes(32)),
    ],
)
def test_a_checkpoint_that_cannot_be_written(made):
    with pytest.raises(VerificationError):
        checkpoint_text(made)


@given(st.text(max_size=200))
def test_garbage_is_refused_with_the_one_error(text):
    for read in (parse_checkpoint, parse_verifier_key, note_text):
        with pytest.raises(VerificationError):
            read(text)
    with pytest.raises(VerificationError):
        open_note(f"{text}\n{PETER_LINE[:-3]}\n", [parse_verifier_key(PETER)], check)
