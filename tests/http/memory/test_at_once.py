"""Many at once: one answer, one line, one memory per key."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

TOWNS = """Rome Oslo Lima Cairo Quito Paris Tokyo Delhi Sofia Vienna Berlin Lisbon Madrid Dublin
    Athens Warsaw""".split()


def test_sixteen_writers_leave_one_value_and_a_line(me):
    with ThreadPoolExecutor(16) as pool:
        sent = [pool.submit(me.post, "/memory", {"message": f"I live in {t}."}) for t in TOWNS]
        answers = [s.result() for s in sent]
    assert {a.status_code for a in answers} <= {200, 201, 409}
    written = [a for a in answers if a.status_code == 201]
    assert len(written) == len(TOWNS)
    everything = {m["id"]: m for m in me.memories("all")}
    assert len(everything) == len(TOWNS)
    current = [m for m in everything.values() if m["status"] == "active"]
    assert len(current) == 1
    line, one = [], current[0]
    while one:
        line.append(one["id"])
        assert len(one["supersedes"]) <= 1
        one = everything[one["supersedes"][0]] if one["supersedes"] else None
    assert len(line) == len(TOWNS)


def test_one_key_at_once_makes_one_memory(me):
    body, key = {"message": "I live in Rome."}, {"Idempotency-Key": f"at-once-{me.user}"}
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(me.post, "/memory", body, **key) for _ in range(8)]
        answers = [s.result() for s in sent]
    assert {a.status_code for a in answers} == {201}
    assert len({a.content for a in answers}) == 1
    assert len(me.memories("all")) == 1
    mismatch = me.post("/memory", {"message": "I live in Oslo."}, **key)
    assert mismatch.status_code == 409


def test_the_same_fact_at_once_is_stored_once(me):
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(me.say, "I live in Rome.") for _ in range(8)]
        statuses = sorted(s.result()["status"] for s in sent)
    assert statuses == ["confirmed"] * 7 + ["created"]
    assert len(me.memories("all")) == 1


def test_a_review_is_approved_exactly_once(me):
    fact = {"text": "The user plays chess.", "source": "The sky is blue."}
    review = me.post("/memory", {"fact": fact}).json()["review_id"]
    with ThreadPoolExecutor(8) as pool:
        approve = [
            pool.submit(me.post, f"/reviews/{review}/approve", {"note": f"n{n}"}) for n in range(8)
        ]
        codes = sorted(a.result().status_code for a in approve)
    assert codes == [200] + [409] * 7
    assert len(me.memories("all")) == 1
    entries = me.get("/audit", action="review.approved").json()["total"]
    assert entries == 1
