"""Pairs of words that cannot both hold of the same thing at the same time."""

from __future__ import annotations

_PAIRS = """
enable disable;enabled disabled;on off;open close;open closed;open shut;allow forbid;allow ban;
allowed forbidden;permit prohibit;accept reject;accept refuse;accept decline;approve reject;
include exclude;start stop;begin end;start end;activate deactivate;active inactive;alive dead;
live dead;present absent;true false;right wrong;correct incorrect;correct wrong;same different;
like dislike;like hate;love hate;love dislike;enjoy hate;enjoy dislike;enjoy detest;love detest;
adore hate;prefer dislike;married single;married divorced;married unmarried;employed unemployed;
rich poor;full empty;hot cold;warm cold;big small;large small;tall short;long short;high low;
fast slow;quick slow;early late;early on-time;old young;old new;light dark;light heavy;strong weak;
hard soft;hard easy;difficult easy;cheap expensive;public private;permanent temporary;
safe dangerous;happy sad;happy unhappy;happy disappointed;healthy sick;healthy ill;clean dirty;
dry wet;loud quiet;busy free;paid free;paid unpaid;online offline;win lose;pass fail;
succeed fail;increase decrease;
rise fall;raise lower;gain lose;buy sell;borrow lend;arrive leave;arrive depart;enter exit;
remember forget;keep discard;keep sell;male female;man woman;boy girl;introvert extrovert;
introverted extroverted;vegetarian carnivore;vegan carnivore;morning evening;day night;
left right;north south;east west;always never;everyone nobody;everything nothing;all none;
possible impossible;legal illegal;visible invisible;complete incomplete;finished unfinished;
optional mandatory;optional required;inside outside;indoors outdoors;above below;before after;
more less;most least;maximum minimum;add remove;attach detach;connect disconnect;install uninstall;
lock unlock;subscribe unsubscribe;opt-in opt-out;agree disagree;trust distrust
"""


def _pairs() -> frozenset[frozenset[str]]:
    entries = (entry.split() for entry in _PAIRS.replace("\n", "").split(";"))
    return frozenset(frozenset(words) for words in entries if len(words) == 2)  # noqa: PLR2004


_OPPOSITES = _pairs()
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "non-", "de")


def opposite(first: str, second: str) -> bool:
    """Return whether two lemmas are opposites, by the list or by a negating prefix."""
    if first == second:
        return False
    if frozenset((first, second)) in _OPPOSITES:
        return True
    return _prefixed(first, second) or _prefixed(second, first)


def _prefixed(first: str, second: str) -> bool:
    return len(second) > 3 and any(first == p + second for p in _PREFIXES)  # noqa: PLR2004
