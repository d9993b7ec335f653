"""Clauses: holder, speech act, polarity and tense, over the real parser."""

from __future__ import annotations

import pytest

from service.domain.clauses import SpeechAct, Tense
from service.domain.holders import HolderKind
from tests.unit.domain.conftest import Read

K = HolderKind


@pytest.mark.parametrize(
    ("text", "kind", "noun"),
    [
        ("I am a lawyer.", K.SPEAKER, ""),
        ("My brother is a lawyer.", K.RELATED, "brother"),
        ("My older brother is a lawyer.", K.RELATED, "brother"),
        ("My mother-in-law is diabetic.", K.RELATED, "mother"),
        ("The guy next door has a cat.", K.OTHER_PERSON, "guy"),
        ("My flight was delayed.", K.POSSESSION, "flight"),
        ("The party starts at 8.", K.THING, "party"),
        ("She works as a nurse.", K.PRONOUN, "she"),
        ("Tom plays chess every Sunday.", K.NAMED, "tom"),
        ("My sister and I grew up in Lagos.", K.SPEAKER, ""),
        ("One of my colleagues speaks Finnish.", K.RELATED, "colleague"),
    ],
)
def test_whom_a_clause_is_about(read: Read, text: str, kind: HolderKind, noun: str) -> None:
    holder = read(text)[0].holder

    assert holder.kind is kind
    assert holder.noun == noun or kind is K.SPEAKER


def test_a_pronoun_takes_the_person_named_before(read: Read) -> None:
    clauses = read("So my roommate Jake is obsessed with crypto. He put his savings into it.")

    assert clauses[1].holder.noun == "roommate"
    assert "jake" in clauses[1].holder.aliases


def test_a_fragment_goes_on_about_the_person_named_before(read: Read) -> None:
    assert read("I called my brother. Works as a lawyer.")[1].holder.noun == "brother"


@pytest.mark.parametrize(
    "text", ["Moved to Denver.", "Vegan since 2019.", "Just handed in my notice."]
)
def test_a_fragment_at_the_start_is_the_speakers(read: Read, text: str) -> None:
    assert read(text)[0].holder.kind is K.SPEAKER


def test_each_clause_of_a_sentence_has_its_own_holder(read: Read) -> None:
    holders = [c.holder.kind for c in read("I'm married; my husband cooks and I teach maths.")]

    assert holders == [K.SPEAKER, K.RELATED, K.SPEAKER]


def test_a_vocative_is_nobodys_subject(read: Read) -> None:
    holders = [c.holder for c in read("Hey John! Haven't talked in a while, I joined a club.")]

    assert all(h.noun != "john" for h in holders)


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("I live in Leeds.", SpeechAct.ASSERTION),
        ("Should I get a dog?", SpeechAct.QUESTION),
        ("If I ever win the lottery, I'll buy a boat.", SpeechAct.HYPOTHETICAL),
        ("Maybe I'll become a nurse.", SpeechAct.HYPOTHETICAL),
        ("Let's roleplay. I'm a pirate captain.", SpeechAct.HYPOTHETICAL),
        ("I'm planning to study law next year.", SpeechAct.PLAN),
        ("I'd love to learn Italian one day.", SpeechAct.PLAN),
        ("Please book a table for two.", SpeechAct.IMPERATIVE),
    ],
)
def test_what_a_clause_commits_to(read: Read, text: str, act: SpeechAct) -> None:
    assert read(text)[-1].act is act


def test_a_statement_beside_a_question_stays_a_statement(read: Read) -> None:
    acts = {c.lemma: c.act for c in read("I live in Leeds, do you know a good dentist here?")}

    assert acts["live"] is SpeechAct.ASSERTION
    assert acts["know"] is SpeechAct.QUESTION


def test_first_person_inside_quotation_marks_is_quoted(read: Read) -> None:
    clauses = read('A reader wrote to me: "I have been vegan for ten years and I live in Oslo."')

    assert [c.act for c in clauses if c.lemma in ("be", "live")] == [SpeechAct.QUOTATION] * 2


def test_reported_speech_names_its_source(read: Read) -> None:
    reported = next(c for c in read("She said the meeting moved.") if c.lemma == "move")

    assert reported.act is SpeechAct.REPORTED
    assert reported.attributed_to is not None
    assert reported.attributed_to.noun == "she"


def test_a_habit_under_a_condition_is_a_statement(read: Read) -> None:
    assert read("The commute takes an hour if traffic is fine.")[0].act is SpeechAct.ASSERTION


@pytest.mark.parametrize(
    ("text", "negative"),
    [
        ("I don't own a car.", True),
        ("I never learned to drive.", True),
        ("Nobody told me.", True),
        ("I own a car.", False),
        ("I not only sing but dance.", False),
    ],
)
def test_polarity(read: Read, text: str, negative: bool) -> None:
    assert read(text)[0].negative is negative


def test_two_negations_cancel(read: Read) -> None:
    inner = next(c for c in read("It's not that I don't like spicy food.") if c.lemma == "like")

    assert not inner.negative


@pytest.mark.parametrize(
    ("text", "tense", "ended"),
    [
        ("I used to work in a bakery.", Tense.PAST_HABIT, True),
        ("I no longer use Arch Linux.", Tense.PRESENT, True),
        ("I worked in a bakery.", Tense.PAST, False),
        ("I've worked in a bakery.", Tense.PERFECT, False),
        ("I work in a bakery.", Tense.PRESENT, False),
        ("I will work in a bakery.", Tense.FUTURE, False),
        ("I'm going to work in a bakery.", Tense.FUTURE, False),
        ("I stopped eating meat.", Tense.PAST, True),
    ],
)
def test_tense_and_ending(read: Read, text: str, tense: Tense, ended: bool) -> None:
    clause = read(text)[0]

    assert (clause.tense, clause.ended) == (tense, ended)


def test_offsets_are_code_points(read: Read) -> None:
    text = "🐾🐾 I have a dog. 我住在北京。"
    for clause in read(text):
        assert text[clause.start : clause.end] == text[clause.start : clause.end].strip()
        assert 0 <= clause.start < clause.end <= len(text)
