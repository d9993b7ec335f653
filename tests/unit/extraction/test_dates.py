from datetime import UTC, date, datetime

import pytest

MARCH = datetime(2024, 3, 15, 10, tzinfo=UTC)


def day(moment):
    return moment.date() if moment else None


def test_relative_dates_count_from_the_message(candidates):
    [found] = candidates("Last week I moved into the flat on Mill Road.", at=MARCH)
    assert date(2024, 3, 4) <= day(found.valid_from) <= date(2024, 3, 15)
    assert found.text == "The user moved into the flat on Mill Road."


def test_a_canonical_text_names_the_day(candidates):
    [found] = candidates("Yesterday I started at Novo Nordisk.", at=MARCH)
    assert found.text == "The user started at Novo Nordisk on 14 March 2024."
    assert day(found.valid_from) == date(2024, 3, 14)


@pytest.mark.parametrize(
    ("message", "since", "until"),
    [
        ("I've lived in Ghent since 2016.", date(2016, 1, 1), None),
        ("I quit smoking in January.", None, date(2024, 1, 31)),
        ("My project deadline is October 15.", None, None),
        ("I want to visit Oslo in May.", None, None),
        ("I live in Leeds.", None, None),
    ],
)
def test_validity(candidates, message, since, until):
    [found] = candidates(message, at=MARCH)
    assert (day(found.valid_from), day(found.valid_to)) == (since, until)


def test_a_date_ahead_is_the_next_one(candidates):
    [found] = candidates("I'm flying to Lisbon on the 9th of May.", at=MARCH)
    assert day(found.valid_from) == date(2024, 5, 9)
    [past] = candidates("I broke my wrist on the 9th of May.", at=MARCH)
    assert day(past.valid_from) == date(2023, 5, 9)


def test_a_relative_value_becomes_a_date(candidates):
    [found] = candidates("My interview is tomorrow.", at=MARCH)
    assert found.triple.value == "16 March 2024"
