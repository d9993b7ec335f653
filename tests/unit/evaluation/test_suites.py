import json

import pytest

from service.domain.check import Evidence
from service.domain.entailment import EntailmentScores
from service.domain.verdicts import Verdict
from service.evaluation.cases import case_files
from service.evaluation.data import MissingDataError, read_json, read_lines
from service.evaluation.decode import decode, utterances
from service.evaluation.items import NOT_STORE, STORE_ONLY, Item, asked
from service.evaluation.locomo import locomo, locomo_items, swap
from service.evaluation.nli_sets import bare_model, nli_sets
from service.evaluation.wice import page, quotes, wice
from service.evaluation.wrong_answers import replace_answer, wrong_answer_items

from .conftest import outcome


def case(key, fact, wanted, **more):
    request = {"source": "I keep bees.", "fact": fact, "speaker": "user", "record": False}
    expect = {"verdict_in": wanted}
    return {"id": key, "kind": "direct", "request": request, "expect": expect} | more


def test_case_files_are_scored_and_failures_listed(bench):
    rows = [
        case("right", "The user keeps bees", ["STORE"], half="untouched"),
        case("false-store", "The user sells bees", ["REVIEW", "REJECT"]),
        case("elsewhere", "The user keeps bees", ["STORE"], endpoint="adjudicate"),
    ]
    (bench.cases / "some.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    found = case_files(bench)
    assert list(found.summary) == ["cases: all", "cases: some", "cases: some, untouched half"]
    assert found.summary["cases: all"].n == 2
    assert found.summary["cases: all"].false_stores == 1
    kinds, failing, stored = found.tables
    assert kinds.rows[0][0] == "some: direct"
    assert failing.rows == [("false-store", "some: direct", "STORE supported", "REJECT or REVIEW")]
    assert stored.rows[0][0] == "false-store"


def test_messages_in_a_case_are_its_source(bench):
    row = case("talk", "The user keeps bees", ["STORE"])
    messages = [
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "I keep bees", "timestamp": "2025-01-01T00:00:00Z"},
    ]
    row["request"] = {"fact": "The user keeps bees", "messages": messages}
    (bench.cases / "some.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert case_files(bench).summary["cases: all"].must_stored == 1


@pytest.mark.parametrize("suite", [case_files, locomo, wice, decode, wrong_answer_items])
def test_a_suite_says_what_is_missing(bench, suite):
    with pytest.raises(MissingDataError, match="json"):
        suite(bench)


def test_missing_data_is_named(tmp_path, put):
    with pytest.raises(MissingDataError, match="no data folder"):
        read_json(None, "eval/a.json.gz")
    with pytest.raises(MissingDataError, match="no folder data"):
        read_lines(tmp_path / "data", "nli/a.jsonl.gz")
    put("nli/b.jsonl.gz", [{"a": 1}])
    with pytest.raises(MissingDataError, match=r"nli/a\.jsonl\.gz"):
        read_lines(tmp_path / "data", "nli/a.jsonl.gz")


def test_inference_sets_that_are_there_are_scored_and_the_others_named(bench, put):
    rows = [
        {"premise": "Bees fly.", "hypothesis": "They fly", "label": "entailment"},
        {"premise": "Bees fly.", "hypothesis": "Cows fly", "label": "not_entailment"},
        {"premise": " ", "hypothesis": "Nothing", "label": "entailment"},
    ]
    put("nli/hans.jsonl.gz", rows)
    found = nli_sets(bench)
    assert list(found.summary) == ["NLI: hans"]
    assert "Skipped, because it is missing: nli/snli_test.jsonl.gz." in found.notes
    assert len(found.notes) == 9
    assert found.tables[0].rows[0][:9] == (
        *("hans", "2", "100.0%", "0.0%", "100.0%", "0.0%"),
        *("100.0%", "100.0%", "50.0%"),
    )


def test_either_other_class_is_right_for_not_entailment():
    items = [Item("a", asked("s", "f"), NOT_STORE, "not_entailment")] * 2
    scores = [EntailmentScores(0.1, 0.8, 0.1), EntailmentScores(0.1, 0.1, 0.8)]
    assert bare_model(items, scores).right == 2


def test_observations_meet_their_own_turn_another_and_the_wrong_name(bench, put, talk):
    put("eval/locomo10.json.gz", talk)
    items = locomo_items(bench)
    found = [(i.kind, i.asked.source, i.asked.fact) for i in items]
    assert found == [
        ("own turn", "I keep bees.", "Ann keeps bees."),
        ("swapped speaker", "I keep bees.", "Bob keeps bees."),
        ("other turn", "Lovely weather.", "Ann keeps bees."),
        ("own turn", "I keep bees.", "Ann met Bob."),
        ("other turn", "Lovely weather.", "Ann met Bob."),
        ("own turn", "I fix bikes.", "Bob fixes bikes."),
        ("swapped speaker", "I fix bikes.", "Ann fixes bikes."),
    ]
    assert items[0].asked.speaker_name == "Ann"
    assert items[0].asked.observed_at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert locomo(bench).summary["LoCoMo: swapped speaker"].false_stores == 2


def test_a_swap_needs_the_name_and_only_that_one():
    assert swap("Annie is well.", "Ann", "Bob") is None
    assert swap("Ann met Bob.", "Ann", "Bob") is None
    assert swap("Ann's bees like Ann.", "Ann", "Bob") == "Bob's bees like Bob."


def test_wrong_answers_take_the_place_of_right_ones(bench, put, talk):
    answer = {"question": "What does Ann keep?", "golden_answer": "bees"}
    rows = [
        answer | {"question_id": "locomo_0_qa0", "generated_answer": "cats"},
        answer | {"question_id": "locomo_0_qa1", "generated_answer": "dogs"},
        answer | {"question_id": "locomo_0_qa2", "generated_answer": "hens"},
    ]
    put("eval/locomo10.json.gz", talk)
    put("eval/locomo_errors.json.gz", [{"question_id": "locomo_0_qa1"}])
    put("eval/locomo_wrong_answers_v1.json.gz", {"detailed_results": {"user_0": rows}})
    found = [(i.asked.fact, i.allowed) for i in wrong_answer_items(bench)]
    assert found == [
        ("Ann keeps bees.", STORE_ONLY),
        ("Ann keeps cats.", NOT_STORE),
        ("Ann keeps hens.", NOT_STORE),
    ]


def test_an_answer_is_only_replaced_as_whole_words():
    assert replace_answer("She has beehives.", "bee", "cow") is None
    assert replace_answer("She has Bees.", "bees", "cows") == "She has cows."
    assert replace_answer("She has bees.", "Bees", "bees") is None


def test_pages_are_cut_between_sentences():
    assert page(["one\ntwo", "three"]) == "one two\nthree"
    assert page(["a" * 20_000, "b" * 20_000]) == "a" * 20_000


def test_evidence_counts_when_it_begins_in_a_supporting_sentence():
    row = {"supporting_sentences": [[1], [1, 2]]}
    assert quotes(row, "a\nb\nc", 2)
    assert not quotes(row, "a\nb\nc", 0)
    assert not quotes(row, "a\nb\nc", None)


def test_claims_are_scored_with_their_evidence(bench, put):
    row = {"claim": "It has bees", "evidence": ["Title", "We keep bees"]}
    rows = [
        row | {"label": "supported", "supporting_sentences": [[1]]},
        row | {"label": "not_supported", "supporting_sentences": [[]]},
    ]
    put("eval/wice_claim_dev.jsonl.gz", rows)
    quote = Evidence("We keep bees", 6, 18, "We keep bees")
    found = wice(replace_judge(bench, quote))
    assert found.tables[1].rows == [("1 of 1 (100.0%)",)]
    assert found.summary["WiCE: not_supported"].false_stores == 1


def replace_judge(bench, evidence):
    def store(asked):
        return [outcome(Verdict.STORE, evidence) for _ in asked]

    return type(bench)(store, bench.classify, bench.data, bench.cases)


def dialogue(key, contradiction, last):
    texts = [(0, "Hi!"), (1, "I keep bees."), (0, "Oh?"), (1, last)]
    turns = [{"agent_id": agent, "text": text} for agent, text in texts]
    return {"record_id": key, "turns": turns, "is_contradiction": contradiction}


def test_utterances_meet_their_speakers_earlier_ones(bench, put):
    rows = [dialogue("a", True, "I do not keep any."), dialogue("b", False, "I love bees")]
    put("eval/decode_human_bot.jsonl.gz", rows)
    found = decode(bench)
    assert found.tables[1].rows == [
        ("contradicting", "0.0%", "100.0%", "0.0%"),
        ("control", "100.0%", "0.0%", "0.0%"),
    ]
    assert utterances(rows[0]).asked.source == "I keep bees."


def test_a_first_utterance_has_nothing_to_contradict():
    row = dialogue("a", False, "I love bees")
    assert utterances(row | {"turns": row["turns"][:2]}) is None
