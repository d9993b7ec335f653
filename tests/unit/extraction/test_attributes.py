import pytest

from service.domain.attributes import attribute_name, built_in, is_functional


@pytest.mark.parametrize(
    "attribute",
    "home employer deadline os name age birthday manager rent favourite_colour default_map_app "
    "marital_status desk dentist_visit_date framework".split(),
)
def test_one_value_at_a_time(attribute):
    assert is_functional(attribute, {})


@pytest.mark.parametrize("attribute", "likes has languages uses allergy visited place_in".split())
def test_several_values_and_the_unknown_coexist(attribute):
    assert not is_functional(attribute, {})


def test_a_declaration_comes_first():
    assert is_functional("likes", {"likes": True})
    assert not is_functional("home", {"home": False})


def test_names_are_snake_case_in_one_spelling():
    assert attribute_name("Favorite color") == "favourite_colour"
    assert attribute_name("new address") == "address"
    assert "home" in built_in()
