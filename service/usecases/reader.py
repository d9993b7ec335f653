"""Reading sources and facts with the parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.check import CheckInput
from service.domain.clause_analysis import analyse_clauses
from service.domain.clauses import Clause
from service.domain.facts import NormalFact, normalise_fact, settled_fact
from service.domain.first_person import to_first_person
from service.domain.holders import Holder, HolderKind
from service.domain.reading import Claim, SourcePart, split_claims, with_names
from service.domain.subjects import Perspective
from service.domain.syntax import ParsedText
from service.domain.verdicts import Speaker
from service.ports.language import LanguageAnalyser


@dataclass(frozen=True)
class Reading:
    """One input, read."""

    asked: CheckInput
    parts: tuple[SourcePart, ...]
    fact: NormalFact
    claims: tuple[Claim, ...]
    language: str


@dataclass(frozen=True, slots=True)
class _Turn:
    speaker: Speaker
    offset: int
    text: str
    anchor: datetime | None


class Reader:
    """Turns inputs into readings, one parser batch for all of them."""

    def __init__(self, language: LanguageAnalyser) -> None:
        self._language = language

    def read(self, inputs: Sequence[CheckInput]) -> list[Reading]:
        """Return one reading per input, in order."""
        turns = [_turns(i) for i in inputs]
        settled = [settled_fact(i.fact, i.speaker_name) for i in inputs]
        texts = [t.text for ts in turns for t in ts]
        facts = [i.fact if s is None else s.parseable for i, s in zip(inputs, settled, strict=True)]
        parsed = self._language.parse([*texts, *facts])
        normal = [
            s or normalise_fact(p, i.speaker_name)
            for s, p, i in zip(settled, parsed[len(texts) :], inputs, strict=True)
        ]
        parseable = self._language.parse([n.parseable for n in normal])
        found: list[Reading] = []
        seen: dict[tuple[_Turn, str | None], SourcePart] = {}
        position = 0
        for index, asked in enumerate(inputs):
            mine = parsed[position : position + len(turns[index])]
            position += len(mine)
            parts = [
                self._part_once(t, p, asked, seen) for t, p in zip(turns[index], mine, strict=True)
            ]
            found.append(
                Reading(
                    asked,
                    tuple(parts),
                    normal[index],
                    self._claims(normal[index], parseable[index], asked),
                    self._foreign([p.language for p in mine], asked.fact),
                )
            )
        return found

    def _foreign(self, spoken: Sequence[str], fact: str) -> str:
        """Return the first language that cannot be parsed, of the turns and then of the fact."""
        languages = [*spoken, self._language.language_of(fact)]
        return next((x for x in languages if x not in self._language.languages), "en")

    def _part_once(
        self,
        turn: _Turn,
        parsed: ParsedText,
        asked: CheckInput,
        seen: dict[tuple[_Turn, str | None], SourcePart],
    ) -> SourcePart:
        """Return a turn's analysis; many facts about one source share it."""
        key = (turn, asked.speaker_name)
        if key not in seen:
            seen[key] = self._part(turn, parsed, asked)
        return seen[key]

    def _part(self, turn: _Turn, parsed: ParsedText, asked: CheckInput) -> SourcePart:
        names = frozenset(asked.speaker_name.lower().split()) if asked.speaker_name else frozenset()
        perspective = Perspective(names if turn.speaker is Speaker.USER else frozenset())
        return SourcePart(
            turn.speaker,
            turn.offset,
            parsed,
            analyse_clauses(parsed, perspective),
            self._language.values(parsed, turn.anchor),
        )

    def _claims(
        self, fact: NormalFact, parseable: ParsedText, asked: CheckInput
    ) -> tuple[Claim, ...]:
        clauses = analyse_clauses(parseable, Perspective(frozenset({fact.name})))
        named = [_about_whom(_renamed(c, fact), parseable, fact) for c in clauses]
        split = split_claims(parseable, named, fact)
        again = [text for text, _ in split if text != parseable.text]
        reparsed = dict(zip(again, self._language.parse(again), strict=True)) if again else {}
        parsed = [reparsed.get(text, parseable) for text, _ in split]
        anchor = asked.observed_at or _last_time(asked)
        return tuple(
            Claim(
                text=with_names(text, fact),
                clause=clause,
                values=self._language.values(p, anchor),
                parsed=p,
                first_person=to_first_person(p, fact.name),
            )
            for (text, clause), p in zip(split, parsed, strict=True)
        )


def _renamed(clause: Clause, fact: NormalFact) -> Clause:
    """Return the clause with the fact's own name where a plain one stood for it."""
    holder = clause.holder
    if not fact.other_name:
        return clause
    if holder.noun == fact.other_name:
        holder = Holder(HolderKind.NAMED, fact.other.lower(), holder.aliases)
    if holder.owner == fact.other_name:
        holder = replace(holder, owner=fact.other.lower(), aliases=frozenset({fact.other.lower()}))
    content = frozenset(fact.other.lower() if w == fact.other_name else w for w in clause.content)
    return replace(clause, holder=holder, content=content)


def _about_whom(clause: Clause, parsed: ParsedText, fact: NormalFact) -> Clause:
    """Return the clause as being about a person whom it names, when the user is not in it.

    "Dancing has kept Gina going" and "a part of Caroline's life" are facts about Gina and Caroline,
    whatever their grammatical subject is.
    """
    if any(t.lower == fact.name for t in parsed.tokens):
        return clause
    people = [t for t in parsed.tokens if t.is_person_name]
    if not people or clause.holder.owner or clause.holder.kind is HolderKind.NAMED:
        return clause
    name = fact.other if people[0].lower == fact.other_name else people[0].text
    holder = clause.holder
    if holder.kind in (HolderKind.THING, HolderKind.OTHER_PERSON):
        return replace(clause, holder=replace(holder, owner=name.lower()))
    return replace(clause, holder=Holder(HolderKind.NAMED, name.lower()))


def _turns(asked: CheckInput) -> list[_Turn]:
    if not asked.messages:
        return [_Turn(asked.speaker, 0, asked.source, asked.observed_at)]
    found: list[_Turn] = []
    offset = 0
    for message in asked.messages:
        anchor = message.timestamp or asked.observed_at
        found.append(_Turn(message.role, offset, message.content, anchor))
        offset += len(message.content) + 1
    return found


def _last_time(asked: CheckInput) -> datetime | None:
    times = [m.timestamp for m in asked.messages if m.timestamp]
    return times[-1] if times else None
