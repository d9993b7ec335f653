"""What a speaker commits to with a clause."""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.domain.clauses import SpeechAct
from service.domain.lexicon.verbs import PLAN, REPORTING
from service.domain.syntax import ParsedText, Token

_QUOTES = re.compile(
    r"\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|„([^“]+)“|(?<!\w)'([^']{12,})'(?!\w)|(?<!\w)‘([^’]{12,})’"
)
_GIVEN_TEXT = re.compile(
    r"\b(?:translate|summari[sz]e|rewrite|rephrase|paraphrase|proofread|correct|edit|shorten|"
    r"transcribe|improve|e-?mail|letter|lyrics|example|sample|transcript|excerpt|quote|poem|"
    r"for the sake of (?:the|this) (?:exercise|argument))\b[^:,\n]{0,40}[:,]"
    r"|^(?:from|to|subject|date|re):[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED_LINE = re.compile(r"^>.*$", re.MULTILINE)
_FICTION = re.compile(
    r"\b(?:role-?play(?:ing)?|let's (?:pretend|play|say|imagine)|pretend (?:that|to be|i|you|we)|"
    r"in character|hypothetically|imagine (?:that|i|you|we|if|a)|what if|suppose (?:that|i|we|my)|"
    r"write (?:me )?(?:a|an) (?:story|poem|scene|novel|song|script)|in (?:my|the|this|a) "
    r"(?:novel|story|dream|game|film|movie|book|play|script))\b",
    re.IGNORECASE,
)
_CHANGE = frozenset("start begin join move leave get buy adopt marry retire launch open".split())
_CONDITIONAL_MARKS = frozenset(["if", "unless", "whether", "lest", "provided", "supposing"])
_MAYBE = frozenset(["maybe", "perhaps", "possibly", "might"])
_UNREAL = frozenset(
    ["wish", "hope", "imagine", "pretend", "dream", "suppose", "wonder", "doubt", "guess", "fear"]
)
_MIN_QUOTED_WORDS = 3


def quoted_spans(text: str) -> list[tuple[int, int]]:
    """Return the character ranges inside quotation marks that are long enough to be a claim."""
    quoted = [
        (m.start() + 1, m.end() - 1)
        for m in _QUOTES.finditer(text)
        if len(m.group(0).split()) >= _MIN_QUOTED_WORDS
    ]
    quoted += [m.span() for m in _QUOTED_LINE.finditer(text)]
    return quoted + [(m.end(), len(text)) for m in _GIVEN_TEXT.finditer(text)]


@dataclass(frozen=True, slots=True)
class Frame:
    """What holds for a whole text: the quoted ranges, and from where on it is made up."""

    quotes: tuple[tuple[int, int], ...]
    fiction: int | None


def frame_of(text: str) -> Frame:
    """Return the frame of a text."""
    made_up = _FICTION.search(text)
    return Frame(tuple(quoted_spans(text)), made_up.start() if made_up else None)


def speech_act(
    parsed: ParsedText, head: Token, tokens: tuple[Token, ...], frame: Frame
) -> SpeechAct:
    """Return what the speaker does with the clause under ``head``."""
    if any(start <= head.start < end for start, end in frame.quotes):
        return SpeechAct.QUOTATION
    if _is_conditional(parsed, head, tokens, frame.fiction):
        return SpeechAct.HYPOTHETICAL
    if _is_question(parsed, head, tokens):
        return SpeechAct.QUESTION
    if _is_imperative(parsed, head):
        return SpeechAct.IMPERATIVE
    if reporting_head(parsed, head) is not None:
        return SpeechAct.REPORTED
    if _is_plan(parsed, head):
        return SpeechAct.PLAN
    return SpeechAct.ASSERTION


def reporting_head(parsed: ParsedText, head: Token) -> Token | None:
    """Return the verb that reports this clause, if any ("Sam said …")."""
    if head.dep == "ccomp":
        governor = parsed.head_of(head)
        if governor.lemma in REPORTING and parsed.dependents(governor, "nsubj"):
            return governor
        return reporting_head(parsed, governor) if governor.dep == "ccomp" else None
    for child in parsed.dependents(head, "parataxis", "ccomp"):
        if child.lemma in REPORTING and child.index > head.index:
            return child
    if head.dep == "conj" and head.head != head.index:
        first = parsed.head_of(head)
        return reporting_head(parsed, first) if first.dep == "ccomp" else None
    return None


def _is_conditional(
    parsed: ParsedText, head: Token, tokens: tuple[Token, ...], fiction: int | None
) -> bool:
    if any(t.lower in _CONDITIONAL_MARKS and t.dep == "mark" for t in parsed.dependents(head)):
        return True
    if _depends_on_condition(parsed, head) or _is_proposal(parsed, head):
        return True
    if fiction is not None and fiction <= head.start:
        return True
    if any(t.lower in _MAYBE for t in tokens):
        return True
    if head.dep in ("ccomp", "xcomp") and parsed.head_of(head).lemma in _UNREAL:
        return True
    return _unreal_modal(parsed, head)


def _depends_on_condition(parsed: ParsedText, head: Token) -> bool:
    """Return whether a clause only holds under a condition that may never come.

    "I'll buy a boat if I win" does; "it takes an hour if traffic is fine" is a habit and stands.
    """
    conditions = [c for c in parsed.dependents(head, "advcl") if _conditional_clause(parsed, c)]
    modal = any(t.tag == "MD" for t in parsed.dependents(head, "aux"))
    return any(modal or c.index < head.index for c in conditions)


def _is_proposal(parsed: ParsedText, head: Token) -> bool:
    """Return whether this is what "let's" proposes."""
    verbs = (head, parsed.head_of(head))
    return any(
        v.lemma == "let" and any(t.lower in ("us", "'s", "’s") for t in _around(parsed, v))
        for v in verbs
    )


def _around(parsed: ParsedText, verb: Token) -> tuple[Token, ...]:
    return parsed.tokens[verb.index + 1 : verb.index + 2]


def _conditional_clause(parsed: ParsedText, child: Token) -> bool:
    return any(t.lower in ("if", "unless") for t in parsed.dependents(child, "mark"))


def _unreal_modal(parsed: ParsedText, head: Token) -> bool:
    """Return whether "would", "could" or "might" governs ("would like" and "rather" do not)."""
    modal = any(
        t.tag == "MD" and t.lower in ("would", "could", "might", "may", "'d", "’d")
        for t in parsed.dependents(head, "aux")
    )
    polite = head.lemma in ("like", "love", "prefer", "rather", "say", "hate")
    rather = any(t.lower in ("rather", "sooner") for t in parsed.dependents(head, "advmod"))
    return modal and not polite and not rather


def _is_question(parsed: ParsedText, head: Token, tokens: tuple[Token, ...]) -> bool:
    sentence = parsed.sentences[parsed.sentence_of(head)]
    if not parsed.text[sentence.start : sentence.end].rstrip("\"'”’)").endswith(("?", "？")):
        return _inverted(parsed, head)
    if head.dep in ("ROOT", "ccomp", "parataxis", "conj", "advcl"):
        last = max((t.index for t in tokens if t.pos != "PUNCT"), default=head.index)
        rest = [
            t for t in parsed.tokens[last + 1 : sentence.last] if t.pos not in ("PUNCT", "SPACE")
        ]
        aside = (
            bool(rest) and not _inverted(parsed, head) and not _embedded_in_question(parsed, head)
        )
        return not (aside and _declarative(parsed, head))
    return head.dep != "relcl"


def _embedded_in_question(parsed: ParsedText, head: Token) -> bool:
    """Return whether a clause is the complement of another and so shares its force."""
    if head.dep not in ("ccomp", "advcl"):
        return False
    governor = parsed.head_of(head)
    return governor.index < head.index or bool(parsed.dependents(head, "mark"))


def _declarative(parsed: ParsedText, head: Token) -> bool:
    """Return whether a subject stands before its verb."""
    subjects = parsed.dependents(head, "nsubj", "nsubjpass")
    return (
        bool(subjects) and subjects[0].index < head.index and subjects[0].tag not in ("WP", "WDT")
    )


def _inverted(parsed: ParsedText, head: Token) -> bool:
    """Return whether an auxiliary or question word stands before the subject."""
    subjects = parsed.dependents(head, "nsubj", "nsubjpass")
    if not subjects:
        return False
    first = subjects[0].index
    auxiliaries = parsed.dependents(head, "aux", "auxpass")
    if any(t.index < first for t in auxiliaries):
        return True
    return head.lemma == "be" and head.index < first and head.tag != "VB" and _starts(parsed, head)


def _starts(parsed: ParsedText, head: Token) -> bool:
    sentence = parsed.sentences[parsed.sentence_of(head)]
    return head.index == sentence.first


def _is_imperative(parsed: ParsedText, head: Token) -> bool:
    if head.tag != "VB" or head.dep not in ("ROOT", "conj", "ccomp", "parataxis"):
        return False
    if parsed.dependents(head, "nsubj", "nsubjpass", "expl"):
        return False
    if any(t.tag in ("MD", "TO") for t in parsed.dependents(head, "aux")):
        return False
    return head.dep == "ROOT" or parsed.head_of(head).tag == "VB"


def _is_plan(parsed: ParsedText, head: Token) -> bool:
    """Return whether the clause says that something is wanted or planned, not that it is so."""
    if head.lemma == "go" and head.tag == "VBG":
        return any(c.tag == "VB" for c in parsed.dependents(head, "xcomp"))
    auxiliaries = parsed.dependents(head, "aux")
    if any(t.lower in ("will", "'ll", "’ll", "wo") for t in auxiliaries):
        return True
    if head.tag == "VBG" and head.lemma in _CHANGE:
        return any(t.lemma == "be" and t.tag in ("VBP", "VBZ") for t in auxiliaries)
    if head.lemma not in PLAN:
        return False
    infinitive = any(c.tag == "VB" for c in parsed.dependents(head, "xcomp", "ccomp"))
    gerund = any(
        c.tag == "VBG"
        for p in parsed.dependents(head, "prep")
        for c in parsed.dependents(p, "pcomp")
    )
    return infinitive or gerund
