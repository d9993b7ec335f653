"""Calendar expressions through dateparser."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta
from functools import lru_cache

from dateparser.date import DateDataParser

from service.domain.values import Value, ValueKind

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first "
    "twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh "
    "twenty-eighth twenty-ninth thirtieth thirty-first"
).split()
_DAY = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?|{'|'.join(reversed(_ORDINALS))})"
_YEAR = r"(?:19|20)\d{2}"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNT = r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of)"
_PERIOD = r"(?:minute|hour|day|week|fortnight|month|year|decade)s?"
_PATTERNS = (
    rf"(?P<iso>{_YEAR}-\d{{2}}-\d{{2}})(?:T[\d:.]+Z?)?",
    rf"(?P<isomonth>{_YEAR}-\d{{2}})(?!-?\d)",
    rf"(?P<dmy>(?:the )?{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?)",
    rf"(?P<mdy>{_MONTH} (?:the )?{_DAY}(?!\d)(?:,? {_YEAR})?)",
    rf"(?P<my>{_MONTH},? {_YEAR})",
    r"(?P<slash>\d{1,2}/\d{1,2}/\d{2,4})",
    rf"(?P<ago>{_COUNT} {_PERIOD} (?:ago|from (?:now|today)))",
    rf"(?P<rel>(?:last|next|this|past|coming) (?:{_WEEKDAY}|week|month|year|{_MONTH}))",
    r"(?P<deictic>the day (?:before yesterday|after tomorrow)|yesterday|today|tonight|tomorrow)",
    r"(?P<part>this (?:morning|afternoon|evening)|last night)",
    rf"(?P<weekday>(?:every (?:other |second )?)?{_WEEKDAY}s?)",
    rf"(?P<month>(?<![\w])(?:in|since|until|till|by|from|for|of|during|last|every) {_MONTH})",
    rf"(?P<year>(?<![\w$€£.,-]){_YEAR}(?![\w%.,]*\d))",
)
_EXPRESSION = re.compile("|".join(_PATTERNS), re.IGNORECASE)
_LEAD = re.compile(r"^(?:in|since|until|till|by|from|for|of|during|every|the) ", re.IGNORECASE)
_EVERY = re.compile(r"^every (?:other |second )?", re.IGNORECASE)
_YEARLESS = datetime(2000, 1, 1)  # noqa: DTZ001 - a leap year to parse "29 February" against
_PARTS = {
    "iso": "ymd", "slash": "ymd", "isomonth": "ym", "my": "ym", "month": "m", "year": "y",
    "weekday": "w",
}  # fmt: skip
_ABSOLUTE = frozenset({"iso", "isomonth", "slash", "my", "year"})
_UNCERTAIN = frozenset({"may", "mar", "sun", "march"})


def find_dates(text: str, anchor: datetime | None) -> list[Value]:
    """Return the calendar expressions of a text; relative ones only resolve with an anchor."""
    return [v for m in _EXPRESSION.finditer(text) if (v := _value(m, anchor)) is not None]


def _value(match: re.Match[str], anchor: datetime | None) -> Value | None:
    kind = str(match.lastgroup)
    text = match.group(0)
    parts = _PARTS.get(kind) or _written_parts(kind, text)
    span = _resolve(kind, _LEAD.sub("", text).lower(), anchor)
    if span is None and (kind in _ABSOLUTE or kind in ("dmy", "mdy")):
        return None
    since, until = span or (None, None)
    return Value(
        kind=ValueKind.DATE,
        start=match.start(),
        end=match.end(),
        text=text,
        dimension=_recurrence(text),
        since=since,
        until=until,
        partial=parts if kind in _PARTS or kind in ("dmy", "mdy") or span is None else "ymd",
    )


def _recurrence(text: str) -> str:
    """Return how often an expression recurs: "every", "every other", or not at all."""
    match = re.match(r"every(?: other| second)?(?= )", text, re.IGNORECASE)
    return match.group(0).lower().replace("second", "other") if match else ""


def _written_parts(kind: str, text: str) -> str:
    if kind in ("dmy", "mdy"):
        return "ymd" if re.search(_YEAR, text) else "md"
    return ""


def _resolve(kind: str, text: str, anchor: datetime | None) -> tuple[date, date] | None:
    if kind == "weekday":
        text = _EVERY.sub("", text).removesuffix("s")
    if kind in ("weekday", "month", "dmy", "mdy") or kind in _ABSOLUTE:
        return _span(kind, _parse(text, anchor or _YEARLESS))
    if anchor is None:
        return None
    return _relative(kind, text, anchor)


def _relative(kind: str, text: str, anchor: datetime) -> tuple[date, date] | None:
    if kind == "part" or text in ("today", "tonight"):
        day = anchor.date() - timedelta(days=1 if text == "last night" else 0)
        return day, day
    if text in ("the day before yesterday", "the day after tomorrow"):
        day = anchor.date() + timedelta(days=-2 if "before" in text else 2)
        return day, day
    if kind == "ago":
        text = re.sub(r"(?:an?|one) fortnight", "2 weeks", text).replace("from today", "from now")
    if kind == "rel":
        whole = _whole_period(text, anchor.date())
        if whole is not None:
            return whole
        text = re.sub(r"^(?:past|this|coming) ", "", text)
    return _span(kind, _parse(text, anchor))


def _whole_period(text: str, day: date) -> tuple[date, date] | None:
    """Return the whole week, month or year that "last", "this" or "next" names."""
    which, unit = text.split(" ", 1)
    step = {"last": -1, "past": -1, "this": 0}.get(which, 1)
    if unit == "week":
        monday = day - timedelta(days=day.weekday()) + timedelta(weeks=step)
        return monday, monday + timedelta(days=6)
    if unit == "month":
        index = day.year * 12 + day.month - 1 + step
        return _month(index // 12, index % 12 + 1)
    if unit == "year":
        return date(day.year + step, 1, 1), date(day.year + step, 12, 31)
    return None


def _span(kind: str, found: tuple[date, str] | None) -> tuple[date, date] | None:
    if found is None:
        return None
    day, period = found
    if kind == "year" or period == "year":
        return date(day.year, 1, 1), date(day.year, 12, 31)
    if period == "month":
        return _month(day.year, day.month)
    return day, day


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _with_digits(text: str) -> str:
    """Return the text with ordinal words as numbers, which dateparser does not know."""
    for number, word in reversed(list(enumerate(_ORDINALS, start=1))):
        text = re.sub(rf"\b{word}\b", str(number), text)
    return text


def forget_dates() -> None:
    """Forget every date that was read."""
    _parse.cache_clear()


@lru_cache(maxsize=4096)
def _parse(text: str, anchor: datetime) -> tuple[date, str] | None:
    settings = {
        "RELATIVE_BASE": anchor.replace(tzinfo=None),
        "PREFER_DATES_FROM": "past",
        "RETURN_AS_TIMEZONE_AWARE": False,
        "PREFER_DAY_OF_MONTH": "first",
    }
    data = DateDataParser(languages=["en"], settings=settings).get_date_data(_with_digits(text))
    if data is None or data.date_obj is None:
        return None
    return data.date_obj.date(), data.period or "day"
