import pytest

from service.domain.memory import MemoryType

CANONICAL = [
    ("I use Arch Linux.", "The user uses Arch Linux."),
    ("I'm building a Next.js app.", "The user is building a Next.js app."),
    ("My project deadline is October 15.", "The user's project deadline is October 15."),
    ("Actually, the deadline moved to November 2.", "The user's deadline is November 2."),
    ("My brother uses Windows.", "The user's brother uses Windows."),
    ("My default map app is Organic Maps.", "The user's default map app is Organic Maps."),
    ("Jonas here.", "The user's name is Jonas."),
    ("Vegan since 2019.", "The user has been vegan since 2019."),
    ("Moved to Denver.", "The user moved to Denver."),
    ("Profession: welder", "The user's profession is welder."),
    ("Been learning Korean for two years.", "The user has been learning Korean for two years."),
    ("I no longer use Arch Linux.", "The user no longer uses Arch Linux."),
    ("I ran my first marathon.", "The user ran their first marathon."),
    ("I really like Ethiopian food.", "The user really likes Ethiopian food."),
    ("I hope to become a pilot one day.", "The user wants to become a pilot one day."),
    ("Always send invoices in euros.", "The user wants invoices to be sent in euros."),
    ("Please call me Lex.", "The user wants to be called Lex."),
    ("Our backend runs on Postgres 16.", "The user's backend runs on Postgres 16."),
]


@pytest.mark.parametrize(("message", "text"), CANONICAL)
def test_the_canonical_text_is_a_sentence_about_the_user(candidates, message, text):
    assert [c.text for c in candidates(message)] == [text]


def test_several_facts_in_one_message(candidates):
    found = candidates("I play guitar and piano, and I live in Leeds.")
    assert [c.text for c in found] == [
        "The user plays guitar.",
        "The user plays piano.",
        "The user lives in Leeds.",
    ]


def test_offsets_give_the_supporting_clause(candidates):
    message = "Thanks! My sister lives in Oslo and I live in Bergen."
    spans = [message[c.start : c.end] for c in candidates(message)]
    assert spans == ["My sister lives in Oslo", "I live in Bergen."]


def test_a_no_that_only_opens_the_answer_negates_nothing(candidates):
    [found] = candidates("No, I live in Leeds.")
    assert found.triple.polarity


def test_a_name_with_its_role(candidates):
    found = candidates("I'm Sarah, a product designer from Toronto.")
    assert {(c.triple.attribute, c.text) for c in found} == {
        ("name", "The user's name is Sarah."),
        ("occupation", "The user is a product designer from Toronto."),
    }


def test_a_third_party_stays_one(candidates):
    found = candidates("My friend Theo can't stand swimming; I go every morning before work.")
    assert [c.triple.subject for c in found] == ["user.friend", "user"]
    assert found[0].triple.polarity is False
    assert found[1].text == "The user goes swimming every morning before work."


def test_a_pronoun_means_whom_was_spoken_of(candidates):
    found = candidates("My sister is a nurse. She lives in Oslo and has two kids.")
    assert {c.triple.subject for c in found} == {"user.sister"}
    assert found[1].text == "The user's sister lives in Oslo."


def test_a_pronoun_without_anybody_before_has_no_fact(candidates, reasons):
    assert candidates("She lives in Oslo.") == []
    assert reasons("She lives in Oslo.") == ["no_fact"]


@pytest.mark.parametrize(
    ("message", "attribute", "value"),
    [
        ("I no longer use Arch Linux.", "os", "Arch Linux"),
        ("I don't drink coffee anymore.", "drink", "coffee"),
        ("I'm not working at Siemens any more.", "employer", "Siemens"),
        ("I quit smoking in January.", "smoke", "smoking"),
        ("I stopped eating meat.", "eat", "meat"),
        ("I used to live in Rome.", "home", "Rome"),
        ("I sold my bike.", "has", "bike"),
    ],
)
def test_retraction(candidates, message, attribute, value):
    [found] = candidates(message)
    assert found.retracts
    assert found.triple.polarity is False
    assert (found.triple.attribute, found.triple.value) == (attribute, value)


@pytest.mark.parametrize("message", ["I don't have a car.", "I finished the marathon."])
def test_not_everything_negative_or_over_is_a_retraction(candidates, message):
    assert [c.retracts for c in candidates(message)] == [False]


@pytest.mark.parametrize(
    ("message", "value", "replaced"),
    [
        ("My manager is Bea now, not Al.", "Bea", "Al"),
        ("Actually, I live in Ghent, not Bruges.", "Ghent", "Bruges"),
        ("I moved from Paris to Rome.", "Rome", "Paris"),
        ("Actually, the deadline moved to November 2.", "November 2", None),
        ("My desk is now on floor 4.", "floor 4", None),
    ],
)
def test_correction(candidates, message, value, replaced):
    [found] = candidates(message)
    assert found.correction
    assert found.triple.polarity
    assert (found.triple.value, found.replaced_value) == (value, replaced)


def test_a_correction_is_about_the_deadline_that_was_spoken_of(candidates):
    found = candidates(
        "The deadline for the grant proposal is March 3.", "Actually, the deadline moved to May 2."
    )
    assert [c.triple.subject for c in found] == ["grant proposal", "grant proposal"]


def test_standing_instructions_are_preferences(candidates):
    [found] = candidates("From now on use the blue template, not the grey one.")
    assert found.type is MemoryType.PREFERENCE
    assert found.text == "The user prefers the blue template to the grey one."
    assert found.triple.value == "blue template"


@pytest.mark.parametrize(
    ("message", "kind", "low", "high"),
    [
        ("I use Arch Linux.", MemoryType.FACT, 0.5, 0.6),
        ("I really like Ethiopian food.", MemoryType.PREFERENCE, 0.6, 0.7),
        ("My project deadline is October 15.", MemoryType.PROJECT_DETAIL, 0.8, 0.9),
        ("I visited Kyoto in 2018.", MemoryType.EVENT, 0.5, 0.6),
        ("I want to learn to sail.", MemoryType.GOAL, 0.6, 0.7),
        ("I'm allergic to cashews.", MemoryType.FACT, 0.8, 0.9),
    ],
)
def test_type_and_importance(candidates, message, kind, low, high):
    [found] = candidates(message)
    assert found.type is kind
    assert low <= found.importance <= high


def test_the_speakers_own_name(candidates):
    [found] = candidates("Alice is a nurse.", name="Alice")
    assert found.triple.subject == "user"
