"""Units of measurement through pint, and currencies and counted things by name."""

from __future__ import annotations

from functools import lru_cache

import pint

_REGISTRY: pint.UnitRegistry[float] = pint.UnitRegistry()
_CURRENCIES = {
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR",
    "$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "bucks": "USD",
    "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP", "quid": "GBP",
    "¥": "JPY", "jpy": "JPY", "yen": "JPY", "₹": "INR", "inr": "INR", "rupee": "INR",
    "rupees": "INR", "chf": "CHF", "franc": "CHF", "francs": "CHF",
}  # fmt: skip
_NOT_UNITS = frozenset("a i am an as at in is it us do go no or pm be me mil bar are d dog".split())
_ALIASES = {
    "percent": "percent", "%": "percent", "pct": "percent", "kilo": "kilogram",
    "kilos": "kilogram", "kgs": "kilogram", "lbs": "pound", "lb": "pound", "yrs": "year",
    "yr": "year", "hrs": "hour", "hr": "hour", "mins": "minute", "secs": "second",
    "l": "liter", "km": "kilometer", "kms": "kilometer", "mi": "mile", "°c": "degC",
    "°f": "degF", "gb": "gigabyte", "mb": "megabyte", "tb": "terabyte", "kb": "kilobyte",
    "mph": "mile/hour", "kph": "kilometer/hour", "stone": "stone", "inch": "inch", "ft": "foot",
    "cm": "centimeter", "mm": "millimeter", "m": "meter", "g": "gram", "kg": "kilogram",
    "ml": "milliliter", "mg": "milligram", "mcg": "microgram",
    "kwh": "kilowatt_hour", "km/h": "kilometer/hour", "month": "month",
    "week": "week",
    "fortnight": "fortnight", "decade": "decade",
}  # fmt: skip
_NAMED = frozenset(
    "meter metre kilometer kilometre centimeter centimetre millimeter millimetre mile yard foot "
    "inch liter litre milliliter millilitre gallon pint ounce gram gramme kilogram kilogramme "
    "pound ton tonne stone second minute hour day week fortnight month year decade degree watt "
    "kilowatt microgram milligram volt ampere hertz byte kilobyte megabyte gigabyte terabyte "
    "calorie kilocalorie joule acre hectare celsius fahrenheit knot".split()
)
_SPELLING = {"metre": "meter", "litre": "liter", "gramme": "gram"}


def currency(word: str) -> str | None:
    """Return the ISO 4217 code that a word or sign stands for."""
    return _CURRENCIES.get(word.lower())


@lru_cache(maxsize=1024)
def base_unit(word: str) -> tuple[str, str, float] | None:
    """Return (dimension, base unit, factor to it) of a unit's name or symbol, or None.

    Only names and symbols that people write out count as units: "a", "in" and "us" do not.
    Offsets (degrees Celsius to kelvin) are left alone: such units keep their own scale.
    """
    name = _unit_name(word)
    if name is None:
        return None
    if name in ("percent", "degC", "degF", "degree"):
        return (name, name, 1.0)
    quantity = _REGISTRY.Quantity(1.0, name).to_base_units()
    dimension = "information" if name.endswith("byte") else str(quantity.dimensionality)
    return (dimension, str(quantity.units), float(quantity.magnitude))


def _unit_name(word: str) -> str | None:
    lower = word.lower().rstrip(".")
    if lower in _NOT_UNITS:
        return None
    if lower in _ALIASES:
        return _ALIASES[lower]
    singular = lower[:-1] if lower.endswith("s") and lower != "s" else lower
    singular = "foot" if lower == "feet" else "inch" if lower == "inches" else singular
    if singular not in _NAMED:
        return None
    for british, american in _SPELLING.items():
        singular = singular.replace(british, american)
    return {"celsius": "degC", "fahrenheit": "degF"}.get(singular, singular)
