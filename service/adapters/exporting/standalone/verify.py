"""Check this folder's audit log with nothing but Python's standard library (3.10 or later).

    python3 -I verify.py KEY [KEY ...] [NOTE ...]

KEY is the log's public key, one line of text with two "+" in it. Get it from somebody you trust,
NOT from this folder: whoever could change the folder could change the key in it, too.
NOTE is a file with a checkpoint that you kept yourself; the log has to agree with it.

Exit 0: all is as it was signed. 1: something was changed. 2: cannot decide. 3: used wrongly.

What is checked, and where:
  whole    every entry names the hash of the one before it, up from the first (a hash chain);
  Tree     the root over all entries (RFC 6962) is the one that a checkpoint states;
  signed   the checkpoint was signed with KEY (Ed25519, RFC 8032);
  Texts    each text in bodies.ndjson is the one its entry commits to (HMAC-SHA-256), and each
           missing one was erased on the record;
  part     in an export of a part of the log: each entry is in the signed tree (RFC 9162).
"""

import base64
import hashlib
import hmac
import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
GOOD, BAD, UNDECIDED, USAGE = 0, 1, 2, 3
Key = tuple[str, bytes, bytes]  # name, id, public key
Point = tuple[int, int]  # a point of the curve


class Changed(Exception):
    """Something is not as it was signed."""


def need(condition: object, problem: str) -> None:
    """Stop with the problem unless the condition holds."""
    if not condition:
        raise Changed(problem)


def sha256(*parts: bytes) -> bytes:
    """Return the SHA-256 of the parts, one after the other."""
    return hashlib.sha256(b"".join(parts)).digest()


# --- The log: chain, tree, and the texts beside it -----------------------------------------------


def whole(origin: str, points: dict[int, bytes]) -> None:
    """Check an export of the whole log; ``points`` are the signed roots by size."""
    tree, texts = Tree(), Texts()
    last = sha256(b"groundkeeper/audit/v1/genesis\x00", origin.encode())
    for line in lines("entries.ndjson"):
        seq, entry = tree.size, json.loads(line)
        need(entry["log"] == origin, f"entry {seq}: of another log")
        need(entry["seq"] == seq, f"entry {seq}: not in its place")
        need(entry["prev"] == last.hex(), f"entry {seq}: does not follow the one before it")
        last = sha256(b"\x00", line)
        tree.add(last)
        if tree.size in points:
            need(tree.root() == points[tree.size], f"entry {seq} or one before it was changed")
        texts.check(entry)
    most = max(points)
    need(most <= tree.size, f"{most} entries were signed, but only {tree.size} are here")
    print(f"{tree.size} entries are linked; the root over the first {most} is the signed one.")
    print(texts.finish())
    if most < tree.size:
        print(f"NOTE: entries from {most} on came after the last checkpoint: not signed yet.")
    print("Not excluded: later entries and checkpoints may have been left out together.")


class Tree:
    """The roots of the complete subtrees so far, the largest first."""

    def __init__(self) -> None:
        self.size = 0
        self.roots: list[bytes] = []

    def add(self, leaf: bytes) -> None:
        """Add a leaf; two subtrees of one size become one: SHA-256(0x01, left, right)."""
        self.size += 1
        self.roots.append(leaf)
        count = self.size
        while count % 2 == 0:
            right, left = self.roots.pop(), self.roots.pop()
            self.roots.append(sha256(b"\x01", left, right))
            count //= 2

    def root(self) -> bytes:
        """Return the root over all leaves so far."""
        found = self.roots[-1]
        for left in reversed(self.roots[:-1]):
            found = sha256(b"\x01", left, found)
        return found


class Texts:
    """The texts beside the log. They can be gone, but only if an entry says they were erased."""

    def __init__(self) -> None:
        self.there = (HERE / "bodies.ndjson").exists()
        self.fit = 0
        self.absent: list[tuple[int, str, set[str]]] = []
        self.erased: list[tuple[int, str, set[str]]] = []
        found = lines("bodies.ndjson") if self.there else iter(())
        self.groups = groupby(map(json.loads, found), key=lambda text: text["seq"])
        self.step()

    def step(self) -> None:
        """Go on to the next entry that has texts."""
        found = next(self.groups, None)
        self.seq = None if found is None else found[0]
        self.texts = [] if found is None else list(found[1])

    def check(self, entry: dict[str, Any]) -> None:
        """Compare the texts of an entry with its commitments."""
        seq, commit, owner = entry["seq"], entry["commit"], entry["subject"]
        if entry["kind"] == "erasure.done":
            self.erased.append((seq, owner, set(entry["memory"])))
        names = set()
        if self.seq == seq:
            for given in self.texts:
                name, text = given["name"], given["text"].encode("utf-8", "surrogateescape")
                code = hmac.new(bytes.fromhex(given["salt"]), text, "sha256").hexdigest()
                need(owner and name not in names, f"entry {seq}: a text that is not its own")
                need(commit.get(name) == code, f"entry {seq}: its {name} is not what it says")
                names.add(name)
            self.fit += len(names)
            self.step()
        if owner and set(commit) - names:
            ids = {*entry["memory"], (entry["decision"] or {}).get("id")}
            self.absent.append((seq, owner, ids))

    def finish(self) -> str:
        """Account for what is missing, and return what to say."""
        need(self.seq is None, f"texts of entry {self.seq}, which is not here")
        if not self.there:
            return f"Without texts: {len(self.absent)} entries commit to some."
        for seq, owner, ids in self.absent:
            accounted = any(
                seq < at and owner == whose and (not gone or gone & ids)
                for at, whose, gone in self.erased
            )
            need(accounted, f"entry {seq}: a text is missing, and no entry says it was erased")
        erased = f"texts of {len(self.absent)} entries were erased, on the record"
        return f"{self.fit} texts are the ones committed to; {erased}."


def lines(name: str) -> Iterator[bytes]:
    """Yield the lines of a file; each must have its newline, or the file was cut."""
    with (HERE / name).open("rb") as file:
        for line in file:
            need(line.endswith(b"\n"), f"{name}: the last line is cut off")
            yield line[:-1]


# --- Keys and checkpoints: C2SP signed notes (text, blank line, signature lines) -----------------


def read_key(text: str) -> Key:
    """Read NAME+ID+BASE64; the ID is the start of a hash over the rest."""
    name, key_id, encoded = text.strip().split("+", 2)
    data = base64.b64decode(encoded, validate=True)
    fits = sha256(name.encode(), b"\n", data)[:4].hex() == key_id
    need(fits and data[:1] == b"\x01" and len(data) == 33, "this is no Ed25519 key")
    return name, bytes.fromhex(key_id), data[1:]


def read_notes(content: str, keys: list[Key]) -> Iterator[tuple[str, int, bytes]]:
    """Yield origin, size and root of every checkpoint that one of the keys signed."""
    blocks = content.removesuffix("\n").split("\n\n") if content else []
    need(len(blocks) % 2 == 0, "a checkpoint without signatures")
    for text, signatures in zip(blocks[::2], blocks[1::2], strict=True):
        origin, size, root = text.split("\n")
        for line in signatures.split("\n"):
            _dash, name, encoded = line.split(" ")
            data = base64.b64decode(encoded, validate=True)
            for key_name, key_id, public in keys:
                if (name, data[:4]) != (key_name, key_id):
                    continue  # the signature of another key says nothing to us
                genuine = name == origin and signed(public, f"{text}\n".encode(), data[4:])
                need(genuine, f"the checkpoint of {size} entries has a wrong signature")
                yield origin, int(size), base64.b64decode(root, validate=True)


# --- Ed25519 (RFC 8032, 5.1): points (x, y) with -x^2 + y^2 = 1 + D x^2 y^2, modulo P ------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Say whether [s]B = R + [SHA-512(R, key, message)]A, where the signature is R and s."""
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(r + public + message).digest(), "little")
    return times(s, BASE) == add(decode(r), times(h % ORDER, decode(public)))


def add(one: Point, two: Point) -> Point:
    """Add two points."""
    (x1, y1), (x2, y2) = one, two
    t = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + t, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - t, -1, P)
    return x % P, y % P


def times(number: int, point: Point) -> Point:
    """Add a point to itself that many times."""
    result = (0, 1)
    while number:
        if number % 2:
            result = add(result, point)
        point, number = add(point, point), number // 2
    return result


def decode(data: bytes) -> Point:
    """Find the point of which these 32 bytes are y and the lowest bit of x (RFC 8032, 5.1.3)."""
    number = int.from_bytes(data, "little")
    odd, y = number >> 255, number % 2**255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    need(y < P and x * x % P == square and (x or not odd), "not a point of the curve")
    return (x if x % 2 == odd else P - x), y


BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


# --- An export of a part of the log: a proof for each entry --------------------------------------


def part(origin: str, points: dict[int, bytes]) -> None:
    """Check that each entry is in the signed tree, at its number."""
    texts, proven, count, before = Texts(), 0, 0, -1
    for line, proof in zip(lines("entries.ndjson"), lines("proofs.ndjson"), strict=True):
        entry, given = json.loads(line), json.loads(proof)
        seq, size = entry["seq"], given["size"]
        need(entry["log"] == origin and seq > before, f"entry {seq}: of another log, or misplaced")
        before, count = seq, count + 1
        texts.check(entry)
        if size is None:
            continue  # later than the last checkpoint
        need(size in points, f"entry {seq}: a proof for {size} entries, of which none is signed")
        path = [bytes.fromhex(node) for node in given["path"]]
        reached = climb(sha256(b"\x00", line), seq, size - 1, path)
        need(reached == points[size], f"entry {seq}: not in the signed log")
        proven += 1
    print(f"{proven} of {count} entries are in the signed log, each at its number.")
    print(texts.finish())
    print("NOTE: this is a part of a log; entries left out of it cannot be noticed.")


def climb(node: bytes, seq: int, last: int, path: list[bytes]) -> bytes:
    """Follow a proof from a leaf up to the root (RFC 9162, 2.1.3.2)."""
    need(0 <= seq <= last, f"entry {seq}: not in a tree that ends at {last}")
    for sibling in path:
        need(last > 0, "a proof is too long")
        if seq % 2 or seq == last:
            node = sha256(b"\x01", sibling, node)
            while seq % 2 == 0 and seq:
                seq, last = seq // 2, last // 2
        else:
            node = sha256(b"\x01", node, sibling)
        seq, last = seq // 2, last // 2
    need(last == 0, "a proof is too short")
    return node


def main(arguments: list[str]) -> int:
    """Read keys and checkpoints, and check the folder against them."""
    notes = [HERE / "checkpoints.txt", *(Path(a) for a in arguments if a.count("+") < 2)]
    try:
        keys = [read_key(a) for a in arguments if a.count("+") >= 2]
    except (Changed, ValueError) as problem:
        print(f"KEY cannot be read: {problem}")
        return USAGE
    given = bool(keys)
    if not given:
        print("WARNING: no key given. Using the one in this folder, which proves NOTHING about who")
        print("WARNING: made it. Get the key from somebody you trust, and give it to this script.")
        keys = [read_key(text) for text in (HERE / "keys.txt").read_text("utf-8").split()]
    found = [p for file in notes for p in read_notes(file.read_bytes().decode(), keys)]
    points = {size: root for _, size, root in found if size}
    if not points:
        print("CANNOT DECIDE: no checkpoint is signed with this key.")
        return UNDECIDED
    need(len({origin for origin, _, _ in found}) == 1, "checkpoints of two logs")
    need(all(points.get(size, root) == root for _, size, root in found), "two roots for one size")
    check = part if (HERE / "proofs.ndjson").exists() else whole
    check(found[0][0], points)
    print("INTACT." if given else "CANNOT DECIDE: all fits together, but see the warning.")
    return GOOD if given else UNDECIDED


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Changed as problem:
        print(f"CHANGED: {problem}")
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as problem:
        print(f"CHANGED, or not an export: {type(problem).__name__}: {problem}")
    sys.exit(BAD)
