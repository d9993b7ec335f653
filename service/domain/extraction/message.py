"""From one parsed message to its candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.extraction.acts import skip_reason
from service.domain.extraction.candidates import ReadMessage, Said, as_candidate
from service.domain.extraction.contrast import contrast_of
from service.domain.extraction.cues import has_cue
from service.domain.extraction.ellipsis import completed
from service.domain.extraction.fragments import fragment_sentence
from service.domain.extraction.passage import Passage
from service.domain.extraction.passages import passages_of
from service.domain.extraction.plans import plan_relation, statements_of
from service.domain.extraction.relation import Relation
from service.domain.extraction.sentences import canonical_text
from service.domain.extraction.small_talk import is_small_talk
from service.domain.extraction.standing import standing_of
from service.domain.extraction.types import Candidate, Extraction, Skipped, SkipReason
from service.domain.guards.instructions import is_instruction
from service.domain.guards.secrets import holds_secret
from service.domain.speech import quoted_spans
from service.domain.syntax import ParsedText, Token

REDACTED = "[redacted]"


@dataclass(slots=True)
class _Found:
    candidates: list[Candidate]
    skipped: list[Skipped]


def extract_message(message: ReadMessage) -> Extraction:
    """Return the candidates of a message, and every passage that yields none with its reason.

    Passages that carry a secret are reported as "[redacted]".
    """
    parsed, found = message.parsed, _Found([], [])
    passages = passages_of(parsed, message.clauses, message.perspective)
    for number in range(len(parsed.sentences)):
        text = parsed.sentence_text(number)
        if not any(c.isalnum() for c in text):
            continue
        reason = _sentence_reason(text)
        if reason is not None:
            found.skipped.append(_skipped(text, reason))
            continue
        mine = [p for p in passages if parsed.sentence_of(p.head) == number]
        _sentence(message, number, mine, found)
    if not found.candidates and not found.skipped:
        found.skipped.append(Skipped(parsed.text.strip(), SkipReason.NO_FACT))
    return Extraction(tuple(dict.fromkeys(found.candidates)), tuple(dict.fromkeys(found.skipped)))


def skip_whole(text: str, reason: SkipReason) -> Extraction:
    """Return the extraction of a message that is not read at all."""
    return Extraction((), (_skipped(text, reason),))


def _skipped(text: str, reason: SkipReason) -> Skipped:
    secret = reason is SkipReason.SECRET or holds_secret(text)
    return Skipped(REDACTED if secret else text, reason)


def _sentence_reason(text: str) -> SkipReason | None:
    if holds_secret(text):
        return SkipReason.SECRET
    if is_instruction(text):
        return SkipReason.INSTRUCTION
    return SkipReason.SMALL_TALK if is_small_talk(text) else None


def _sentence(
    message: ReadMessage, number: int, passages: Sequence[Passage], found: _Found
) -> None:
    tokens = [t for t in message.parsed.sentence_tokens(number) if t.text.strip()]
    text = message.parsed.sentence_text(number)
    whole = _whole(message.parsed, tokens, text)
    if whole is not None:
        found.candidates.append(as_candidate(message, whole, text))
        return
    before: Passage | None = None
    for passage in passages:
        said, reason = _passage(message, passage, before)
        found.candidates += [as_candidate(message, one, text) for one in said]
        span = _span_text(passage)
        if not said and any(c.isalnum() for c in span):
            found.skipped.append(Skipped(span, _passage_reason(span, text, reason)))
        before = passage


def _passage_reason(span: str, text: str, reason: SkipReason) -> SkipReason:
    if is_small_talk(span):
        return SkipReason.SMALL_TALK
    quoted = reason is SkipReason.NO_FACT and bool(quoted_spans(text))
    return SkipReason.QUOTATION if quoted else reason


def _whole(parsed: ParsedText, tokens: Sequence[Token], text: str) -> Said | None:
    """Return what a sentence says that is best read as a whole."""
    standing = standing_of(parsed, tokens)
    if standing is not None:
        return Said(standing.relation, standing.text, tokens, standing=True)
    fragment = fragment_sentence(tokens, text)
    return None if fragment is None else Said(fragment[0], fragment[1], tokens)


def _passage(
    message: ReadMessage, passage: Passage, before: Passage | None
) -> tuple[list[Said], SkipReason]:
    reason = skip_reason(passage)
    if reason is not None:
        return [], reason
    plan = plan_relation(passage)
    relations = statements_of(passage)
    correction = _corrects(passage, relations)
    said: list[Said] = []
    for relation in relations:
        text = canonical_text(passage, relation, message.values, correction=correction)
        relation, text = completed(passage, before, relation, text)  # noqa: PLW2901 - the same one
        if text:
            said.append(Said(relation, text, passage.tokens, plan is not None, passage=passage))
    return said, SkipReason.NO_FACT


def _corrects(passage: Passage, relations: Sequence[Relation]) -> bool:
    contrast = contrast_of(passage.parsed, passage.head, passage.tokens)
    changed = any(r.changed for r in relations)
    return changed or contrast.value is not None or has_cue(_span_text(passage))


def _span_text(passage: Passage) -> str:
    words = passage.tokens
    return passage.parsed.text[words[0].start : words[-1].end].strip() if words else ""
