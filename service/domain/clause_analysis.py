"""From a parse to clauses."""

from __future__ import annotations

from dataclasses import replace

from service.domain.clauses import Clause, SpeechAct, Tense
from service.domain.holders import SPEAKER_HOLDER, UNKNOWN_HOLDER, Holder, HolderKind
from service.domain.polarity import has_ended, is_negative, tense_of
from service.domain.predicates import (
    clause_heads,
    clause_tokens,
    complement_lemma,
    main_predicate,
)
from service.domain.speech import Frame, frame_of, reporting_head, speech_act
from service.domain.subjects import Perspective, holder_of, subject_token
from service.domain.syntax import ParsedText, Token

_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV"})
_EMPTY = frozenset(
    [
        "be",
        "have",
        "do",
        "get",
        "make",
        "go",
        "user",
        "just",
        "really",
        "very",
        "so",
        "too",
        "also",
        "now",
        "then",
        "there",
        "here",
        "thing",
        "way",
        "lot",
        "more",
        "most",
        "other",
        "such",
        "own",
        "same",
        "well",
        "even",
        "still",
        "already",
        "much",
    ]
)
_OBJECTS = frozenset({"dobj", "iobj", "dative", "pobj", "nsubjpass"})


def analyse_clauses(parsed: ParsedText, perspective: Perspective) -> tuple[Clause, ...]:
    """Return the clauses of a text, in order, with holders resolved across sentences."""
    heads = clause_heads(parsed)
    owned = clause_tokens(parsed, heads)
    frame = frame_of(parsed.text)
    clauses = [_clause(parsed, h, owned[h.index], frame, perspective) for h in heads]
    return tuple(_resolve(clauses, parsed, perspective))


def content_lemmas(tokens: tuple[Token, ...], perspective: Perspective) -> frozenset[str]:
    """Return the lemmas of content words, without light verbs and words for the speaker."""
    return frozenset(
        t.lemma
        for t in tokens
        if t.pos in _CONTENT
        and t.lemma not in _EMPTY
        and not perspective.is_speaker(t)
        and any(c.isalnum() for c in t.text)
    )


def _clause(
    parsed: ParsedText,
    head: Token,
    tokens: tuple[Token, ...],
    frame: Frame,
    perspective: Perspective,
) -> Clause:
    main = main_predicate(parsed, head)
    words = [t for t in tokens if not t.text.isspace()] or [head]
    act = speech_act(parsed, head, tokens, frame)
    return Clause(
        sentence=parsed.sentence_of(head),
        start=words[0].start,
        end=words[-1].end,
        predicate=head.index,
        lemma=main.lemma,
        complement=complement_lemma(parsed, main),
        holder=_holder(parsed, head, perspective),
        speaker_affected=any(_is_affected_speaker(t, perspective) for t in tokens),
        act=act,
        attributed_to=_source_of(parsed, head, act, perspective),
        negative=is_negative(parsed, head, tokens),
        ended=has_ended(parsed, head, tokens),
        tense=tense_of(parsed, head),
        content=content_lemmas(tokens, perspective),
        owned_by_others=_owned_by_others(parsed, tokens, perspective),
        tokens=tuple(t.index for t in tokens),
    )


def _is_affected_speaker(token: Token, perspective: Perspective) -> bool:
    possessive = token.lower in ("mine", "ours", "my", "our")
    return token.dep in _OBJECTS and perspective.is_speaker(token) and not possessive


def _owned_by_others(
    parsed: ParsedText, tokens: tuple[Token, ...], perspective: Perspective
) -> frozenset[str]:
    owners = [t for t in tokens if t.dep == "poss"]
    return frozenset(
        parsed.head_of(t).lemma
        for t in owners
        if not perspective.is_speaker(t) and t.lower not in ("your", "whose", "its")
    )


def _holder(parsed: ParsedText, head: Token, perspective: Perspective) -> Holder:
    subject = subject_token(parsed, head)
    if subject is not None:
        return holder_of(parsed, subject, perspective)
    if not head.is_verbal and head.dep == "ROOT":
        return _fragment_holder(parsed, head, perspective)
    return UNKNOWN_HOLDER


def _fragment_holder(parsed: ParsedText, head: Token, perspective: Perspective) -> Holder:
    """Return whom a verbless fragment is about.

    "My profession: lawyer" is a possession's, "Locker 41: day shift" the locker's.
    """
    label = _label(parsed, head)
    if label is not None:
        return holder_of(parsed, label, perspective)
    holder = holder_of(parsed, head, perspective)
    keep = (HolderKind.POSSESSION, HolderKind.RELATED, HolderKind.SPEAKER)
    return holder if holder.kind in keep else UNKNOWN_HOLDER


def _label(parsed: ParsedText, head: Token) -> Token | None:
    """Return the last noun before a colon that opens a fragment, or None."""
    sentence = parsed.sentence_tokens(parsed.sentence_of(head))
    colon = next((t for t in sentence if t.text == ":"), None)
    if colon is None or any(t.is_verbal for t in sentence if t.index < colon.index):
        return None
    nouns = [t for t in sentence if t.index < colon.index and t.pos in ("NOUN", "PROPN")]
    return nouns[-1] if nouns else None


def _source_of(
    parsed: ParsedText, head: Token, act: SpeechAct, perspective: Perspective
) -> Holder | None:
    if act is not SpeechAct.REPORTED:
        return None
    verb = reporting_head(parsed, head)
    return None if verb is None else holder_of(parsed, subject_token(parsed, verb), perspective)


def _resolve(clauses: list[Clause], parsed: ParsedText, perspective: Perspective) -> list[Clause]:
    """Give pronouns and missing subjects the nearest earlier third party, where there is one."""
    found: list[Clause] = []
    topic: Holder | None = None
    for clause in clauses:
        resolved = _antecedent(clause, topic, parsed)
        found.append(resolved)
        topic = _topic(resolved, topic, parsed, perspective)
    return found


def _antecedent(clause: Clause, topic: Holder | None, parsed: ParsedText) -> Clause:
    if clause.holder.kind is HolderKind.PRONOUN and topic is not None:
        return replace(clause, holder=topic)
    if clause.holder.kind is not HolderKind.UNKNOWN or clause.act is SpeechAct.IMPERATIVE:
        return clause
    head = parsed.tokens[clause.predicate]
    if head.tag == "VBZ" or (topic is not None and clause.sentence > 0):
        return replace(clause, holder=topic or Holder(HolderKind.PRONOUN, "he/she"))
    if clause.tense is not Tense.MODAL and (head.dep == "ROOT" or head.tag in ("VBD", "VBN")):
        return replace(clause, holder=SPEAKER_HOLDER)
    return clause


def _topic(
    clause: Clause, topic: Holder | None, parsed: ParsedText, perspective: Perspective
) -> Holder | None:
    """Return the third party that a later pronoun would mean."""
    if clause.holder.is_third_party and clause.holder.kind is not HolderKind.PRONOUN:
        return clause.holder
    for index in reversed(clause.tokens):
        token = parsed.tokens[index]
        if token.dep in ("dobj", "pobj", "dative", "attr") and token.pos in ("NOUN", "PROPN"):
            holder = holder_of(parsed, token, perspective)
            person = token.entity == "PERSON" or holder.kind is not HolderKind.NAMED
            if holder.is_third_party and person:
                return holder
    return topic
