import pytest

FACTS = [
    ("Dana is head nurse at the Northwind clinic.", "dana", "occupation", "head nurse"),
    ("Dana places the clinic's supply orders.", "dana", "place", "supply orders"),
    ("Invoices go out in euros by default.", "invoice", "go_out_in", "euros"),
    ("Noor is assigned to the Harbor project.", "noor", "assignment", "Harbor project"),
    ("The user's dentist visit is on Wednesday.", "user", "dentist_visit_date", "Wednesday"),
    ("The user's bicycle is red.", "user", "bicycle", "red"),
    ("The launch is on 9 March.", "launch", "date", "9 March"),
    ("The discount ceiling is 25%.", "discount ceiling", "value", "25%"),
    ("The print server is in room 12.", "print server", "location", "room 12"),
    ("Locker 40 belongs to the night shift.", "locker 40", "belong_to", "night shift"),
    ("Lee's rent is 910 a month.", "lee", "rent", "910 a month"),
    ("Mina works at Harbor Bank.", "mina", "employer", "Harbor Bank"),
    ("On-call scheduling is done in PagerTool.", "on-call scheduling", "do_in", "PagerTool"),
    ("The on-call rota is run from a spreadsheet.", "on-call rota", "run_from", "spreadsheet"),
    ("The user prefers tea now.", "user", "prefers", "tea"),
    ("The user uses Arch Linux.", "user", "os", "Arch Linux"),
    ("I use Arch Linux.", "user", "os", "Arch Linux"),
    ("The user's brother uses Windows.", "user.brother", "os", "Windows"),
    ("The user is building a Next.js app.", "project", "framework", "Next.js"),
    ("The user's project deadline is October 15.", "project", "deadline", "October 15"),
    ("The user's default map app is Organic Maps.", "user", "default_map_app", "Organic Maps"),
    ("The user's manager is Bea, not Al.", "user", "manager", "Bea"),
    ("The user's desk is on floor 4.", "user", "desk", "floor 4"),
    ("The user moved back to Rome.", "user", "home", "Rome"),
    ("The user is vegan.", "user", "diet", "vegan"),
    ("Bea is the user's manager.", "user", "manager", "Bea"),
]


@pytest.mark.parametrize(("fact", "subject", "attribute", "value"), FACTS)
def test_a_fact_has_the_key_of_what_it_is_about(triples, fact, subject, attribute, value):
    [found] = triples(fact)
    assert found[:2] == (subject, attribute)
    assert value in found[2]
    assert found[3]


def test_coordinated_claims_and_values_are_triples_of_their_own(triples):
    found = triples("The user plays guitar and piano, and lives in Leeds.")
    assert [t[1:3] for t in found] == [("play", "guitar"), ("play", "piano"), ("home", "Leeds")]


@pytest.mark.parametrize(
    ("fact", "attribute"),
    [
        ("The user no longer uses Arch Linux.", "os"),
        ("The user does not eat pork.", "eat"),
        ("The user dislikes cilantro.", "likes"),
        ("The user can't stand musicals.", "likes"),
        ("The user used to live in Rome.", "home"),
    ],
)
def test_what_does_not_hold_is_negative(triples, fact, attribute):
    [found] = triples(fact)
    assert found[1] == attribute
    assert found[3] is False


def test_the_speakers_name_is_the_user(triples):
    assert triples("Alice lives in Oslo.", name="Alice") == [("user", "home", "Oslo", True)]
